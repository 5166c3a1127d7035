// Which jobs wait and run: order, bounds, leaving, time.
#include "fake_clock.hpp"

#include <backends/whisper/job_table.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using namespace hearonce::whisper;
using namespace hearonce::whisper::test;
using namespace std::chrono_literals;
using table = basic_job_table<fake_clock>;
using place = table::place;

table with(unsigned slots, std::size_t queue) {
    return table(job_limits{slots, queue, 4, 1000ms});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(jobs)

BOOST_AUTO_TEST_CASE(first_come_first_served_so_many_at_a_time) {
    table t = with(2, 10);
    for (std::uint64_t id = 1; id <= 4; ++id) BOOST_TEST(!t.add(id, "a"));
    BOOST_TEST((t.take(at(0)) == 1U));
    BOOST_TEST((t.take(at(0)) == 2U));
    BOOST_TEST(!t.take(at(0)).has_value());
    BOOST_TEST(t.running() == 2U);
    BOOST_TEST(t.waiting() == 2U);
    t.end(2, at(5));
    BOOST_TEST((t.take(at(5)) == 3U));
    t.end(1, at(6));
    t.end(3, at(6));
    BOOST_TEST((t.take(at(6)) == 4U));
    t.end(4, at(7));
    BOOST_TEST(!t.take(at(7)).has_value());
    BOOST_TEST(t.running() == 0U);
}

BOOST_AUTO_TEST_CASE(the_queue_is_bounded_beside_the_slots) {
    table t = with(1, 2);
    // One for the free slot, two that wait; nothing is taken yet, as while the helper starts.
    BOOST_TEST(!t.add(1, "a"));
    BOOST_TEST(!t.add(2, "a"));
    BOOST_TEST(!t.add(3, "a"));
    BOOST_TEST((t.add(4, "a") == 4));
    t.take(at(0));
    BOOST_TEST((t.add(5, "a") == 5));
    t.end(1, at(0));
    BOOST_TEST(!t.add(6, "a"));
    BOOST_TEST((t.add(7, "a") == 7));
    table none = with(1, 0);
    BOOST_TEST(!none.add(1, "a"));
    none.take(at(0));
    BOOST_TEST((none.add(2, "a") == 2));
}

BOOST_AUTO_TEST_CASE(leaving_while_waiting_makes_room_and_keeps_the_order) {
    table t = with(1, 2);
    t.add(1, "a");
    t.take(at(0));
    t.add(2, "a");
    t.add(3, "a");
    BOOST_TEST((t.leave(2) == place::waiting));
    BOOST_TEST((t.leave(2) == place::none));
    BOOST_TEST(!t.add(4, "a"));
    t.end(1, at(1));
    BOOST_TEST((t.take(at(1)) == 3U));
    t.end(3, at(2));
    BOOST_TEST((t.take(at(2)) == 4U));
}

BOOST_AUTO_TEST_CASE(leaving_while_running_is_told_once_and_keeps_the_slot_until_the_end) {
    table t = with(1, 2);
    t.add(1, "a");
    t.add(2, "a");
    t.take(at(0));
    BOOST_TEST((t.leave(1) == place::running));
    BOOST_TEST((t.leave(1) == place::none));
    BOOST_TEST(!t.take(at(0)).has_value());
    BOOST_TEST(!t.next_overdue().has_value());  // It is ended already; only being stuck is still watched.
    BOOST_TEST(t.oldest_step().has_value());
    t.end(1, at(1));
    BOOST_TEST((t.take(at(1)) == 2U));
    BOOST_TEST((t.leave(99) == place::none));
}

BOOST_AUTO_TEST_CASE(time_grows_with_the_audio_and_never_shrinks) {
    table t = with(2, 2);
    t.add(1, "a");
    t.take(at(100));
    BOOST_TEST((t.next_overdue() == at(1100)));
    t.step(1, at(150), 0ms);
    t.step(1, at(160), 200ms);  // 4 x 0.2 s is below the floor.
    BOOST_TEST((t.next_overdue() == at(1100)));
    t.step(1, at(170), 45'000ms);
    BOOST_TEST((t.next_overdue() == at(180'100)));
    t.step(1, at(180), 0ms);
    BOOST_TEST((t.next_overdue() == at(180'100)));
    BOOST_TEST(t.overdue(at(180'099)).empty());
    BOOST_TEST((t.overdue(at(180'100)) == std::vector<std::uint64_t>{1}));
    t.add(2, "a");
    t.take(at(200));
    BOOST_TEST((t.next_overdue() == at(1200)));
    BOOST_TEST((t.overdue(at(1200)) == std::vector<std::uint64_t>{2}));
}

BOOST_AUTO_TEST_CASE(the_job_that_is_silent_longest_counts) {
    table t = with(2, 2);
    BOOST_TEST(!t.oldest_step().has_value());
    t.add(1, "a");
    t.add(2, "a");
    t.take(at(0));
    t.take(at(10));
    BOOST_TEST((t.oldest_step() == at(0)));
    t.step(1, at(50), 0ms);
    BOOST_TEST((t.oldest_step() == at(10)));
    t.step(2, at(60), 0ms);
    BOOST_TEST((t.oldest_step() == at(50)));
    t.step(77, at(70), 0ms);
    BOOST_TEST((t.oldest_step() == at(50)));
    t.end(1, at(80));
    BOOST_TEST((t.oldest_step() == at(60)));
}

BOOST_AUTO_TEST_CASE(a_job_that_says_it_will_be_quiet_counts_as_later_until_its_next_step) {
    table t(job_limits{2, 2, 4, 1000ms, 500ms});
    t.add(1, "a");
    t.take(at(0));
    BOOST_TEST(t.step(1, at(10), 0ms, true));
    BOOST_TEST((t.oldest_step() == at(510)));
    // Another one is watched as before.
    t.add(2, "a");
    t.take(at(20));
    BOOST_TEST((t.oldest_step() == at(20)));
    t.end(2, at(25));
    BOOST_TEST(t.step(1, at(30), 0ms));
    BOOST_TEST((t.oldest_step() == at(30)));
    // Its own time goes on.
    BOOST_TEST((t.next_overdue() == at(1000)));
}

BOOST_AUTO_TEST_CASE(word_of_a_job_that_does_not_run_is_known_for_what_it_is) {
    table t = with(1, 2);
    t.add(1, "a");
    t.add(2, "a");
    BOOST_TEST(!t.step(1, at(0), 0ms));  // Waits.
    BOOST_TEST(!t.end(1, at(0)));
    t.take(at(0));
    BOOST_TEST(t.step(1, at(1), 0ms));
    BOOST_TEST(!t.step(2, at(1), 0ms));
    BOOST_TEST(!t.end(2, at(1)));
    BOOST_TEST(!t.end(3, at(1)));
    t.leave(1);
    BOOST_TEST(t.step(1, at(2), 0ms));  // Told to stop, and not there yet.
    BOOST_TEST(t.end(1, at(2)));
    BOOST_TEST(!t.end(1, at(2)));
    BOOST_TEST((t.take(at(2)) == 2U));
}

BOOST_AUTO_TEST_CASE(all_of_a_kind_can_be_dropped) {
    table t = with(2, 5);
    for (std::uint64_t id = 1; id <= 4; ++id) t.add(id, "a");
    t.take(at(0));
    t.take(at(0));
    BOOST_TEST((t.drop_running() == std::vector<std::uint64_t>{1, 2}));
    BOOST_TEST(t.running() == 0U);
    BOOST_TEST(t.waiting() == 2U);
    BOOST_TEST((t.drop_waiting() == std::vector<std::uint64_t>{3, 4}));
    BOOST_TEST(t.waiting() == 0U);
    t.end(1, at(1));  // What is gone may still be heard of.
    BOOST_TEST(t.running() == 0U);
}

BOOST_AUTO_TEST_CASE(the_time_to_come_back_follows_what_jobs_take) {
    table t = with(2, 5);
    BOOST_TEST(t.retry_after().count() == 1);
    t.add(1, "a");
    t.take(at(0));
    t.end(1, at(20'000));
    BOOST_TEST(t.retry_after().count() == 10);
    for (std::uint64_t id = 2; id < 40; ++id) {
        t.add(id, "a");
        t.take(at(0));
        t.end(id, at(1));
    }
    BOOST_TEST(t.retry_after().count() == 1);
    t.add(50, "a");
    t.take(at(0));
    t.end(50, at(10'000'000));
    BOOST_TEST(t.retry_after().count() == 60);
}

BOOST_AUTO_TEST_SUITE_END()
