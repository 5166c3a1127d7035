// When a backend is left alone and when it is tried again.
#define BOOST_TEST_MODULE circuit
#include <work/circuit.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace hearonce;
using namespace std::chrono_literals;
using work::breaker;
using work::circuit;
using work::verdict;
using time_point = circuit::time_point;

struct fixture {
    time_point now{1000s};
    circuit one;

    void flight(verdict about) {
        BOOST_REQUIRE(!one.refuses(now));
        one.leave(one.enter(now), about, now);
    }
    void open() {
        for (unsigned i = 0; i < circuit::failures_max; ++i) flight(verdict::fails);
        BOOST_REQUIRE(one.is_open(now));
    }
};

BOOST_FIXTURE_TEST_SUITE(circuit_, fixture)

BOOST_AUTO_TEST_CASE(the_fifth_failure_in_a_row_opens_it) {
    for (unsigned i = 0; i + 1 < circuit::failures_max; ++i) {
        flight(verdict::fails);
        BOOST_TEST(one.is_closed());
    }
    flight(verdict::fails);
    BOOST_TEST(!one.is_closed());
    BOOST_TEST((one.refuses(now) == circuit::open_for));
}

BOOST_AUTO_TEST_CASE(a_success_between_starts_the_count_again_and_nothing_else_does) {
    for (int i = 0; i < 4; ++i) flight(verdict::fails);
    flight(verdict::works);
    for (int i = 0; i < 4; ++i) flight(verdict::fails);
    BOOST_TEST(one.is_closed());
    flight(verdict::nothing);
    flight(verdict::fails);
    BOOST_TEST(one.is_open(now));
}

BOOST_AUTO_TEST_CASE(it_refuses_for_thirty_seconds_exactly) {
    open();
    now += circuit::open_for - 1ns;
    BOOST_TEST((one.refuses(now) == 1ns));
    now += 1ns;
    BOOST_TEST(!one.refuses(now));
    BOOST_TEST(!one.is_open(now));
    BOOST_TEST(!one.is_closed());
}

BOOST_AUTO_TEST_CASE(half_open_one_flight_tries_and_the_others_are_refused) {
    open();
    now += circuit::open_for;
    const auto trial = one.enter(now);
    BOOST_TEST(trial != 0u);
    BOOST_TEST((one.refuses(now) == circuit::duration::zero()));
    one.leave(trial, verdict::works, now);
    BOOST_TEST(one.is_closed());
    BOOST_TEST(one.enter(now) == 0u);
}

BOOST_AUTO_TEST_CASE(a_trial_that_fails_opens_it_again_at_once) {
    open();
    now += circuit::open_for;
    const auto trial = one.enter(now);
    now += 3s;
    one.leave(trial, verdict::fails, now);
    BOOST_TEST((one.refuses(now) == circuit::open_for));
}

BOOST_AUTO_TEST_CASE(a_trial_that_says_nothing_lets_the_next_one_try) {
    open();
    now += circuit::open_for;
    one.leave(one.enter(now), verdict::nothing, now);
    BOOST_TEST(!one.refuses(now));
    BOOST_TEST(one.enter(now) != 0u);
}

BOOST_AUTO_TEST_CASE(flights_from_before_it_opened_do_not_prolong_it_but_may_close_it) {
    const auto early = one.enter(now);
    const auto other = one.enter(now);
    open();
    now += 10s;
    one.leave(early, verdict::fails, now);
    BOOST_TEST((one.refuses(now) == circuit::open_for - 10s));
    one.leave(other, verdict::works, now);
    BOOST_TEST(one.is_closed());
}

BOOST_AUTO_TEST_CASE(an_old_trial_does_not_end_a_newer_one) {
    const auto early = one.enter(now);
    open();
    now += circuit::open_for;
    const auto old_trial = one.enter(now);
    one.leave(early, verdict::works, now);
    open();
    now += circuit::open_for;
    // The old one has not ended: nobody else tries before it has.
    BOOST_TEST(one.refuses(now).has_value());
    one.leave(old_trial, verdict::nothing, now);
    BOOST_TEST(!one.refuses(now));
}

BOOST_AUTO_TEST_CASE(what_says_something_about_a_backend) {
    for (int i = 0; i <= static_cast<int>(errc::cancelled); ++i) {
        const auto code = static_cast<errc>(i);
        const bool fails = code == errc::upstream_error || code == errc::upstream_timeout;
        BOOST_TEST((work::verdict_of(error(code)) == (fails ? verdict::fails : verdict::nothing)), entry_of(code).code);
    }
    BOOST_TEST((work::verdict_of(transcript()) == verdict::works));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(breaker_)

void fail(breaker& at) {
    auto stay = at.enter();
    BOOST_REQUIRE(stay.has_value());
    stay->end(verdict::fails);
}

BOOST_AUTO_TEST_CASE(open_it_refuses_with_the_time_and_says_why) {
    breaker at("cloud");
    BOOST_TEST(at.complaint() == "");
    BOOST_TEST(!at.refusal());
    for (unsigned i = 0; i < circuit::failures_max; ++i) fail(at);
    const auto refused = at.enter();
    BOOST_REQUIRE(refused.has_error());
    BOOST_TEST((refused.error().code() == errc::overloaded));
    BOOST_REQUIRE(refused.error().retry_after().has_value());
    BOOST_TEST(refused.error().retry_after()->count() >= 25);
    BOOST_TEST(refused.error().retry_after()->count() <= 30);
    BOOST_REQUIRE(at.refusal().has_value());
    BOOST_TEST(at.complaint().starts_with("work failed 5 times in a row; asked again in "));
}

BOOST_AUTO_TEST_CASE(a_stay_without_an_end_says_nothing) {
    breaker at("cloud");
    for (int i = 0; i < 4; ++i) fail(at);
    {
        const auto left = at.enter();
    }
    BOOST_TEST(at.complaint() == "");
    fail(at);
    BOOST_TEST(at.complaint() != "");
}

BOOST_AUTO_TEST_CASE(a_stay_ends_once) {
    breaker at("cloud");
    auto stay = at.enter();
    for (int i = 0; i < 10; ++i) stay->end(verdict::fails);
    BOOST_TEST(at.complaint() == "");
}

BOOST_AUTO_TEST_CASE(many_threads) {
    breaker at("cloud");
    std::atomic<int> refused = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&at, &refused] {
            for (int i = 0; i < 200; ++i) {
                auto stay = at.enter();
                if (stay) {
                    stay->end(verdict::fails);
                } else {
                    ++refused;
                }
                (void)at.complaint();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    // At most each thread but one was inside when it opened.
    BOOST_TEST(refused >= 800 - static_cast<int>(circuit::failures_max) - 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
