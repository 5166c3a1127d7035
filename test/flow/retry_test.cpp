// What callers see of a backend that fails: how often it is asked, what they are told, and that nothing of it is kept.
#include "running_gateway.hpp"

using namespace hearonce;
using namespace hearonce::test;
using namespace std::chrono_literals;

namespace {

app::settings quick_retries(unsigned attempts) {
    auto wanted = test_settings();
    wanted.retry.attempts = attempts;
    wanted.retry.pauses = {std::chrono::milliseconds(1)};
    return wanted;
}

error failing(std::uint16_t status = 503) {
    return error(errc::upstream_error, "The backend failed.").with_remedy(remedy::again).with_upstream_status(status);
}

void fail_with(running_gateway& gateway, const error& why) {
    gateway.backend->ends = [why](std::size_t, const recording&, const transcription_request&) -> result<transcript> { return why; };
}

std::string calls_metric(const std::string& status) {
    return "hearonce_upstream_calls_total{backend=\"scripted\",status=\"" + status + "\"}";
}

BOOST_AUTO_TEST_SUITE(retrying)

BOOST_AUTO_TEST_CASE(sixty_four_equal_uploads_of_failing_work_are_the_configured_calls_and_one_error) {
    running_gateway gateway(quick_retries(4));
    fail_with(gateway, failing());
    gateway.backend->close_gate();
    const auto audio = wav();
    std::thread opener([&] {
        for (int i = 0; i < 4000 && metric(gateway.port, "hearonce_waiters") < 64; ++i) std::this_thread::sleep_for(5ms);
        gateway.backend->open_gate();
    });
    const auto answers =
        at_once(64, [&](std::size_t) { return post(gateway.port, transcriptions, upload(audio), "X-Device-Id: phone\r\n"); });
    opener.join();
    BOOST_TEST(gateway.backend->runs() == 4u);
    for (const auto& answer : answers) {
        BOOST_TEST(answer.status == 502);
        BOOST_TEST(answer.body == answers[0].body);
        BOOST_TEST(answer.header("x-should-retry") == "false");
        BOOST_TEST(answer.header("x-hearonce-backend") == "scripted");
        BOOST_TEST(answer.header("cache-status") == "");
    }
    BOOST_TEST(metric(gateway.port, calls_metric("503")) == 4);
    BOOST_TEST(metric(gateway.port, "hearonce_work_total{outcome=\"led\"}") == 1);
    BOOST_TEST(metric(gateway.port, "hearonce_work_total{outcome=\"failed\"}") == 1);
    BOOST_TEST(metric(gateway.port, "hearonce_cache_entries") == 0);
    // The key is free: the next upload is new work.
    gateway.backend->ends = scripted_backend::said;
    const auto later = post(gateway.port, transcriptions, upload(audio), "X-Device-Id: phone\r\n");
    BOOST_TEST(later.status == 200);
    BOOST_TEST(later.header("cache-status") == "hearonce; fwd=miss; stored; ttl=600");
}

BOOST_AUTO_TEST_CASE(a_later_attempt_that_succeeds_is_a_success_like_any_other) {
    running_gateway gateway(quick_retries(3));
    gateway.backend->ends = [](std::size_t run, const recording& audio, const transcription_request& request) -> result<transcript> {
        if (run < 2) return failing();
        return scripted_backend::said(run, audio, request);
    };
    const auto answer = post(gateway.port, transcriptions, upload(wav()));
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("x-should-retry") == "");
    BOOST_TEST(gateway.backend->runs() == 3u);
    BOOST_TEST(metric(gateway.port, calls_metric("503")) == 2);
    BOOST_TEST(metric(gateway.port, calls_metric("ok")) == 1);
}

BOOST_AUTO_TEST_CASE(what_the_clients_sdk_tried_is_taken_off_the_attempts) {
    const std::pair<std::string, std::size_t> rows[] = {{"0", 3}, {"1", 2}, {"2", 1}, {"3", 1}, {"70", 1}, {"x", 3}, {"-1", 3}, {"", 3}};
    running_gateway gateway(quick_retries(3));
    fail_with(gateway, failing());
    // A success between keeps the backend's circuit closed.
    std::size_t before = 0;
    unsigned seed = 1;
    for (const auto& [sent, calls] : rows) {
        const auto answer = post(gateway.port, transcriptions, upload(wav(++seed)), "X-Stainless-Retry-Count: " + sent + "\r\n");
        BOOST_TEST(answer.status == 502);
        BOOST_TEST(gateway.backend->runs() - before == calls, "sent " << sent);
        BOOST_TEST(answer.header("x-should-retry") == (calls > 1 ? "false" : ""));
        gateway.backend->ends = scripted_backend::said;
        BOOST_TEST(post(gateway.port, transcriptions, upload(wav(++seed))).status == 200);
        fail_with(gateway, failing());
        before = gateway.backend->runs();
    }
}

BOOST_AUTO_TEST_CASE(a_retry_after_that_does_not_fit_is_passed_on_and_the_client_may_obey_it) {
    running_gateway gateway(quick_retries(3));
    fail_with(gateway, error(errc::rate_limit_exceeded).with_retry_after(40s).with_upstream_status(429));
    const auto answer = post(gateway.port, transcriptions, upload(wav()));
    BOOST_TEST(answer.status == 429);
    BOOST_TEST(answer.header("retry-after") == "40");
    BOOST_TEST(answer.header("x-should-retry") == "");
    BOOST_TEST(gateway.backend->runs() == 1u);
    BOOST_TEST(metric(gateway.port, calls_metric("429")) == 1);
}

BOOST_AUTO_TEST_CASE(after_five_failed_flights_the_backend_is_left_alone_and_that_is_said) {
    running_gateway gateway(quick_retries(2));
    fail_with(gateway, failing());
    for (unsigned i = 0; i < 5; ++i) {
        BOOST_TEST(get(gateway.port, "/health/ready").status == 200);
        BOOST_TEST(post(gateway.port, transcriptions, upload(wav(i + 1))).status == 502);
    }
    BOOST_TEST(gateway.backend->runs() == 10u);
    const auto answer = post(gateway.port, transcriptions, upload(wav(9)));
    BOOST_TEST(answer.status == 503);
    BOOST_TEST(answer.body.find("\"overloaded\"") != std::string::npos);
    BOOST_TEST(answer.header("x-should-retry") == "");
    BOOST_TEST(std::stoi(answer.header("retry-after")) > 20);
    BOOST_TEST(gateway.backend->runs() == 10u);
    const auto ready = get(gateway.port, "/health/ready");
    BOOST_TEST(ready.status == 503);
    BOOST_TEST(ready.body.find("work failed 5 times in a row; asked again in ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(another_backend_of_the_route_takes_over) {
    auto wanted = quick_retries(2);
    wanted.routes = {{"shared", {"scripted", "second"}}};
    const auto second = std::make_shared<scripted_backend>("second");
    running_gateway gateway(wanted, {second});
    fail_with(gateway, failing());
    const auto answer = post(gateway.port, transcriptions, upload(wav(), {{"model", "shared", {}, ""}}));
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("x-hearonce-backend") == "second");
    BOOST_TEST(gateway.backend->runs() == 2u);
    BOOST_TEST(second->runs() == 1u);
}

BOOST_AUTO_TEST_CASE(leaving_during_a_pause_ends_the_work) {
    auto wanted = quick_retries(3);
    wanted.retry.pauses = {10s};
    wanted.flight.abandon_grace = 0ms;
    running_gateway gateway(wanted);
    fail_with(gateway, failing());
    {
        raw_client client(gateway.port);
        client.send(post_form(transcriptions, form_body("b", upload(wav())), "b"));
        BOOST_REQUIRE(gateway.backend->wait_for_runs(1));
    }
    for (int i = 0; i < 4000 && metric(gateway.port, "hearonce_work_total{outcome=\"cancelled\"}") < 1; ++i) {
        std::this_thread::sleep_for(1ms);
    }
    BOOST_TEST(metric(gateway.port, "hearonce_work_total{outcome=\"cancelled\"}") == 1);
    BOOST_TEST(gateway.backend->runs() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
