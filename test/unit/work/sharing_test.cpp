// What flights share at a backend: its circuit and the places for calls.
#include "dispatching.hpp"

using namespace hearonce;
using namespace hearonce::test;

BOOST_FIXTURE_TEST_SUITE(sharing, dispatching)

BOOST_AUTO_TEST_CASE(an_open_circuit_answers_at_once_without_a_call) {
    open_circuit();
    const auto end = run(alone());
    BOOST_TEST((end.heard.error().code() == errc::overloaded));
    BOOST_REQUIRE(end.heard.error().retry_after().has_value());
    BOOST_TEST(end.heard.error().retry_after()->count() > 20);
    BOOST_TEST(cloud->seen.empty());
    const auto state = asked().state_of(*cloud);
    BOOST_TEST(!state.ready);
    BOOST_TEST(state.reason.starts_with("work failed 5 times in a row"));
    BOOST_TEST(asked().state_of(*local).ready);
}

BOOST_AUTO_TEST_CASE(an_open_circuit_is_passed_over_where_there_is_another_backend) {
    open_circuit();
    const auto end = run(both());
    BOOST_REQUIRE(end.heard.has_value());
    BOOST_TEST(end.backend == "local");
    BOOST_TEST(cloud->seen.empty());
    local->script = {error(errc::upstream_error)};
    const auto failed = run(both());
    BOOST_TEST((failed.heard.error().code() == errc::upstream_error));
    BOOST_TEST(failed.backend == "local");
}

BOOST_AUTO_TEST_CASE(a_flight_counts_once_however_often_it_tried) {
    cloud->script = {again()};
    for (unsigned i = 0; i + 1 < circuit::failures_max; ++i) BOOST_TEST(run(alone()).calls == 3u);
    BOOST_TEST(asked().state_of(*cloud).ready);
    BOOST_TEST(run(alone()).calls == 3u);
    BOOST_TEST(!asked().state_of(*cloud).ready);
}

BOOST_AUTO_TEST_CASE(callers_faults_limits_and_cancellations_do_not_open_it) {
    for (const auto code : {errc::invalid_parameter, errc::invalid_api_key, errc::rate_limit_exceeded, errc::insufficient_quota,
                            errc::overloaded, errc::cancelled, errc::internal_error}) {
        cloud->script = {error(code)};
        for (unsigned i = 0; i < circuit::failures_max + 1; ++i) (void)run(alone());
        BOOST_TEST(asked().state_of(*cloud).ready, entry_of(code).code);
    }
}

BOOST_AUTO_TEST_CASE(a_backend_that_says_itself_why_it_cannot_work_goes_on_saying_so) {
    cloud->ready = false;
    cloud->script = {error(errc::upstream_error, "There is no model.")};
    for (unsigned i = 0; i < circuit::failures_max + 2; ++i) {
        const auto end = run(alone());
        BOOST_TEST(end.heard.error().message() == "There is no model.");
    }
    BOOST_TEST(asked().state_of(*cloud).reason == "no model");
}

BOOST_AUTO_TEST_CASE(flights_that_wait_in_line_when_it_opens_are_not_sent) {
    cloud->calls_max = 1;
    cloud->script = {error(errc::upstream_error)};
    for (unsigned i = 0; i + 1 < circuit::failures_max; ++i) (void)run(alone());
    cloud->seen.clear();
    cloud->hangs = true;
    auto& holder = start(alone());
    auto& fails = start(alone());
    auto& waits = start(alone());
    poll();
    cloud->hangs = false;
    holder.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_REQUIRE((fails.end && waits.end));
    BOOST_TEST((fails.end->heard.error().code() == errc::upstream_error));
    BOOST_TEST((waits.end->heard.error().code() == errc::overloaded));
    BOOST_TEST(waits.end->calls == 0u);
    BOOST_TEST(cloud->seen.size() == 2u);
}

BOOST_AUTO_TEST_CASE(nobody_stands_in_line_at_a_backend_that_is_left_alone) {
    cloud->calls_max = 1;
    retry.pauses = {50ms};
    cloud->script = {again()};
    auto& returns = start(alone());
    poll();
    // It opens during the pause of a flight that then takes the only place.
    cloud->script = {error(errc::upstream_error)};
    for (unsigned i = 0; i < circuit::failures_max; ++i) (void)start(alone());
    poll();
    cloud->hangs = true;
    context.restart();
    while (cloud->seen.size() < circuit::failures_max + 2) context.run_one();
    auto& newcomer = start(alone());
    poll();
    BOOST_REQUIRE(newcomer.end.has_value());
    BOOST_TEST((newcomer.end->heard.error().code() == errc::overloaded));
    returns.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(returns.end.has_value());
}

BOOST_AUTO_TEST_CASE(a_backend_that_watches_itself_is_never_left_alone) {
    cloud->watches = true;
    for (const auto code : {errc::upstream_error, errc::upstream_timeout}) {
        cloud->script = {error(code)};
        for (unsigned i = 0; i < 2 * circuit::failures_max; ++i) BOOST_TEST(run(alone()).calls == 1u);
        BOOST_TEST(asked().state_of(*cloud).ready);
    }
}

BOOST_AUTO_TEST_CASE(beyond_the_bound_flights_wait_in_line_and_go_on_in_turn) {
    cloud->calls_max = 1;
    cloud->hangs = true;
    auto& first = start(alone());
    auto& second = start(alone());
    auto& third = start(alone());
    poll();
    BOOST_TEST(cloud->seen.size() == 1u);
    cloud->hangs = false;
    second.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_REQUIRE(second.end.has_value());
    BOOST_TEST((second.end->heard.error().code() == errc::cancelled));
    BOOST_TEST(second.end->calls == 0u);
    first.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_REQUIRE(third.end.has_value());
    BOOST_TEST(third.end->heard.has_value());
    BOOST_TEST(cloud->seen.size() == 2u);
}

BOOST_AUTO_TEST_CASE(whose_time_ends_in_line_is_overloaded_or_goes_elsewhere) {
    cloud->calls_max = 1;
    cloud->hangs = true;
    auto& holder = start(alone());
    poll();
    auto& waits = start(alone(), deadline::after(20ms));
    context.restart();
    while (!waits.end) context.run_one();
    BOOST_TEST((waits.end->heard.error().code() == errc::overloaded));
    BOOST_TEST(waits.end->heard.error().retry_after().has_value());
    BOOST_TEST(waits.end->calls == 0u);
    cloud->allowed = 20ms;
    auto& goes_on = start(both());
    while (!goes_on.end) context.run_one();
    BOOST_REQUIRE(goes_on.end->heard.has_value());
    BOOST_TEST(goes_on.end->backend == "local");
    holder.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(cloud->seen.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
