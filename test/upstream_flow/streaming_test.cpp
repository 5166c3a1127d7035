// Callers that read along an upstream's stream: what passes through, how it may break off, and who gets what of it.
#include "clouds.hpp"

using namespace hearonce;
using namespace hearonce::test;

namespace {

struct streamed_api {
    api kind;
    std::string model;
    std::size_t deltas_min;  // Of twelve words.
};

const streamed_api apis[] = {{api::openai, "gpt-4o-transcribe", 12}, {api::gemini, "gemini-2.5-flash", 3}};

BOOST_AUTO_TEST_SUITE(streams)

BOOST_AUTO_TEST_CASE(the_upstreams_pieces_come_one_by_one) {
    for (const auto& one : apis) {
        double_server server;
        const cloud_gateway gateway(quick_settings({cloud("cloud", one.kind, server.url())}));
        server.script({"pace=50ms"});
        caller reader(gateway.port, wav(), model(one.model, true));
        BOOST_TEST(reader.client().wait_for("transcript.text.delta"));
        // The upstream is still at it.
        BOOST_TEST(server.seen().in_flight == 1u);
        const auto answer = reader.answer();
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(answer.header("content-type") == "text/event-stream");
        BOOST_TEST(answer.header("cache-status") == "hearonce; fwd=miss");
        BOOST_TEST(answer.header("x-hearonce-backend") == "cloud");
        std::size_t deltas = 0;
        BOOST_TEST(deltas_of(answer, &deltas) == heard_in(wav()));
        BOOST_TEST(deltas >= one.deltas_min);
        const auto last = json_of(records_of(answer).back());
        BOOST_TEST(last.at("type").as_string() == "transcript.text.done");
        BOOST_TEST(last.at("text").as_string() == heard_in(wav()));
        // Kept like any other result.
        const auto plain = post(gateway.port, transcriptions, upload(wav(), model(one.model)));
        BOOST_TEST(text_in(plain) == heard_in(wav()));
        BOOST_TEST(plain.header("cache-status").starts_with("hearonce; hit; ttl="));
        BOOST_TEST(server.seen().calls == 1u);
    }
}

BOOST_AUTO_TEST_CASE(a_late_reader_gets_every_piece_and_a_plain_caller_the_text) {
    for (const auto& one : apis) {
        double_server server;
        const cloud_gateway gateway(quick_settings({cloud("cloud", one.kind, server.url())}));
        server.always("pace=150ms");
        caller first(gateway.port, wav(), model(one.model, true));
        BOOST_TEST(first.client().wait_for("transcript.text.delta"));
        caller late(gateway.port, wav(), model(one.model, true));
        BOOST_TEST(late.client().wait_for("transcript.text.delta"));
        caller plain(gateway.port, wav(), model(one.model));
        const auto whole = first.answer();
        const auto joined = late.answer();
        BOOST_TEST(joined.body == whole.body);
        BOOST_TEST(deltas_of(joined) == heard_in(wav()));
        BOOST_TEST(joined.header("cache-status") == "hearonce; fwd=miss; collapsed");
        BOOST_TEST(text_in(plain.answer()) == heard_in(wav()));
        BOOST_TEST(server.seen().calls == 1u);
    }
}

BOOST_AUTO_TEST_CASE(a_stream_that_breaks_off_ends_in_an_error_for_everyone_and_is_kept_nowhere) {
    for (const auto& one : apis) {
        for (const std::string fault : {"cut_sse=mid_record", "cut_sse=between", "half_body", "sse_error"}) {
            BOOST_TEST_CONTEXT(fault << " of " << one.model) {
                double_server server;
                auto wanted = quick_settings({cloud("cloud", one.kind, server.url())});
                wanted.backends[0].max_in_flight = 1;
                wanted.flight.abandon_grace = 0ms;
                const cloud_gateway gateway(wanted);
                plug only(server, gateway, one.model);
                server.always(fault);
                caller first(gateway.port, wav(), model(one.model, true));
                BOOST_TEST(gateway.wait_for_waiters(2));
                caller second(gateway.port, wav(), model(one.model, true));
                caller plain(gateway.port, wav(), model(one.model));
                BOOST_TEST(gateway.wait_for_waiters(4));
                only.pull();
                const auto broken = first.answer();
                BOOST_TEST(broken.status == 200);
                BOOST_TEST(code_in(records_of(broken).back()) == "upstream_error");
                BOOST_TEST(broken.body.find("transcript.text.done") == std::string::npos);
                BOOST_TEST(second.answer().body == broken.body);
                const auto failed = plain.answer();
                BOOST_TEST(failed.status == 502);
                BOOST_TEST(code_in(failed.body) == "upstream_error");
                BOOST_TEST(server.seen().of(sha256_of(wav())) == 1u);
                BOOST_TEST(metric(gateway.port, "hearonce_cache_entries") == 0);
                server.always("none");
                const auto next = post(gateway.port, transcriptions, upload(wav(), model(one.model, true)));
                BOOST_TEST(deltas_of(next) == heard_in(wav()));
                BOOST_TEST(next.header("cache-status") == "hearonce; fwd=miss");
                BOOST_TEST(server.seen().of(sha256_of(wav())) == 2u);
            }
        }
    }
}

// Nothing was told yet, so the same caller may be served by another attempt.
BOOST_AUTO_TEST_CASE(a_stream_that_fails_before_its_first_piece_is_tried_again) {
    for (const auto& one : apis) {
        double_server server;
        const cloud_gateway gateway(quick_settings({cloud("cloud", one.kind, server.url())}));
        server.script({"status=503", "status=500"});
        const auto answer = post(gateway.port, transcriptions, upload(wav(), model(one.model, true)));
        BOOST_TEST(deltas_of(answer) == heard_in(wav()));
        BOOST_TEST(server.seen().calls == 3u);
    }
}

BOOST_AUTO_TEST_CASE(readers_that_all_leave_end_the_upstreams_stream) {
    for (const auto& one : apis) {
        double_server server;
        auto wanted = quick_settings({cloud("cloud", one.kind, server.url())});
        wanted.flight.abandon_grace = 0ms;
        const cloud_gateway gateway(wanted);
        server.always("pace=1s");
        caller first(gateway.port, wav(), model(one.model, true));
        BOOST_TEST(first.client().wait_for("transcript.text.delta", 30s));
        caller second(gateway.port, wav(), model(one.model, true));
        BOOST_TEST(second.client().wait_for("transcript.text.delta"));
        first.leave();
        BOOST_TEST(gateway.wait_for_waiters(1));
        BOOST_TEST(server.seen().aborted_by_peer == 0u);
        second.leave();
        BOOST_TEST(server.wait_until([](const upstream::counts& seen) { return seen.aborted_by_peer == 1; }));
        BOOST_TEST(server.seen().left[0].during == "answer");
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
