// The same server behind TLS: everything arrives, callers that leave are noticed, certificates change while it runs.
#define BOOST_TEST_MODULE server_tls
#include <server/running_server.hpp>
#include <support/raw_client.hpp>
#include <support/tls_client.hpp>

#include <atomic>
#include <csignal>
#include <fstream>

using namespace hearonce;
using namespace hearonce::test;
using namespace std::chrono_literals;

namespace {

const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

server::settings with(const certificate_files& files) {
    auto how = on_loopback();
    how.tls_certificate_file = files.certificate();
    how.tls_key_file = files.key();
    return how;
}
// Clients here write through OpenSSL, which raises it when the server has closed.
const auto no_signal = std::signal(SIGPIPE, SIG_IGN);

}  // namespace

BOOST_AUTO_TEST_CASE(requests_on_one_connection) {
    certificate_files files("one");
    std::atomic<bool> tls = false;
    running_server server(
        [&](http::exchange& request) {
            tls = request.head().tls;
            return echo(request);
        },
        with(files), 2);
    for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        tls_client client(server.port(), version);
        BOOST_TEST(client.connected());
        for (int i = 0; i < 3; ++i) {
            client.send(get);
            BOOST_TEST(client.answer().ends_with("GET /? 0\n"));
        }
        client.send(get + get);  // In one record.
        BOOST_TEST(client.answer().ends_with("GET /? 0\n"));
        BOOST_TEST(client.answer().ends_with("GET /? 0\n"));
    }
    BOOST_TEST(tls);
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(old_versions_are_refused) {
    certificate_files files("one");
    running_server server(echo, with(files));
    tls_client client(server.port(), TLS1_1_VERSION);
    BOOST_TEST(!client.connected());
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(large_bodies_both_ways) {
    certificate_files files("one");
    running_server server(echo, with(files));
    tls_client client(server.port());
    std::string body(3 * 1024 * 1024 + 5, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 2654435761U >> 13);
    BOOST_TEST(client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n"));
    for (std::size_t at = 0; at < body.size(); at += 10000) BOOST_REQUIRE(client.send(std::string_view(body).substr(at, 10000)));
    BOOST_TEST(client.answer().ends_with(body));
    client.send(get);
    BOOST_TEST(client.answer().ends_with("GET /? 0\n"));
}

BOOST_AUTO_TEST_CASE(closing_says_goodbye) {
    certificate_files files("one");
    auto how = with(files);
    how.idle_timeout = 50ms;
    running_server server(echo, how);
    tls_client closing(server.port());
    closing.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    BOOST_TEST(closing.answer().ends_with("GET /? 0\n"));
    BOOST_TEST(closing.ends_politely());
    tls_client idle(server.port());
    BOOST_TEST(idle.ends_politely());
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(a_handshake_that_does_not_end_is_given_up) {
    certificate_files files("one");
    auto how = with(files);
    how.header_timeout = 50ms;
    running_server server(echo, how);
    raw_client silent(server.port());
    raw_client half(server.port());
    half.send("\x16\x03\x01\x00\xc8");
    raw_client plain(server.port());
    plain.send(get);
    for (auto* client : {&silent, &half, &plain}) BOOST_TEST((client->wait_end() != raw_client::end_kind::open));
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(a_refused_upload_reads_its_answer) {
    certificate_files files("one");
    running_server server([](http::exchange& request) { return request.respond(text_answer("no", 413)); }, with(files));
    tls_client client(server.port());
    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 26214400\r\n\r\n");
    std::string block(64 * 1024, 'x');
    for (int i = 0; i < 400; ++i) BOOST_REQUIRE(client.send(block));
    auto got = client.answer();
    BOOST_TEST(got.starts_with("HTTP/1.1 413 "));
    BOOST_TEST(got.ends_with("no"));
    BOOST_TEST(client.ends_politely());
}

BOOST_AUTO_TEST_CASE(leaving_is_noticed_and_pipelined_bytes_are_not_leaving) {
    certificate_files files("one");
    for (int how = 0; how < 3; ++how) {
        std::atomic<int> left = 0;
        gate door;
        auto handler = [&](http::exchange& request) -> boost::asio::awaitable<void> {
            if (request.head().path == "/wait") {
                request.on_left([&] {
                    ++left;
                    door.open();
                });
                co_await door.pass();
            }
            auto answer = text_answer("ok");
            co_await request.respond(std::move(answer));
        };
        running_server server(handler, with(files));
        tls_client client(server.port());
        const std::string wait = "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n";
        client.send(how == 1 ? wait + get : wait);
        BOOST_TEST(door.has_entered(1));
        if (how == 0) {
            client.send(get);
            server.turn();
            BOOST_TEST(left == 0);
            door.open();
        }
        if (how < 2) {
            if (how == 1) door.open();
            BOOST_TEST(client.answer().ends_with("ok"));
            BOOST_TEST(client.answer().ends_with("ok"));
            BOOST_TEST(left == 0);
            continue;
        }
        client.say_goodbye();
        BOOST_TEST(server.has_connections(0));
        BOOST_TEST(left == 1);
    }
}

BOOST_AUTO_TEST_CASE(certificates_change_for_new_connections) {
    certificate_files files("old");
    running_server server(echo, with(files), 2);
    tls_client before(server.port());
    BOOST_TEST(before.server_name() == "old");
    files.make("new");
    BOOST_TEST(server.get().reload_certificate() == "");
    tls_client after(server.port());
    BOOST_TEST(after.server_name() == "new");
    before.send(get);
    BOOST_TEST(before.answer().ends_with("GET /? 0\n"));

    std::ofstream(files.key()) << "no key";
    auto problem = server.get().reload_certificate();
    BOOST_TEST(problem.find("server.tls_key") != std::string::npos);
    BOOST_TEST(problem.find(files.key()) != std::string::npos);
    tls_client still(server.port());
    BOOST_TEST(still.server_name() == "new");
    std::ofstream(files.certificate()) << "no certificate";
    BOOST_TEST(server.get().reload_certificate().find("server.tls_certificate") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_used_are_an_error_at_start) {
    certificate_files files("one");
    certificate_files other("two");
    boost::asio::io_context context(1);
    std::vector<boost::asio::io_context*> loops{&context};
    auto fails_naming = [&](const std::string& certificate, const std::string& key, const std::string& setting) {
        auto how = on_loopback();
        how.tls_certificate_file = certificate;
        how.tls_key_file = key;
        auto says = [&](const server::setup_error& failed) { return std::string(failed.what()).starts_with(setting); };
        BOOST_CHECK_EXCEPTION(server::server(how, loops, echo), server::setup_error, says);
    };
    fails_naming(files.certificate() + "x", files.key(), "server.tls_certificate");
    fails_naming(files.certificate(), files.key() + "x", "server.tls_key");
    fails_naming(files.certificate(), other.key(), "server.tls_key");
}

BOOST_AUTO_TEST_CASE(drain_in_every_phase) {
    certificate_files files("one");
    gate door;
    auto handler = [&](http::exchange& request) -> boost::asio::awaitable<void> {
        if (request.head().path == "/wait") co_await door.pass();
        co_await echo(request);
    };
    running_server server(handler, with(files), 2);
    tls_client idle(server.port());
    idle.send(get);
    BOOST_TEST(idle.answer().ends_with("GET /? 0\n"));
    tls_client busy(server.port());
    busy.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n");
    BOOST_TEST(door.has_entered(1));
    auto drained = server.drain(60s);
    BOOST_TEST(idle.ends_politely());
    door.open();
    auto got = busy.answer();
    BOOST_TEST(got.find("Connection: close") != std::string::npos);
    BOOST_TEST(busy.ends_politely());
    BOOST_TEST((drained.wait_for(10s) == std::future_status::ready));
    server.finish();
}
