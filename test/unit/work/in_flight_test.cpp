// Places at a backend and the line for them: order, limits, cancellation, and many loops at once.
#define BOOST_TEST_MODULE in_flight
#include <work/in_flight.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace hearonce;
using namespace std::chrono_literals;
using work::in_flight;

// One who wants a place, and keeps it until told otherwise.
struct guest {
    std::optional<in_flight::place> place;
    std::optional<errc> refused;
    std::optional<error> why;
    bool ended = false;
    asio::cancellation_signal cancel;
};

asio::awaitable<void> ask(in_flight& at, guest& who, deadline limit) {
    auto got = co_await at.enter(limit);
    who.ended = true;
    if (got) {
        who.place.emplace(std::move(*got));
    } else {
        who.refused = got.error().code();
        who.why = got.error();
    }
}

struct fixture {
    asio::io_context context{1};
    std::deque<guest> guests;

    guest& come(in_flight& at, deadline limit = deadline::never()) {
        auto& who = guests.emplace_back();
        asio::co_spawn(context, ask(at, who, limit), asio::bind_cancellation_slot(who.cancel.slot(), [](std::exception_ptr failed) {
                           if (failed) std::rethrow_exception(failed);
                       }));
        settle();
        return who;
    }
    // Runs what can run without waiting for time.
    void settle() {
        context.restart();
        context.poll();
    }
};

BOOST_FIXTURE_TEST_SUITE(in_flight_, fixture)

BOOST_AUTO_TEST_CASE(without_a_bound_nobody_waits_and_nothing_is_counted) {
    in_flight at(0);
    for (int i = 0; i < 100; ++i) BOOST_TEST(come(at).place.has_value());
    BOOST_TEST(at.calls() == 0u);
    guests.clear();
}

BOOST_AUTO_TEST_CASE(up_to_the_bound_nobody_waits) {
    in_flight at(3);
    for (int i = 0; i < 3; ++i) BOOST_TEST(come(at).place.has_value());
    BOOST_TEST(!come(at).ended);
    BOOST_TEST(at.calls() == 3u);
    BOOST_TEST(at.waiting() == 1u);
    guests[0].place.reset();
    settle();
    BOOST_TEST(guests[3].place.has_value());
    BOOST_TEST(at.calls() == 3u);
    guests.clear();
    BOOST_TEST(at.calls() == 0u);
}

BOOST_AUTO_TEST_CASE(first_come_first_served) {
    in_flight at(1);
    auto& holder = come(at);
    for (int i = 0; i < 4; ++i) BOOST_TEST(!come(at).ended);
    holder.place.reset();
    for (std::size_t i = 1; i <= 4; ++i) {
        settle();
        for (std::size_t j = 1; j <= 4; ++j) BOOST_TEST(guests[j].ended == (j <= i));
        guests[i].place.reset();
    }
    BOOST_TEST(at.calls() == 0u);
}

BOOST_AUTO_TEST_CASE(a_newcomer_does_not_overtake_one_who_is_called) {
    in_flight at(1);
    auto& holder = come(at);
    auto& waiter = come(at);
    holder.place.reset();
    // The waiter has the place but has not learned it.
    auto& newcomer = come(at);
    BOOST_TEST(waiter.place.has_value());
    BOOST_TEST(!newcomer.ended);
    waiter.place.reset();
    settle();
    BOOST_TEST(newcomer.place.has_value());
    newcomer.place.reset();
}

BOOST_AUTO_TEST_CASE(the_line_has_an_end) {
    for (const unsigned bound : {1U, 2U}) {
        in_flight at(bound);
        const auto line = bound * in_flight::waiting_per_place;
        for (std::size_t i = 0; i < bound + line; ++i) (void)come(at);
        BOOST_TEST(at.waiting() == line);
        const auto& turned_away = come(at);
        BOOST_REQUIRE((turned_away.refused == errc::overloaded));
        BOOST_TEST(turned_away.why->retry_after().has_value());
        BOOST_TEST(at.waiting() == line);
        // One place further there is room for one more.
        guests[0].place.reset();
        settle();
        BOOST_TEST(!come(at).ended);
        for (auto& one : guests) one.cancel.emit(asio::cancellation_type::terminal);
        settle();
        guests.clear();
        BOOST_TEST(at.waiting() == 0u);
        BOOST_TEST(at.calls() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(whose_limit_comes_is_told_to_come_again) {
    in_flight at(1);
    auto& holder = come(at);
    auto& waiter = come(at, deadline::after(20ms));
    context.restart();
    context.run();
    BOOST_REQUIRE((waiter.refused == errc::overloaded));
    BOOST_TEST(waiter.why->retry_after().has_value());
    BOOST_TEST(at.waiting() == 0u);
    holder.place.reset();
    BOOST_TEST(at.calls() == 0u);
}

BOOST_AUTO_TEST_CASE(a_place_that_comes_after_the_limit_goes_to_the_next) {
    in_flight at(1);
    auto& holder = come(at);
    const auto limit = deadline::after(1ms);
    auto& late = come(at, limit);
    auto& next = come(at);
    while (!limit.passed(deadline::clock::now())) continue;
    // The place is given before the timer has had its turn.
    holder.place.reset();
    BOOST_TEST(at.waiting() == 1u);
    settle();
    BOOST_TEST((late.refused == errc::overloaded));
    BOOST_REQUIRE(next.place.has_value());
    next.place.reset();
    BOOST_TEST(at.calls() == 0u);
}

BOOST_AUTO_TEST_CASE(cancelling_ends_a_wait_at_once_and_the_next_moves_up) {
    in_flight at(1);
    auto& holder = come(at);
    auto& leaves = come(at);
    auto& stays = come(at);
    leaves.cancel.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_TEST((leaves.refused == errc::cancelled));
    holder.place.reset();
    settle();
    BOOST_TEST(stays.place.has_value());
    stays.place.reset();
}

BOOST_AUTO_TEST_CASE(a_place_given_to_one_who_is_cancelled_in_the_same_turn_goes_to_the_next) {
    for (const bool place_first : {true, false}) {
        in_flight at(1);
        auto& holder = come(at);
        auto& leaves = come(at);
        auto& stays = come(at);
        if (place_first) holder.place.reset();
        leaves.cancel.emit(asio::cancellation_type::terminal);
        if (!place_first) holder.place.reset();
        settle();
        BOOST_TEST((leaves.refused == errc::cancelled));
        BOOST_TEST(!leaves.place.has_value());
        BOOST_TEST(stays.place.has_value());
        BOOST_TEST(at.calls() == 1u);
        stays.place.reset();
        BOOST_TEST(at.calls() == 0u);
        guests.clear();
    }
}

BOOST_AUTO_TEST_CASE(a_loop_that_ends_takes_its_waiters_along) {
    in_flight at(1);
    auto& holder = come(at);
    {
        asio::io_context short_lived;
        guest called;
        guest waiting;
        for (auto* one : {&called, &waiting}) asio::co_spawn(short_lived, ask(at, *one, deadline::never()), [](std::exception_ptr) {});
        short_lived.poll();
        BOOST_TEST(at.waiting() == 2u);
        holder.place.reset();
        BOOST_TEST(at.waiting() == 1u);
    }
    BOOST_TEST(at.waiting() == 0u);
    BOOST_TEST(at.calls() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

// Counts who is inside at one time.
struct crowd {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    std::atomic<int> served{0};
    std::atomic<int> turned_away{0};
};

asio::awaitable<void> visit(in_flight& at, crowd& counts, int which) {
    auto executor = co_await asio::this_coro::executor;
    const auto limit = which % 7 == 0 ? deadline::after(1ms) : deadline::never();
    auto place = co_await at.enter(limit);
    if (!place) {
        ++counts.turned_away;
        co_return;
    }
    const int now = ++counts.inside;
    for (int seen = counts.most; now > seen && !counts.most.compare_exchange_weak(seen, now);) continue;
    co_await asio::post(executor, asio::use_awaitable);
    --counts.inside;
    ++counts.served;
}

BOOST_AUTO_TEST_CASE(over_four_loops_the_bound_holds_and_everybody_is_served_or_told) {
    constexpr int visits = 400;
    in_flight at(8);
    crowd counts;
    std::vector<std::thread> loops;
    for (int l = 0; l < 4; ++l) {
        loops.emplace_back([&at, &counts] {
            asio::io_context context{1};
            for (int round = 0; round < visits / 8; ++round) {
                for (int i = 0; i < 8; ++i) {
                    asio::co_spawn(context, visit(at, counts, round * 8 + i), [](std::exception_ptr failed) {
                        if (failed) std::terminate();
                    });
                }
                context.run();
                context.restart();
            }
        });
    }
    for (auto& loop : loops) loop.join();
    BOOST_TEST(counts.served + counts.turned_away == 4 * visits);
    BOOST_TEST(counts.served >= 4 * visits * 6 / 7 - 1);
    BOOST_TEST(counts.most <= 8);
    BOOST_TEST(at.calls() == 0u);
    BOOST_TEST(at.waiting() == 0u);
}

}  // namespace
