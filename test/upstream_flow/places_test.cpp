// Callers that leave, places that are taken and circuits that open: when the upstream is let go of, and when it is not asked.
#include "clouds.hpp"

using namespace hearonce;
using namespace hearonce::test;

namespace {

BOOST_AUTO_TEST_SUITE(callers_that_leave)

// Both times are the double's own: that of a request made right before the last caller leaves, and that of the end it sees.
BOOST_AUTO_TEST_CASE(the_upstream_connection_closes_when_the_last_caller_has_left) {
    std::vector<std::int64_t> took;
    for (const auto kind : {api::openai, api::gemini}) {
        for (int i = 0; i < 7; ++i) {
            double_server server;
            auto wanted = quick_settings({cloud("cloud", kind, server.url())});
            wanted.flight.abandon_grace = 0ms;
            const cloud_gateway gateway(wanted);
            server.always("hang");
            const auto name = kind == api::openai ? "whisper-1" : "gemini-2.5-flash";
            auto both = callers(2, gateway.port, wav(), model(name));
            BOOST_TEST_REQUIRE(server.wait_until([](const upstream::counts& seen) { return seen.by_sha256.size() == 1; }));
            BOOST_TEST_REQUIRE(gateway.wait_for_waiters(2));
            both[0].leave();
            BOOST_TEST_REQUIRE(gateway.wait_for_waiters(1));
            BOOST_TEST(server.seen().aborted_by_peer == 0u);
            get(server.port(), "/now");
            both[1].leave();
            BOOST_TEST_REQUIRE(server.wait_until([](const upstream::counts& seen) { return seen.aborted_by_peer == 1; }));
            const auto seen = server.seen();
            BOOST_TEST(seen.left[0].during == "waiting");
            BOOST_TEST(seen.calls == 1u);
            took.push_back(seen.left[0].at_ms - seen.last.back().at_ms);
        }
    }
    std::ranges::sort(took);
    BOOST_TEST_MESSAGE("closed after " << took[took.size() / 2] << " ms (median), " << took.back() << " ms (most)");
    // The median: this machine may be busy with other things for a moment.
    BOOST_TEST(took[took.size() / 2] <= 100);
}

BOOST_AUTO_TEST_CASE(a_grace_keeps_the_connection_for_a_resend) {
    double_server server;
    auto wanted = quick_settings({cloud("cloud", api::openai, server.url())});
    wanted.flight.abandon_grace = 30s;
    const cloud_gateway gateway(wanted);
    server.always("delay=400ms");
    caller first(gateway.port, wav(), model("whisper-1"));
    BOOST_TEST_REQUIRE(server.wait_until([](const upstream::counts& seen) { return seen.by_sha256.size() == 1; }));
    first.leave();
    BOOST_TEST(gateway.wait_for_waiters(0));
    const auto answer = post(gateway.port, transcriptions, upload(wav(), model("whisper-1")));
    BOOST_TEST(text_in(answer) == heard_in(wav()));
    BOOST_TEST(server.seen().aborted_by_peer == 0u);
    BOOST_TEST(server.seen().calls == 1u);
}

BOOST_AUTO_TEST_CASE(the_one_who_stays_gets_the_answer) {
    double_server server;
    auto wanted = quick_settings({cloud("cloud", api::openai, server.url())});
    wanted.flight.abandon_grace = 0ms;
    const cloud_gateway gateway(wanted);
    server.always("delay=500ms");
    auto all = callers(10, gateway.port, wav(), model("whisper-1"));
    BOOST_TEST_REQUIRE(gateway.wait_for_waiters(10));
    for (std::size_t i = 0; i < 9; ++i) all[i].leave();
    BOOST_TEST_REQUIRE(gateway.wait_for_waiters(1));
    BOOST_TEST(text_in(all[9].answer()) == heard_in(wav()));
    BOOST_TEST(server.seen().aborted_by_peer == 0u);
    BOOST_TEST(server.seen().calls == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(places_and_circuits)

BOOST_AUTO_TEST_CASE(with_one_place_other_work_waits_for_it_and_is_then_served) {
    double_server server;
    auto wanted = one_place(server);
    const cloud_gateway gateway(wanted);
    plug only(server, gateway, "whisper-1");
    std::vector<caller> waiting;
    for (unsigned i = 0; i < 4; ++i) waiting.emplace_back(gateway.port, wav(i), model("whisper-1"));
    BOOST_TEST(gateway.wait_for_waiters(5));
    BOOST_TEST(server.seen().calls == 1u);
    only.pull();
    for (unsigned i = 0; i < 4; ++i) BOOST_TEST(text_in(waiting[i].answer()) == heard_in(wav(i)));
    BOOST_TEST(server.seen().calls == 5u);
    BOOST_TEST(server.seen().in_flight_max <= 2u);  // The one that was given up may not have noticed yet.
}

BOOST_AUTO_TEST_CASE(never_more_calls_at_once_than_there_are_places) {
    const double_server server(delayed(20ms));
    auto wanted = one_place(server);
    wanted.backends[0].max_in_flight = 3;
    const cloud_gateway gateway(wanted);
    const auto answers = at_once(
        12, [&](std::size_t i) { return post(gateway.port, transcriptions, upload(wav(static_cast<unsigned>(i)), model("whisper-1"))); });
    for (unsigned i = 0; i < 12; ++i) BOOST_TEST(text_in(answers[i]) == heard_in(wav(i)));
    BOOST_TEST(server.seen().in_flight_max <= 3u);
    BOOST_TEST(server.seen().calls == 12u);
}

BOOST_AUTO_TEST_CASE(who_finds_no_place_before_the_deadline_is_told_to_come_again) {
    double_server server;
    auto wanted = one_place(server);
    // A long note may take longer than a short one.
    wanted.deadline.base = 200ms;
    wanted.deadline.per_audio_second = 10;
    const cloud_gateway gateway(wanted);
    server.always("hang");
    caller first(gateway.port, wav(1, 640000), model("whisper-1"));
    BOOST_TEST_REQUIRE(server.wait_until([](const upstream::counts& seen) { return seen.calls == 1; }));
    const auto answer = post(gateway.port, transcriptions, upload(wav(2, 640), model("whisper-1")));
    BOOST_TEST(answer.status == 503);
    BOOST_TEST(code_in(answer.body) == "overloaded");
    BOOST_TEST(std::stoi(answer.header("retry-after")) >= 1);
    BOOST_TEST(answer.header("x-should-retry") == "");
    BOOST_TEST(server.seen().calls == 1u);
    first.leave();
}

BOOST_AUTO_TEST_CASE(after_five_failed_flights_nobody_is_sent_there) {
    for (const auto kind : {api::openai, api::gemini}) {
        double_server server;
        const cloud_gateway gateway(quick_settings({cloud("cloud", kind, server.url())}));
        const auto fields = model(kind == api::openai ? "whisper-1" : "gemini-2.5-flash");
        server.always("status=503");
        for (unsigned i = 0; i < 5; ++i) BOOST_TEST(post(gateway.port, transcriptions, upload(wav(i), fields)).status == 502);
        BOOST_TEST(server.seen().calls == 15u);
        BOOST_TEST(get(gateway.port, "/health/ready").status == 503);
        const auto answer = post(gateway.port, transcriptions, upload(wav(9), fields));
        BOOST_TEST(answer.status == 503);
        BOOST_TEST(code_in(answer.body) == "overloaded");
        BOOST_TEST(answer.header("x-should-retry") == "");
        const auto pause = std::stoi(answer.header("retry-after"));
        BOOST_TEST((pause > 0 && pause <= 30));
        BOOST_TEST(server.seen().calls == 15u);
    }
}

// What a caller or its amounts are refused for says nothing about the upstream.
BOOST_AUTO_TEST_CASE(refused_requests_never_open_the_circuit) {
    double_server server;
    const cloud_gateway gateway(quick_settings({cloud("cloud", api::openai, server.url())}));
    unsigned seed = 0;
    for (const auto* fault : {"status=400", "status=429", "status=413", "insufficient_quota"}) {
        server.always(fault);
        for (int i = 0; i < 6; ++i) BOOST_TEST(post(gateway.port, transcriptions, upload(wav(++seed), model("whisper-1"))).status < 500);
    }
    server.always("none");
    BOOST_TEST(text_in(post(gateway.port, transcriptions, upload(wav(), model("whisper-1")))) == heard_in(wav()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
