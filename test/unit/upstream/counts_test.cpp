// What the upstream double counts, who left when, and how it goes with many connections, TLS and its own end.
#define BOOST_TEST_MODULE upstream_counts
#include <boost/test/unit_test.hpp>

#include <bench/upstream/certificates.hpp>
#include <bench/upstream/ledger.hpp>

#include "upstream_bed.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <atomic>
#include <chrono>
#include <thread>

using namespace hearonce;
using namespace hearonce::test;
using std::chrono::milliseconds;
using upstream::counts;
using upstream::double_server;
using upstream::settings;
using upstream::tls_kind;

namespace {

const std::string bytes = some_bytes();
const std::string form = form_body("b", upload(bytes));

std::string request(const std::string& fault = "none") {
    return post_form(transcriptions, form, "b", "X-Fault: " + fault + "\r\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exact)

BOOST_AUTO_TEST_CASE(calls_by_recording) {
    const double_server server;
    for (unsigned seed = 1; seed <= 3; ++seed) {
        for (unsigned n = 0; n < seed; ++n) post(server.port(), transcriptions, upload(some_bytes(seed)));
    }
    const auto seen = server.seen();
    BOOST_TEST(seen.calls == 6u);
    BOOST_TEST(seen.by_sha256.size() == 3u);
    for (unsigned seed = 1; seed <= 3; ++seed) BOOST_TEST(seen.of(sha256_of(some_bytes(seed))) == seed);
    BOOST_TEST(seen.of(sha256_of("never sent")) == 0u);
    BOOST_TEST(seen.by_status.at(200) == 6u);
    BOOST_TEST(seen.in_flight == 0u);
    BOOST_TEST(seen.aborted_by_peer == 0u);
    BOOST_TEST(seen.connections_accepted == 6u);
    BOOST_TEST(server.wait_until([](const counts& now) { return now.connections_open == 0; }));
}

BOOST_AUTO_TEST_CASE(refused_calls_count_too) {
    const double_server server;
    post(server.port(), transcriptions, upload(bytes, {{"response_format", "xml"}}));
    post(server.port(), transcriptions, upload(bytes), "X-Fault: status=500\r\n");
    BOOST_TEST(server.seen().of(sha256_of(bytes)) == 2u);
    BOOST_TEST(server.seen().by_status.at(400) == 1u);
    BOOST_TEST(server.seen().by_status.at(500) == 1u);
}

BOOST_AUTO_TEST_CASE(bytes_and_connections) {
    const double_server server;
    raw_client client(server.port());
    for (int n = 0; n < 3; ++n) {
        client.send(post_form(transcriptions, form, "b"));
        BOOST_TEST(read_answer(client).status == 200);
    }
    BOOST_TEST(server.wait_until([](const counts& now) { return now.received_bytes == 3 * form.size(); }));
    BOOST_TEST(server.seen().connections_accepted == 1u);
    BOOST_TEST(server.seen().connections_open == 1u);
    for (const auto& one : server.seen().last) BOOST_TEST(one.connection == 1u);
    client.close();
    BOOST_TEST(server.wait_until([](const counts& now) { return now.connections_open == 0; }));
}

BOOST_AUTO_TEST_CASE(what_was_asked_is_kept_in_order) {
    const double_server server;
    post(server.port(), transcriptions + "?api-version=1", upload(bytes, {{"language", "de"}, {"prompt", std::string(5000, 'p')}}),
         "X-Mine: yes\r\n");
    const auto seen = server.seen();
    BOOST_TEST_REQUIRE(seen.last.size() == 1u);
    const auto& one = seen.last.front();
    BOOST_TEST(one.id == 1u);
    BOOST_TEST(one.method == "POST");
    BOOST_TEST(one.path == transcriptions);
    BOOST_TEST(one.query == "api-version=1");
    BOOST_TEST(one.status == 200);
    BOOST_TEST(*one.header("x-mine") == "yes");
    BOOST_TEST(one.header("x-yours") == nullptr);
    BOOST_TEST(one.headers[0].name == "Host");
    BOOST_TEST_REQUIRE(one.fields.size() == 3u);
    BOOST_TEST(one.fields[0].name == "model");
    BOOST_TEST(*one.field("language") == "de");
    BOOST_TEST(one.field("prompt")->size() == upstream::seen_request::value_bytes_max);
    BOOST_TEST(one.field("none") == nullptr);
    BOOST_TEST_REQUIRE(one.files.size() == 1u);
    BOOST_TEST(one.files[0].field == "file");
    BOOST_TEST(one.files[0].name == "note.wav");
    BOOST_TEST(one.files[0].type == "audio/wav");
    BOOST_TEST(one.files[0].bytes == bytes.size());
}

BOOST_AUTO_TEST_CASE(only_the_last_requests_are_kept) {
    for (const std::size_t most : {0u, 1u, 3u}) {
        settings how;
        how.last_max = most;
        const double_server server(how);
        for (int n = 0; n < 4; ++n) post(server.port(), transcriptions, upload(bytes));
        const auto seen = server.seen();
        BOOST_TEST(seen.calls == 4u);
        BOOST_TEST(seen.last.size() == most);
        if (most > 0) BOOST_TEST(seen.last.back().id == 4u);
        if (most > 0) BOOST_TEST(seen.last.back().files.size() == 1u);
    }
}

BOOST_AUTO_TEST_CASE(a_reset_forgets_what_was_and_what_is_under_way) {
    double_server server;
    post(server.port(), transcriptions, upload(bytes));
    raw_client waiting(server.port());
    waiting.send(request("hang"));
    BOOST_TEST(server.wait_until([](const counts& now) { return now.calls == 2 && now.in_flight == 1 && now.of(sha256_of(bytes)) == 2; }));
    server.reset();
    auto seen = server.seen();
    BOOST_TEST(seen.calls == 0u);
    BOOST_TEST(seen.by_sha256.empty());
    BOOST_TEST(seen.last.empty());
    BOOST_TEST(seen.in_flight == 1u);
    BOOST_TEST(seen.connections_open >= 1u);
    // Its end is not that of a call of now.
    waiting.close();
    BOOST_TEST(server.wait_until([](const counts& now) { return now.in_flight == 0; }));
    BOOST_TEST(server.seen().aborted_by_peer == 0u);
    post(server.port(), transcriptions, upload(bytes));
    BOOST_TEST(server.seen().of(sha256_of(bytes)) == 1u);
}

BOOST_AUTO_TEST_CASE(the_same_over_http) {
    const double_server server;
    post(server.port(), transcriptions, upload(bytes, {{"language", "de"}}));
    const auto stats = json_of(get(server.port(), "/_stats"));
    BOOST_TEST(stats.at("calls").as_int64() == 1);
    BOOST_TEST(stats.at("by_sha256").at(hex_of(sha256_of(bytes))).as_int64() == 1);
    BOOST_TEST(stats.at("in_flight").as_int64() == 0);
    BOOST_TEST(stats.at("other_requests").as_int64() == 0);
    BOOST_TEST(stats.at("connections").at("accepted").as_int64() == 2);
    BOOST_TEST(stats.at("received_bytes").as_int64() > static_cast<std::int64_t>(bytes.size()));
    BOOST_TEST(stats.at("by_status").at("200").as_int64() == 1);
    const auto& last = stats.at("last").as_array().at(0);
    BOOST_TEST(last.at("path").as_string() == transcriptions);
    BOOST_TEST(last.at("headers").as_array().at(0).as_array().at(0).as_string() == "Host");
    BOOST_TEST(last.at("fields").as_array().at(1).as_array().at(1).as_string() == "de");
    BOOST_TEST(last.at("files").as_array().at(0).at("sha256").as_string() == hex_of(sha256_of(bytes)));
    raw_client client(server.port());
    client.send("POST /_reset HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    BOOST_TEST(read_answer(client).status == 200);
    BOOST_TEST(json_of(get(server.port(), "/_stats")).at("calls").as_int64() == 0);
}

BOOST_AUTO_TEST_CASE(the_ledger_alone) {
    upstream::ledger seen(2);
    BOOST_TEST(seen.connected() == 1u);
    BOOST_TEST(seen.connected() == 2u);
    http::request_head head;
    const auto one = seen.began(head, 1, true);
    const auto two = seen.began(head, 1, true);
    BOOST_TEST(two == one + 1);
    BOOST_TEST(seen.snapshot().in_flight_max == 2u);
    const auto digest = sha256_of("a");
    seen.told(one, {}, {}, &digest);
    seen.told(two, {}, {}, nullptr);
    seen.ended(10);
    seen.ended(5);
    BOOST_TEST(seen.snapshot().of(digest) == 1u);
    BOOST_TEST(seen.snapshot().in_flight == 0u);
    BOOST_TEST(seen.snapshot().received_bytes == 15u);
    for (std::size_t n = 0; n < counts::left_max + 5; ++n) seen.left(one, "upload", upstream::ledger::clock::now());
    BOOST_TEST(seen.snapshot().left.size() == counts::left_max);
    BOOST_TEST(seen.snapshot().aborted_by_peer == counts::left_max + 5);
    BOOST_TEST(!seen.wait_until([](const counts& now) { return now.calls == 99; }, milliseconds(1)));
}

// A table of counts knows no more recordings than its limit; calls beyond it are still counted.
BOOST_AUTO_TEST_CASE(recordings_have_a_limit) {
    upstream::ledger seen(0, 2);
    const http::request_head head;
    for (const char* one : {"a", "b", "c", "a", "c"}) {
        const auto digest = sha256_of(one);
        seen.told(seen.began(head, 1, true), {}, {}, &digest);
    }
    const auto now = seen.snapshot();
    BOOST_TEST(now.calls == 5u);
    BOOST_TEST(now.of(sha256_of("a")) == 2u);
    BOOST_TEST(now.of(sha256_of("b")) == 1u);
    BOOST_TEST(now.of(sha256_of("c")) == 0u);
    BOOST_TEST(now.digests_left_out == 2u);
    BOOST_TEST(now.by_sha256.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(leaving)

BOOST_AUTO_TEST_CASE(during_the_upload) {
    const double_server server;
    raw_client client(server.port());
    const auto whole = request();
    client.send(whole.substr(0, whole.size() - 100));
    BOOST_TEST(server.wait_until([](const counts& now) { return now.in_flight == 1; }));
    client.close();
    BOOST_TEST(server.wait_until([](const counts& now) { return now.in_flight == 0; }));
    const auto seen = server.seen();
    BOOST_TEST(seen.aborted_by_peer == 1u);
    BOOST_TEST(seen.left.front().during == "upload");
    BOOST_TEST(seen.left.front().id == 1u);
    BOOST_TEST(seen.by_sha256.empty());
    BOOST_TEST(seen.calls == 1u);
}

// Long before the answer would have been due, whichever way it goes.
BOOST_AUTO_TEST_CASE(while_waiting) {
    for (const bool hard : {false, true}) {
        for (const char* fault : {"delay=60s", "hang"}) {
            const double_server server;
            raw_client client(server.port());
            client.send(request(fault));
            BOOST_TEST(server.wait_until([](const counts& now) { return now.by_sha256.size() == 1; }));
            hard ? client.reset() : client.close();
            BOOST_TEST(server.wait_until([](const counts& now) { return now.in_flight == 0 && now.connections_open == 0; }), fault);
            BOOST_TEST(server.seen().aborted_by_peer == 1u);
            BOOST_TEST(server.seen().left.front().during == "waiting");
            BOOST_TEST(server.seen().left.front().after_ms < 30'000);
            BOOST_TEST(server.seen().by_status.empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(while_it_is_answered) {
    for (const char* fault : {"pace=60s", "drip=60s"}) {
        const double_server server;
        raw_client client(server.port());
        client.send(post_form(transcriptions, form_body("b", upload(bytes, {{"stream", "true"}}, "gpt-4o-transcribe")), "b",
                              "X-Fault: " + std::string(fault) + "\r\n"));
        BOOST_TEST(client.wait_for("H"));
        client.close();
        BOOST_TEST(server.wait_until([](const counts& now) { return now.in_flight == 0; }), fault);
        BOOST_TEST(server.seen().aborted_by_peer == 1u);
        BOOST_TEST(server.seen().left.front().during == "answer");
        BOOST_TEST(server.seen().by_status.at(200) == 1u);
    }
}

BOOST_AUTO_TEST_CASE(who_has_everything_may_go) {
    const double_server server;
    {
        raw_client client(server.port());
        client.send(request("delay=10ms"));
        BOOST_TEST(read_answer(client).status == 200);
    }
    BOOST_TEST(server.wait_until([](const counts& now) { return now.connections_open == 0; }));
    BOOST_TEST(server.seen().aborted_by_peer == 0u);
}

BOOST_AUTO_TEST_CASE(a_slow_reader_is_waited_for) {
    const double_server server;
    raw_client client(server.port(), 4096);
    client.send(request("huge_body=8"));
    BOOST_TEST(server.wait_until([](const counts& now) { return now.by_status.contains(200); }));
    const auto answer = client.answer(false, std::chrono::seconds(60));
    BOOST_TEST(answer.complete);
    BOOST_TEST(answer.body.size() > 8u << 20u);
    client.send(request());
    BOOST_TEST(read_answer(client).status == 200);
}

BOOST_AUTO_TEST_CASE(the_next_request_while_the_first_waits) {
    const double_server server;
    raw_client client(server.port());
    client.send(request("delay=30ms") + request() + request());
    for (int n = 0; n < 3; ++n) BOOST_TEST(read_answer(client).status == 200);
    BOOST_TEST(server.seen().of(sha256_of(bytes)) == 3u);
    // More of it than is read ahead.
    const auto large = form_body("b", upload(some_bytes(9, 300'000)));
    std::thread sender([&] { client.send(request("delay=30ms") + post_form(transcriptions, large, "b")); });
    for (int n = 0; n < 2; ++n) BOOST_TEST(read_answer(client).status == 200);
    sender.join();
    BOOST_TEST(server.seen().of(sha256_of(some_bytes(9, 300'000))) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(whole_servers)

BOOST_AUTO_TEST_CASE(ends_with_everything_under_way) {
    for (const bool tls : {false, true}) {
        std::vector<std::unique_ptr<raw_client>> clients;
        settings how;
        how.threads = 2;
        if (tls) how.tls = tls_kind::good;
        double_server server(how);
        for (const char* fault : {"hang", "delay=60s", "drip=60s", "idle_close=60s", "none"}) {
            clients.push_back(std::make_unique<raw_client>(server.port()));
            clients.back()->send(request(fault));
        }
        clients.push_back(std::make_unique<raw_client>(server.port()));
        clients.back()->send(request().substr(0, 300));
        BOOST_TEST(server.wait_until([&](const counts& now) { return now.connections_accepted == 6 && (tls || now.calls == 6); }));
        // The destructor's turn: it must not wait for any of them.
    }
}

BOOST_AUTO_TEST_CASE(begins_and_ends_without_anybody) {
    const double_server one;
    settings how;
    how.threads = 4;
    const double_server many(how);
    BOOST_TEST(one.port() != many.port());
    BOOST_TEST(one.url("/v1") == "http://127.0.0.1:" + std::to_string(one.port()) + "/v1");
    BOOST_TEST(one.ca_pem().empty());
}

BOOST_AUTO_TEST_CASE(a_port_is_taken_once) {
    const double_server first;
    settings how;
    how.listen.port(first.port());
    BOOST_CHECK_THROW(double_server{how}, std::runtime_error);
}

BOOST_AUTO_TEST_CASE(no_http_is_no_call) {
    const double_server server;
    raw_client client(server.port());
    client.send("hello\r\n\r\n");
    BOOST_TEST(closes(client));
    raw_client second(server.port());
    second.send(
        "POST " + transcriptions +
        " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\nxyz\r\n12345678");
    BOOST_TEST(closes(second));
    BOOST_TEST(server.seen().calls == 1u);
    BOOST_TEST(server.seen().in_flight == 0u);
}

BOOST_AUTO_TEST_CASE(continue_is_said_before_the_body) {
    const double_server server;
    raw_client client(server.port());
    client.send("POST " + transcriptions +
                " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: " +
                std::to_string(form.size()) + "\r\n\r\n");
    BOOST_TEST(client.answer().status == 100);
    client.send(form);
    BOOST_TEST(read_answer(client).status == 200);
}

BOOST_AUTO_TEST_CASE(http_1_0_and_close_are_obeyed) {
    const double_server server;
    raw_client client(server.port());
    client.send(post_form(transcriptions, form, "b", "Connection: close\r\n"));
    const auto answer = read_answer(client);
    BOOST_TEST(answer.header("connection") == "close");
    BOOST_TEST(closes(client));
}

// Many threads against several loops: nothing is lost and nothing counted twice.
BOOST_AUTO_TEST_CASE(counts_hold_under_threads) {
    settings how;
    how.threads = 2;
    how.delay_exponential = milliseconds(1);
    const double_server server(how);
    constexpr unsigned threads = 8, rounds = 40;
    std::atomic<unsigned> right = 0;
    std::vector<std::thread> all;
    for (unsigned t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            raw_client client(server.port());
            for (unsigned n = 0; n < rounds; ++n) {
                const auto own = some_bytes(t % 4 + 100, 20'000);
                client.send(post_form(transcriptions, form_body("b", upload(own)), "b"));
                const auto answer = client.answer();
                if (answer.body.find("\"" + text_of(own) + "\"") != std::string::npos) ++right;
            }
        });
    }
    for (auto& one : all) one.join();
    BOOST_TEST(right == threads * rounds);
    BOOST_TEST(server.wait_until([](const counts& now) { return now.in_flight == 0; }));
    const auto seen = server.seen();
    BOOST_TEST(seen.calls == threads * rounds);
    for (unsigned t = 0; t < 4; ++t) BOOST_TEST(seen.of(sha256_of(some_bytes(t + 100, 20'000))) == 2 * rounds);
    BOOST_TEST(seen.connections_accepted == threads);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(tls)

namespace {

namespace asio = boost::asio;

// The whole of what comes for one request that ends its connection; empty when the handshake was refused.
std::string ask_over_tls(const double_server& server, const std::string& host, const std::string& send) {
    asio::io_context context;
    asio::ssl::context trust(asio::ssl::context::tls_client);
    trust.add_certificate_authority(asio::buffer(server.ca_pem()));
    asio::ssl::stream<asio::ip::tcp::socket> stream(context, trust);
    stream.set_verify_mode(asio::ssl::verify_peer);
    stream.set_verify_callback(asio::ssl::host_name_verification(host));
    stream.next_layer().connect({asio::ip::address_v4::loopback(), server.port()});
    boost::system::error_code failed;
    stream.handshake(asio::ssl::stream_base::client, failed);
    if (failed) return {};
    asio::write(stream, asio::buffer(send), failed);
    std::string got;
    asio::read(stream, asio::dynamic_buffer(got), failed);
    return got;
}

const std::string closing = post_form(transcriptions, form, "b", "Connection: close\r\nX-Fault: delay=20ms\r\n");

}  // namespace

BOOST_AUTO_TEST_CASE(good_for_this_machine_s_names) {
    settings how;
    how.tls = tls_kind::good;
    const double_server server(how);
    for (const char* host : {"localhost", "127.0.0.1", "::1"}) {
        const auto got = ask_over_tls(server, host, closing);
        BOOST_TEST(got.starts_with("HTTP/1.1 200 OK\r\n"), host);
        BOOST_TEST(got.find(text_of(bytes)) != std::string::npos);
    }
    BOOST_TEST(ask_over_tls(server, "example.com", closing).empty());
    BOOST_TEST(server.url("/v1", "localhost").starts_with("https://localhost:"));
    BOOST_TEST(server.seen().of(sha256_of(bytes)) == 3u);
}

BOOST_AUTO_TEST_CASE(every_other_kind_is_refused_by_who_looks) {
    for (const auto kind : {tls_kind::expired, tls_kind::wrong_host, tls_kind::other_ca}) {
        settings how;
        how.tls = kind;
        const double_server server(how);
        BOOST_TEST(ask_over_tls(server, "localhost", closing).empty());
        BOOST_TEST(server.wait_until([](const counts& now) { return now.connections_accepted == 1 && now.connections_open == 0; }));
        BOOST_TEST(server.seen().calls == 0u);
        if (kind == tls_kind::wrong_host) BOOST_TEST(!ask_over_tls(server, "elsewhere.invalid", closing).empty());
    }
}

BOOST_AUTO_TEST_CASE(faults_and_leaving_are_seen_through_tls) {
    settings how;
    how.tls = tls_kind::good;
    const double_server server(how);
    BOOST_TEST(ask_over_tls(server, "localhost", request("reset=after_body")).empty());
    BOOST_TEST(ask_over_tls(server, "localhost", request("reset=after_head")).ends_with("\r\n\r\n"));
    BOOST_TEST(ask_over_tls(server, "localhost", request("idle_close")).ends_with("}}"));
    asio::io_context context;
    asio::ssl::context trust(asio::ssl::context::tls_client);
    asio::ssl::stream<asio::ip::tcp::socket> stream(context, trust);
    stream.next_layer().connect({asio::ip::address_v4::loopback(), server.port()});
    stream.handshake(asio::ssl::stream_base::client);
    asio::write(stream, asio::buffer(request("hang")));
    BOOST_TEST(server.wait_until([](const counts& now) { return now.of(sha256_of(bytes)) == 4; }));
    boost::system::error_code ignored;
    stream.next_layer().close(ignored);
    BOOST_TEST(server.wait_until([](const counts& now) { return now.aborted_by_peer == 1 && now.in_flight == 0; }));
}

BOOST_AUTO_TEST_CASE(who_speaks_no_tls_is_sent_away) {
    settings how;
    how.tls = tls_kind::good;
    const double_server server(how);
    raw_client client(server.port());
    client.send(request());
    BOOST_TEST((client.wait_end() != raw_client::end_kind::open));
    BOOST_TEST(server.seen().calls == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
