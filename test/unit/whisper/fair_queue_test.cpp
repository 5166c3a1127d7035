// Callers take turns; each caller's own jobs keep their order.
#define BOOST_TEST_MODULE fair_queue
#include <backends/whisper/fair_queue.hpp>

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>

namespace {

using hearonce::whisper::fair_queue;
using ids = std::vector<std::uint64_t>;

ids take_all(fair_queue& queue) {
    ids order;
    while (const auto id = queue.take()) order.push_back(*id);
    BOOST_TEST(queue.size() == 0u);
    return order;
}

BOOST_AUTO_TEST_CASE(one_caller_is_served_in_order) {
    fair_queue queue;
    for (std::uint64_t id = 1; id <= 4; ++id) queue.add(id, "a");
    BOOST_TEST(queue.size() == 4u);
    BOOST_TEST(take_all(queue) == (ids{1, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(a_newcomer_does_not_wait_behind_all_of_another) {
    fair_queue queue;
    for (std::uint64_t id = 1; id <= 4; ++id) queue.add(id, "a");
    queue.add(10, "b");
    queue.add(20, "c");
    queue.add(11, "b");
    BOOST_TEST(take_all(queue) == (ids{1, 10, 20, 2, 11, 3, 4}));
}

BOOST_AUTO_TEST_CASE(a_caller_that_was_served_goes_to_the_end_of_the_line) {
    fair_queue queue;
    queue.add(1, "a");
    queue.add(10, "b");
    BOOST_TEST(*queue.take() == 1u);
    queue.add(2, "a");
    BOOST_TEST(take_all(queue) == (ids{10, 2}));
}

BOOST_AUTO_TEST_CASE(what_is_removed_is_not_served_and_leaves_no_empty_turn) {
    fair_queue queue;
    queue.add(1, "a");
    queue.add(10, "b");
    queue.add(2, "a");
    BOOST_TEST(queue.remove(10));
    BOOST_TEST(!queue.remove(10));
    BOOST_TEST(!queue.remove(99));
    BOOST_TEST(queue.size() == 2u);
    BOOST_TEST(take_all(queue) == (ids{1, 2}));
    BOOST_TEST(!queue.take().has_value());
}

BOOST_AUTO_TEST_CASE(room_is_made_by_the_caller_that_has_most_and_only_for_one_that_has_less) {
    fair_queue queue;
    BOOST_TEST(!queue.displace_for("a").has_value());
    for (std::uint64_t id = 1; id <= 3; ++id) queue.add(id, "a");
    BOOST_TEST(!queue.displace_for("a").has_value());
    // The newest goes, so that the oldest keep their turn.
    BOOST_TEST((queue.displace_for("b") == 3u));
    queue.add(10, "b");
    // Two against one is fair.
    BOOST_TEST(!queue.displace_for("b").has_value());
    BOOST_TEST((queue.displace_for("c") == 2u));
    queue.add(20, "c");
    BOOST_TEST(!queue.displace_for("d").has_value());
    BOOST_TEST(queue.size() == 3u);
    BOOST_TEST(take_all(queue) == (ids{1, 10, 20}));
}

BOOST_AUTO_TEST_CASE(drop_names_everybody) {
    fair_queue queue;
    queue.add(1, "a");
    queue.add(10, "b");
    queue.add(2, "a");
    auto dropped = queue.drop();
    std::ranges::sort(dropped);
    BOOST_TEST(dropped == (ids{1, 2, 10}));
    BOOST_TEST(queue.size() == 0u);
    BOOST_TEST(!queue.take().has_value());
}

// Whatever comes in whichever order: between two jobs of one caller, every other caller that waits is served once.
BOOST_AUTO_TEST_CASE(nobody_is_served_twice_while_another_waits_for_the_first) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        fair_queue queue;
        std::map<std::uint64_t, std::string> caller_of;
        for (std::uint64_t id = 0; id < 40; ++id) {
            const std::string caller(1, static_cast<char>('a' + random() % 5));
            caller_of[id] = caller;
            queue.add(id, caller);
        }
        std::map<std::string, std::vector<std::size_t>> served;
        const auto order = take_all(queue);
        BOOST_TEST(order.size() == 40u);
        for (std::size_t at = 0; at < order.size(); ++at) served[caller_of[order[at]]].push_back(at);
        for (const auto& [one, mine] : served) {
            for (const auto& [other, theirs] : served) {
                for (std::size_t turn = 0; turn + 1 < mine.size(); ++turn) {
                    const auto between =
                        std::ranges::count_if(theirs, [&](std::size_t at) { return at > mine[turn] && at < mine[turn + 1]; });
                    if (one != other) BOOST_TEST(between <= 1);
                    if (one != other && theirs.back() > mine[turn + 1]) BOOST_TEST(between == 1);
                }
            }
        }
    }
}

}  // namespace
