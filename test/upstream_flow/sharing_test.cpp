// Equal uploads at once, and connections that are kept: how often the upstream is asked, exactly.
#include "clouds.hpp"

using namespace hearonce;
using namespace hearonce::test;

namespace {

BOOST_AUTO_TEST_SUITE(sharing)

BOOST_AUTO_TEST_CASE(sixty_four_equal_uploads_are_one_call) {
    for (const auto kind : {api::openai, api::gemini}) {
        const double_server server(delayed(300ms));
        const cloud_gateway gateway(quick_settings({cloud("cloud", kind, server.url())}));
        const auto audio = wav(3);
        const auto name = kind == api::openai ? "whisper-1" : "gemini-2.5-flash";
        const auto answers = at_once(64, [&](std::size_t) { return post(gateway.port, transcriptions, upload(audio, model(name))); });
        for (const auto& one : answers) {
            BOOST_TEST(text_in(one) == heard_in(audio));
            BOOST_TEST(one.body == answers[0].body);
        }
        BOOST_TEST(server.seen().calls == 1u);
        BOOST_TEST(server.seen().of(sha256_of(audio)) == 1u);
    }
}

BOOST_AUTO_TEST_CASE(sixty_four_equal_uploads_towards_a_failing_upstream_are_the_configured_calls) {
    for (const unsigned attempts : {1u, 2u, 4u}) {
        double_server server;
        auto wanted = one_place(server);
        wanted.retry.attempts = attempts;
        const cloud_gateway gateway(wanted);
        const auto audio = wav(3);
        server.always("status=503");
        plug only(server, gateway, "whisper-1");
        auto waiting = callers(64, gateway.port, audio, model("whisper-1"));
        BOOST_TEST(gateway.wait_for_waiters(65));
        only.pull();
        std::vector<raw_answer> answers;
        for (auto& one : waiting) answers.push_back(one.answer());
        for (const auto& one : answers) {
            BOOST_TEST(one.status == 502);
            BOOST_TEST(one.body == answers[0].body);
            BOOST_TEST(one.header("x-should-retry") == (attempts > 1 ? "false" : ""));
        }
        BOOST_TEST(code_in(answers[0].body) == "upstream_error");
        BOOST_TEST(server.seen().of(sha256_of(audio)) == attempts);
        BOOST_TEST(metric(gateway.port, "hearonce_cache_entries") == 0);
        server.always("none");
        const auto later = post(gateway.port, transcriptions, upload(audio, model("whisper-1")));
        BOOST_TEST(later.header("cache-status") == "hearonce; fwd=miss; stored; ttl=600");
        BOOST_TEST(server.seen().of(sha256_of(audio)) == attempts + 1);
    }
}

// A pause that the upstream asks for is kept to, and what is tried after it is a success like any other.
BOOST_AUTO_TEST_CASE(a_retry_after_within_the_window_is_obeyed) {
    for (const auto kind : {api::openai, api::gemini}) {
        double_server server;
        const cloud_gateway gateway(quick_settings({cloud("cloud", kind, server.url())}));
        server.script({"status=429, retry_after=1"});
        const auto name = kind == api::openai ? "whisper-1" : "gemini-2.5-flash";
        const auto answer = post(gateway.port, transcriptions, upload(wav(), model(name)));
        BOOST_TEST(text_in(answer) == heard_in(wav()));
        BOOST_TEST(answer.header("x-should-retry") == "");
        const auto seen = server.seen();
        BOOST_TEST_REQUIRE(seen.last.size() == 2u);
        BOOST_TEST(seen.last[1].at_ms - seen.last[0].at_ms >= 1000);
    }
}

BOOST_AUTO_TEST_CASE(a_pause_longer_than_the_window_is_told_to_the_caller) {
    double_server server;
    const cloud_gateway gateway(quick_settings({cloud("cloud", api::openai, server.url())}));
    server.always("status=429, retry_after=40");
    const auto answer = post(gateway.port, transcriptions, upload(wav(), model("whisper-1")));
    BOOST_TEST(answer.status == 429);
    BOOST_TEST(answer.header("retry-after") == "40");
    BOOST_TEST(answer.header("x-should-retry") == "");
    BOOST_TEST(server.seen().calls == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(kept_connections)

BOOST_AUTO_TEST_CASE(a_hundred_connections_that_close_while_idle_are_a_hundred_successes) {
    for (const auto* close : {"idle_close", "idle_close=1ms", "idle_close=5ms"}) {
        double_server server;
        auto wanted = quick_settings({cloud("cloud", api::openai, server.url())});
        wanted.server.threads = 1;
        const cloud_gateway gateway(wanted);
        server.always(close);
        raw_client client(gateway.port);
        for (unsigned i = 0; i < 100; ++i) {
            const auto audio = wav(i, 4000 + 2 * i);
            client.send(post_form(transcriptions, form_body("b1", upload(audio, model("whisper-1"))), "b1"));
            BOOST_TEST(text_in(read_answer(client)) == heard_in(audio));
        }
        const auto seen = server.seen();
        BOOST_TEST(seen.by_sha256.size() == 100u);
        for (const auto& [digest, calls] : seen.by_sha256) BOOST_TEST(calls == 1u);
    }
}

BOOST_AUTO_TEST_CASE(a_connection_that_stays_is_used_again) {
    const double_server server;
    auto wanted = quick_settings({cloud("cloud", api::openai, server.url())});
    wanted.server.threads = 1;
    const cloud_gateway gateway(wanted);
    for (unsigned i = 0; i < 20; ++i) text_in(post(gateway.port, transcriptions, upload(wav(i), model("whisper-1"))));
    BOOST_TEST(server.seen().connections_accepted == 1u);
    BOOST_TEST(server.seen().calls == 20u);
}

// The peer had time to do the work on a connection that was made for it; only an old one may just have timed out.
BOOST_AUTO_TEST_CASE(a_reset_of_a_fresh_connection_after_the_body_is_reported_and_not_tried_again) {
    double_server server;
    const cloud_gateway gateway(quick_settings({cloud("cloud", api::openai, server.url())}));
    server.script({"reset=after_body"});
    const auto answer = post(gateway.port, transcriptions, upload(wav(), model("whisper-1")));
    BOOST_TEST(answer.status == 502);
    BOOST_TEST(code_in(answer.body) == "upstream_error");
    BOOST_TEST(answer.header("x-should-retry") == "");
    BOOST_TEST(server.seen().calls == 1u);
}

BOOST_AUTO_TEST_CASE(a_reset_of_a_kept_connection_before_an_answer_is_an_old_connections_end) {
    double_server server;
    auto wanted = quick_settings({cloud("cloud", api::openai, server.url())});
    wanted.server.threads = 1;
    const cloud_gateway gateway(wanted);
    text_in(post(gateway.port, transcriptions, upload(wav(1), model("whisper-1"))));
    server.script({"reset=after_body"});
    BOOST_TEST(text_in(post(gateway.port, transcriptions, upload(wav(2), model("whisper-1")))) == heard_in(wav(2)));
    BOOST_TEST(server.seen().calls == 3u);
    BOOST_TEST(server.seen().connections_accepted == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
