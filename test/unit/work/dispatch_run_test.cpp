// One flight over its backends: attempts, pauses, keys, and what is counted of them.
#define BOOST_TEST_MODULE dispatch_run
#include "dispatching.hpp"

using namespace hearonce;
using namespace hearonce::test;

BOOST_FIXTURE_TEST_SUITE(dispatch_run_, dispatching)

BOOST_AUTO_TEST_CASE(it_tries_again_and_says_how_often) {
    cloud->script = {again(), again(), text("hello")};
    const auto end = run(alone());
    BOOST_REQUIRE(end.heard.has_value());
    BOOST_TEST(end.heard->backend == "cloud");
    BOOST_TEST(end.calls == 3u);
    BOOST_TEST(cloud->seen.size() == 3u);
}

BOOST_AUTO_TEST_CASE(it_gives_up_when_the_attempts_are_used_up_those_of_the_client_among_them) {
    cloud->script = {again()};
    const auto end = run(alone());
    BOOST_TEST(end.calls == 3u);
    BOOST_TEST(end.backend == "cloud");
    BOOST_TEST((end.heard.error().code() == errc::upstream_error));
    BOOST_TEST(run(alone(), deadline::after(1min), nullptr, 1).calls == 2u);
    BOOST_TEST(run(alone(), deadline::after(1min), nullptr, 9).calls == 1u);
}

BOOST_AUTO_TEST_CASE(pauses_are_kept) {
    retry.pauses = {30ms};
    cloud->script = {again(), text("hello")};
    const auto began = deadline::clock::now();
    BOOST_TEST(run(alone()).heard.has_value());
    BOOST_TEST((deadline::clock::now() - began >= 30ms));
}

BOOST_AUTO_TEST_CASE(cancelling_ends_a_pause_at_once) {
    retry.pauses = {10s};
    cloud->script = {again()};
    auto& one = start(alone());
    poll();
    BOOST_TEST(cloud->seen.size() == 1u);
    BOOST_TEST(!one.end);
    one.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_REQUIRE(one.end.has_value());
    BOOST_TEST((one.end->heard.error().code() == errc::cancelled));
    BOOST_TEST(one.end->calls == 1u);
}

BOOST_AUTO_TEST_CASE(cancelling_ends_a_call_that_throws_it_and_counts_it) {
    cloud->hangs = true;
    auto& one = start(both());
    poll();
    one.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_REQUIRE(one.end.has_value());
    BOOST_TEST((one.end->heard.error().code() == errc::cancelled));
    BOOST_TEST(local->seen.empty());
    BOOST_TEST(count_of("cloud", "cancelled") == "1");
}

BOOST_AUTO_TEST_CASE(an_exception_is_counted_passed_on_and_gives_its_place_back) {
    cloud->calls_max = 1;
    cloud->throws = true;
    for (int i = 0; i < 3; ++i) {
        auto& one = start(both());
        poll();
        BOOST_TEST(!one.end);
        BOOST_TEST((one.thrown != nullptr));
    }
    BOOST_TEST(count_of("cloud", "error") == "3");
}

BOOST_AUTO_TEST_CASE(each_backend_has_its_own_share_of_the_flights_time) {
    cloud->allowed = 10s;
    local->allowed = 90s;
    cloud->script = {error(errc::upstream_error)};
    const auto before = deadline::clock::now();
    const auto limit = deadline(before + 1min);
    (void)run(both(), limit);
    const auto after = deadline::clock::now();
    BOOST_REQUIRE((cloud->seen.size() == 1 && local->seen.size() == 1));
    BOOST_TEST((cloud->seen[0].limit >= deadline(before + 10s)));
    BOOST_TEST((cloud->seen[0].limit <= deadline(after + 10s)));
    BOOST_TEST((local->seen[0].limit == limit));
}

BOOST_AUTO_TEST_CASE(what_was_told_is_the_end) {
    cloud->tells = true;
    cloud->script = {again()};
    const auto end = run(both(), deadline::after(1min), std::make_shared<delta_log>());
    BOOST_TEST((end.heard.error().code() == errc::upstream_error));
    BOOST_TEST(end.calls == 1u);
    BOOST_TEST(local->seen.empty());
}

BOOST_AUTO_TEST_CASE(calls_are_counted_by_the_upstreams_own_status) {
    cloud->script = {again().with_upstream_status(503), error(errc::overloaded).with_remedy(remedy::again).with_upstream_status(529),
                     error(errc::invalid_parameter).with_upstream_status(400)};
    BOOST_TEST(run(alone()).calls == 3u);
    cloud->script = {error(errc::upstream_timeout).with_upstream_status(504)};
    (void)run(alone());
    cloud->script = {error(errc::upstream_timeout)};
    (void)run(alone());
    cloud->script = {text("hello")};
    (void)run(alone());
    (void)run({{local}, "m", {"local"}});
    for (const auto* status : {"503", "529", "400", "504", "timeout", "200"}) BOOST_TEST(count_of("cloud", status) == "1", status);
    BOOST_TEST(count_of("local", "ok") == "1");
}

BOOST_AUTO_TEST_CASE(what_a_full_engine_turned_away_was_no_call) {
    local->script = {error(errc::overloaded)};
    const auto end = run({{local}, "m", {"local"}});
    BOOST_TEST(end.calls == 0u);
    BOOST_TEST(counted.sum().backends.at(1).calls == 0u);
}

BOOST_AUTO_TEST_CASE(each_backend_gets_its_own_terms_and_no_others) {
    auto keys = std::make_shared<caller_keys>();
    keys->bearer = secret("sk-caller");
    keys->organization = "org";
    keys->project = "proj";
    auto chosen = work::callable_with(both(), keys, true);
    BOOST_REQUIRE(chosen.has_value());
    std::weak_ptr<const caller_keys> left = keys;
    keys.reset();
    cloud->script = {error(errc::upstream_error)};
    (void)run(std::move(*chosen));
    BOOST_REQUIRE((cloud->seen.size() == 1 && local->seen.size() == 1));
    BOOST_REQUIRE(cloud->seen[0].key != nullptr);
    BOOST_TEST(cloud->seen[0].key->reveal() == "sk-caller");
    BOOST_TEST(cloud->seen[0].organization == "org");
    BOOST_TEST(cloud->seen[0].project == "proj");
    BOOST_TEST((local->seen[0].key == nullptr));
    BOOST_TEST(local->seen[0].organization == "");
    BOOST_TEST(!left.expired());
    cloud->seen.clear();
    BOOST_TEST(left.expired());
}

BOOST_AUTO_TEST_CASE(without_terms_no_key_is_given) {
    (void)run(alone());
    BOOST_REQUIRE(cloud->seen.size() == 1u);
    BOOST_TEST((cloud->seen[0].key == nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
