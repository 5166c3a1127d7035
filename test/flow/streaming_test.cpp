// Callers that read along: `stream=true` on flights that tell pieces and on flights that do not.
#include "running_gateway.hpp"

#include <http/event_stream.hpp>

using namespace hearonce::test;
using namespace std::chrono_literals;
using hearonce::errc;
using hearonce::error;

namespace {

std::unique_ptr<raw_client> begin(std::uint16_t port, const std::string& audio, bool stream, const std::string& headers = {}) {
    auto client = std::make_unique<raw_client>(port);
    std::vector<form_part> fields;
    if (stream) fields.push_back({"stream", "true"});
    client->send(post_form(transcriptions, form_body("b1", upload(audio, std::move(fields))), "b1", headers));
    return client;
}

std::string delta(const std::string& text) {
    return hearonce::http::delta_event(text);
}
std::string done(const std::string& text) {
    return "data: {\"type\":\"transcript.text.done\",\"text\":\"" + text + "\"}\n\n";
}

void says(running_gateway& gateway, std::string text) {
    gateway.backend->ends = [text](std::size_t, const hearonce::recording&, const hearonce::transcription_request&) {
        hearonce::transcript made;
        made.text = text;
        return made;
    };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(streaming)

BOOST_AUTO_TEST_CASE(pieces_are_sent_as_they_are_told) {
    running_gateway gateway;
    says(gateway, "one two three");
    gateway.backend->close_gate();
    auto client = begin(gateway.port, wav(), true);
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    // The status is held until there is something to say.
    BOOST_TEST(!client->anything(100ms));
    BOOST_REQUIRE(gateway.backend->tell("one"));
    BOOST_TEST(client->wait_for(delta("one")));
    BOOST_REQUIRE(gateway.backend->tell(" two"));
    BOOST_TEST(client->wait_for(delta(" two")));
    gateway.backend->open_gate();
    const auto answer = read_answer(*client);
    BOOST_TEST(answer.status == 200);
    // What was held back is told before the end, so that the joined pieces are the text.
    BOOST_TEST(answer.body == delta("one") + delta(" two") + delta(" three") + done("one two three"));
    BOOST_TEST(answer.header("content-type") == "text/event-stream");
    BOOST_TEST(answer.header("x-accel-buffering") == "no");
    BOOST_TEST(answer.header("cache-status") == "hearonce; fwd=miss");
    BOOST_TEST(answer.header("x-hearonce-backend") == "scripted");
    // The connection goes on, and the result is kept like any other: for a reader and for a plain caller.
    client->send(post_form(transcriptions, form_body("b2", upload(wav(), {{"stream", "true"}})), "b2"));
    const auto again = read_answer(*client);
    BOOST_TEST(again.body == delta("one two three") + done("one two three"));
    BOOST_TEST(again.header("cache-status").starts_with("hearonce; hit; ttl="));
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav())).body.find("one two three") != std::string::npos);
    BOOST_TEST(gateway.backend->runs() == 1u);
}

BOOST_AUTO_TEST_CASE(a_late_joiner_gets_all_pieces_so_far_and_a_plain_one_waits) {
    running_gateway gateway;
    says(gateway, "one two");
    gateway.backend->close_gate();
    auto first = begin(gateway.port, wav(), true);
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    BOOST_REQUIRE(gateway.backend->tell("one"));
    BOOST_TEST(first->wait_for(delta("one")));
    auto late = begin(gateway.port, wav(), true);
    BOOST_TEST(late->wait_for(delta("one")));
    auto plain = begin(gateway.port, wav(), false);
    wait_for_waiters(gateway.port, 3);
    BOOST_TEST(!plain->anything(50ms));
    BOOST_REQUIRE(gateway.backend->tell(" two"));
    BOOST_TEST(first->wait_for(delta(" two")));
    BOOST_TEST(late->wait_for(delta(" two")));
    gateway.backend->open_gate();
    for (auto* each : {first.get(), late.get()}) BOOST_TEST(read_answer(*each).body == delta("one") + delta(" two") + done("one two"));
    const auto waited = read_answer(*plain);
    BOOST_TEST(waited.body == R"({"text":"one two"})");
    BOOST_TEST(waited.header("cache-status") == "hearonce; fwd=miss; collapsed");
    BOOST_TEST(gateway.backend->runs() == 1u);
}

BOOST_AUTO_TEST_CASE(a_reader_on_a_flight_that_tells_nothing_gets_everything_at_its_end) {
    running_gateway gateway;
    says(gateway, "all");
    gateway.backend->close_gate();
    auto plain = begin(gateway.port, wav(), false);
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    BOOST_TEST(!gateway.backend->tell("nobody reads along"));
    auto reader = begin(gateway.port, wav(), true);
    wait_for_waiters(gateway.port, 2);
    // A flight that is read along may tell nothing either.
    auto other = begin(gateway.port, wav(2), true);
    BOOST_REQUIRE(gateway.backend->wait_for_held(2));
    gateway.backend->open_gate();
    BOOST_TEST(read_answer(*reader).body == delta("all") + done("all"));
    BOOST_TEST(read_answer(*other).body == delta("all") + done("all"));
    BOOST_TEST(read_answer(*plain).status == 200);
}

BOOST_AUTO_TEST_CASE(a_failure_before_the_first_piece_keeps_its_status) {
    running_gateway gateway;
    gateway.backend->ends = [](auto, auto&, auto&) { return error(errc::upstream_timeout); };
    const auto answer = post(gateway.port, transcriptions, upload(wav(), {{"stream", "true"}}));
    BOOST_TEST(answer.status == 504);
    BOOST_TEST(answer.header("content-type") == "application/json");
}

BOOST_AUTO_TEST_CASE(a_failure_in_the_middle_is_told_in_the_stream_and_not_kept) {
    running_gateway gateway;
    gateway.backend->ends = [](auto, auto&, auto&) { return error(errc::upstream_error, "It broke."); };
    gateway.backend->close_gate();
    auto client = begin(gateway.port, wav(), true);
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    auto plain = begin(gateway.port, wav(), false);
    wait_for_waiters(gateway.port, 2);
    BOOST_REQUIRE(gateway.backend->tell("one"));
    gateway.backend->open_gate();
    const auto answer = read_answer(*client);
    BOOST_TEST(read_answer(*plain).status == 502);
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.body == delta("one") +
                                  "data: {\"error\":{\"message\":\"It broke.\",\"type\":\"server_error\",\"param\":null,\"code\":"
                                  "\"upstream_error\"}}\n\n");
    gateway.backend->ends = scripted_backend::said;
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav())).header("cache-status") == "hearonce; fwd=miss; stored; ttl=600");
    BOOST_TEST(gateway.backend->runs() == 2u);
}

BOOST_AUTO_TEST_CASE(a_failure_in_the_middle_frees_the_name_of_everyone_who_read_along) {
    running_gateway gateway;
    gateway.backend->ends = [](auto, auto&, auto&) { return error(errc::upstream_error, "It broke."); };
    gateway.backend->close_gate();
    auto leads = begin(gateway.port, wav(), true, "Idempotency-Key: a\r\n");
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    auto joins = begin(gateway.port, wav(), true, "Idempotency-Key: b\r\n");
    wait_for_waiters(gateway.port, 2);
    BOOST_REQUIRE(gateway.backend->tell("one"));
    gateway.backend->open_gate();
    for (auto* each : {leads.get(), joins.get()}) BOOST_TEST(read_answer(*each).body.starts_with(delta("one")));
    gateway.backend->ends = scripted_backend::said;
    for (const std::string name : {"a", "b"}) {
        BOOST_TEST(post(gateway.port, transcriptions, upload(wav(2)), "Idempotency-Key: " + name + "\r\n").status == 200);
    }
}

BOOST_AUTO_TEST_CASE(readers_that_leave_take_nothing_with_them) {
    running_gateway gateway;
    says(gateway, "one two");
    gateway.backend->close_gate();
    auto first = begin(gateway.port, wav(), true);
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    auto silent = begin(gateway.port, wav(), true);
    wait_for_waiters(gateway.port, 2);
    silent->close();  // Before its status was sent.
    wait_for_waiters(gateway.port, 1);
    auto second = begin(gateway.port, wav(), true);
    wait_for_waiters(gateway.port, 2);
    BOOST_REQUIRE(gateway.backend->tell("one"));
    BOOST_TEST(first->wait_for(delta("one")));
    BOOST_TEST(second->wait_for(delta("one")));
    first->reset();  // In the middle.
    wait_for_waiters(gateway.port, 1);
    gateway.backend->open_gate();
    BOOST_TEST(read_answer(*second).body == delta("one") + delta(" two") + done("one two"));
    BOOST_TEST(gateway.backend->runs() == 1u);
    BOOST_TEST(gateway.backend->cancelled() == 0u);
}

BOOST_AUTO_TEST_CASE(the_last_reader_to_leave_cancels_the_flight_after_the_grace) {
    auto wanted = test_settings();
    wanted.flight.abandon_grace = 0ms;
    running_gateway gateway(wanted);
    gateway.backend->close_gate();
    auto only = begin(gateway.port, wav(), true);
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    BOOST_REQUIRE(gateway.backend->tell("one"));
    BOOST_TEST(only->wait_for(delta("one")));
    only->close();
    BOOST_TEST(gateway.backend->wait_for_cancelled(1));
}

BOOST_AUTO_TEST_CASE(http_1_0_reads_along_until_the_connection_ends) {
    running_gateway gateway;
    says(gateway, "one");
    gateway.backend->close_gate();
    raw_client client(gateway.port);
    auto request = post_form(transcriptions, form_body("b1", upload(wav(), {{"stream", "true"}})), "b1");
    request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0");
    client.send(request);
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    BOOST_REQUIRE(gateway.backend->tell("one"));
    BOOST_TEST(client.wait_for(delta("one")));
    gateway.backend->open_gate();
    const auto answer = read_answer(client);
    BOOST_TEST(answer.body == delta("one") + done("one"));
}

BOOST_AUTO_TEST_CASE(a_drain_lets_a_stream_come_to_its_end) {
    running_gateway gateway;
    says(gateway, "one two");
    gateway.backend->close_gate();
    auto client = begin(gateway.port, wav(), true);
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    BOOST_REQUIRE(gateway.backend->tell("one"));
    BOOST_TEST(client->wait_for(delta("one")));
    gateway.gateway().drain();
    gateway.backend->open_gate();
    BOOST_TEST(read_answer(*client).body == delta("one") + delta(" two") + done("one two"));
}

BOOST_AUTO_TEST_SUITE_END()
