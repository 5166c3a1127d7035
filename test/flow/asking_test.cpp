// GET before a resend: what a caller may find without sending its recording again.
#include "running_gateway.hpp"

#include <openssl/sha.h>

using namespace hearonce::test;
using namespace std::chrono_literals;

namespace {

std::string sha256(const std::string& bytes) {
    hearonce::sha256_digest digest{};
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()));
    return hearonce::hex_of(digest);
}

std::string ask_path(const std::string& audio, const std::string& more = {}) {
    return transcriptions + "?sha256=" + sha256(audio) + more;
}

void check_unknown(const raw_answer& answer) {
    BOOST_TEST(answer.status == 404, answer.body);
    BOOST_TEST(answer.body.find("\"audio_unknown\"") != std::string::npos);
}

std::unique_ptr<raw_client> begin_get(std::uint16_t port, const std::string& path, const std::string& headers = {}) {
    auto client = std::make_unique<raw_client>(port);
    client->send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    return client;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(asking)

BOOST_AUTO_TEST_CASE(a_finished_result_comes_without_a_body) {
    running_gateway gateway;
    check_unknown(get(gateway.port, ask_path(wav())));
    const auto sent = post(gateway.port, transcriptions, upload(wav(), {{"language", "de"}, {"prompt", "a b&c=d"}}));
    const auto found = get(gateway.port, ask_path(wav(), "&prompt=a+b%26c%3Dd&language=de"));
    BOOST_TEST(found.status == 200);
    BOOST_TEST(found.body == sent.body);
    BOOST_TEST(found.header("cache-status").starts_with("hearonce; hit; ttl="));
    BOOST_TEST(found.header("x-audio-sha256") == sha256(wav()));
    BOOST_TEST(found.header("x-hearonce-backend") == "scripted");
    BOOST_TEST(found.has("server-timing"));
    // Any format of the class of detail, and another path's task is other work.
    BOOST_TEST(get(gateway.port, ask_path(wav(), "&language=de&prompt=a%20b%26c%3dd&response_format=text")).status == 200);
    check_unknown(get(gateway.port, ask_path(wav(), "&language=de&prompt=a%20b%26c%3dd&response_format=srt")));
    check_unknown(get(gateway.port, ask_path(wav(), "&language=de")));
    check_unknown(get(gateway.port, "/v1/audio/translations?sha256=" + sha256(wav()) + "&language=de&prompt=a+b%26c%3Dd"));
    check_unknown(get(gateway.port, ask_path(wav(2), "&language=de&prompt=a+b%26c%3Dd")));
    BOOST_TEST(gateway.backend->runs() == 1u);
    BOOST_TEST(metric(gateway.port, "hearonce_saved_upstream_calls_total") == 2);
}

BOOST_AUTO_TEST_CASE(a_flight_is_waited_for) {
    running_gateway gateway;
    gateway.backend->close_gate();
    raw_client sender(gateway.port);
    sender.send(post_form(transcriptions, form_body("b1", upload(wav())), "b1"));
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    auto asker = begin_get(gateway.port, ask_path(wav()));
    wait_for_waiters(gateway.port, 2);
    // The one who sent is gone: the one who asked keeps the flight.
    sender.reset();
    wait_for_waiters(gateway.port, 1);
    gateway.backend->open_gate();
    const auto found = read_answer(*asker);
    BOOST_TEST(found.status == 200);
    BOOST_TEST(found.header("cache-status") == "hearonce; fwd=miss; collapsed");
    BOOST_TEST(gateway.backend->runs() == 1u);
}

BOOST_AUTO_TEST_CASE(an_asker_leaves_alone_and_a_failure_is_told) {
    running_gateway gateway;
    gateway.backend->ends = [](auto, auto&, auto&) { return hearonce::error(hearonce::errc::upstream_error); };
    gateway.backend->close_gate();
    raw_client sender(gateway.port);
    sender.send(post_form(transcriptions, form_body("b1", upload(wav())), "b1"));
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    auto leaver = begin_get(gateway.port, ask_path(wav()));
    auto stayer = begin_get(gateway.port, ask_path(wav()));
    wait_for_waiters(gateway.port, 3);
    leaver->close();
    wait_for_waiters(gateway.port, 2);
    gateway.backend->open_gate();
    BOOST_TEST(read_answer(*stayer).status == 502);
    BOOST_TEST(read_answer(sender).status == 502);
    check_unknown(get(gateway.port, ask_path(wav())));
}

BOOST_AUTO_TEST_CASE(a_stream_is_joined_and_replayed) {
    running_gateway gateway;
    gateway.backend->close_gate();
    raw_client sender(gateway.port);
    sender.send(post_form(transcriptions, form_body("b1", upload(wav(), {{"stream", "true"}})), "b1"));
    BOOST_REQUIRE(gateway.backend->wait_for_held(1));
    BOOST_REQUIRE(gateway.backend->tell("piece"));
    auto asker = begin_get(gateway.port, ask_path(wav(), "&stream=true"));
    BOOST_TEST(asker->wait_for("\"delta\":\"piece\""));
    gateway.backend->open_gate();
    BOOST_TEST(read_answer(*asker).header("content-type") == "text/event-stream");
    BOOST_TEST(read_answer(sender).status == 200);
    BOOST_TEST(get(gateway.port, ask_path(wav(), "&stream=1")).body.find("transcript.text.done") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_work_of_another_is_as_unknown_as_none) {
    running_gateway gateway;
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav()), "X-Device-Id: one\r\n").status == 200);
    check_unknown(get(gateway.port, ask_path(wav())));
    check_unknown(get(gateway.port, ask_path(wav()), "X-Device-Id: two\r\n"));
    BOOST_TEST(get(gateway.port, ask_path(wav()), "X-Device-Id: one\r\n").status == 200);
    // In open mode whoever comes through somebody else's proxy is nobody's caller.
    check_unknown(get(gateway.port, ask_path(wav()), "X-Device-Id: one\r\nX-Forwarded-For: 203.0.113.9\r\n"));
}

BOOST_AUTO_TEST_CASE(with_keys_of_ones_own_the_key_tells_callers_apart) {
    auto wanted = test_settings();
    wanted.auth.mode = hearonce::app::auth_mode::own_key;
    wanted.auth.own_key_local = true;
    running_gateway gateway(wanted);
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav()), "Authorization: Bearer one\r\n").status == 200);
    BOOST_TEST(get(gateway.port, ask_path(wav()), "Authorization: Bearer one\r\nX-Forwarded-For: 203.0.113.9\r\n").status == 200);
    check_unknown(get(gateway.port, ask_path(wav()), "Authorization: Bearer two\r\n"));
    BOOST_TEST(get(gateway.port, ask_path(wav())).status == 401);
}

BOOST_AUTO_TEST_CASE(wrong_questions) {
    running_gateway gateway;
    const auto param = [&gateway](const std::string& query) {
        const auto answer = get(gateway.port, transcriptions + query);
        BOOST_TEST(answer.status == 400, query);
        const auto at = answer.body.find("\"param\":");
        return answer.body.substr(at + 8, answer.body.find(",\"code\"") - at - 8);
    };
    const auto good = "sha256=" + sha256(wav());
    for (const auto& query : {std::string(), std::string("?"), std::string("?model=scripted"), std::string("?sha256="), "?" + good + "0",
                              "?" + good + "&" + good, "?sha256=" + std::string(64, 'g')})
        BOOST_TEST(param(query) == "\"sha256\"");
    BOOST_TEST(param("?" + good + "&x=%zz") == "null");
    BOOST_TEST(param("?" + good + "&language=%") == "null");
    BOOST_TEST(param("?" + good + "&response_format=xml") == "\"response_format\"");
    BOOST_TEST(param("?" + good + "&temperature=hot") == "\"temperature\"");
    BOOST_TEST(param("?" + good + "&language=de&language=en") == "\"language\"");
    BOOST_TEST(get(gateway.port, ask_path(wav()), "X-Audio-Sha256: " + sha256(wav(2)) + "\r\n").status == 400);
    BOOST_TEST(get(gateway.port, ask_path(wav(), "&&&"), "X-Audio-Sha256: " + sha256(wav()) + "\r\n").status == 404);
    // The connection goes on after each.
    raw_client client(gateway.port);
    for (int i = 0; i < 3; ++i) {
        client.send("GET " + ask_path(wav()) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        check_unknown(read_answer(client));
    }
    client.send("GET " + ask_path(wav()) + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc");
    BOOST_TEST(read_answer(client).status == 400);
}

BOOST_AUTO_TEST_CASE(an_idempotency_key_is_not_claimed_by_asking) {
    running_gateway gateway;
    check_unknown(get(gateway.port, ask_path(wav()), "Idempotency-Key: k\r\n"));
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav(2)), "Idempotency-Key: k\r\n").status == 200);
    check_unknown(get(gateway.port, ask_path(wav()), "Idempotency-Key: k\r\n"));
}

BOOST_AUTO_TEST_SUITE_END()
