// What the server refuses, over real sockets: the answer is read, the connection ends, and nothing after it is believed.
#define BOOST_TEST_MODULE server_refusals
#include <server/running_server.hpp>
#include <support/raw_client.hpp>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace hearonce;
using namespace hearonce::test;
using end_kind = raw_client::end_kind;
using std::chrono::milliseconds;

namespace {

const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

void refused_with(raw_client& client, int status, const std::string& code) {
    auto got = client.answer();
    BOOST_TEST(got.status == status);
    BOOST_TEST(got.body.find("\"" + code + "\"") != std::string::npos);
    BOOST_TEST(got.header("content-type").starts_with("application/json"));
    BOOST_TEST(got.header("connection") == "close");
    BOOST_TEST(got.header("x-request-id").size() == 32U);
    client.end_sending();
    BOOST_TEST((client.wait_end() == end_kind::closed));
    BOOST_TEST(client.rest() == "");
}

// Refuses from the headers.
boost::asio::awaitable<void> refuse(http::exchange& request) {
    auto answer = text_answer("no", 413);
    co_await request.respond(std::move(answer));
}

server::settings hasty() {
    auto how = on_loopback();
    how.header_timeout = how.idle_timeout = how.upload_stall_timeout = how.answer_stall_timeout = milliseconds(60);
    how.linger_timeout = milliseconds(5000);
    how.linger_stall_timeout = milliseconds(500);
    return how;
}

}  // namespace

BOOST_AUTO_TEST_CASE(bad_heads_end_the_connection_and_never_reach_the_handler) {
    std::atomic<int> handled = 0;
    running_server server([&](http::exchange& request) {
        if (request.head().path != "/before") ++handled;
        return echo(request);
    });
    const std::vector<std::string> heads = {
        "\x16\x03\x01\x02\x00",
        "GET / HTTP/1.1\nHost: h\n\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: h\r\n\r\n",
        "GET nowhere HTTP/1.1\r\nHost: h\r\n\r\n",
        "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    };
    for (const auto& head : heads) {
        for (bool after_a_good_one : {false, true}) {
            BOOST_TEST_CONTEXT(head) {
                raw_client client(server.port());
                if (after_a_good_one) {
                    client.send("GET /before HTTP/1.1\r\nHost: h\r\nX-Request-Id: earlier\r\n\r\n");
                    BOOST_TEST(client.answer().status == 200);
                }
                client.send(head + get);
                refused_with(client, 400, "invalid_http");
            }
        }
    }
    BOOST_TEST(handled == 0);
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(smuggled_requests_are_not_seen) {
    std::mutex guard;
    std::vector<std::string> seen;
    running_server server([&](http::exchange& request) {
        {
            std::lock_guard hold(guard);
            seen.push_back(request.head().path);
        }
        return request.head().path == "/refuse" ? refuse(request) : echo(request);
    });
    const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n";
    const std::vector<std::string> attempts = {
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 35\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0,35\r\n\r\n",
        // Refused without a look at the body, which must then not be taken for requests.
        "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 37\r\n\r\n",
        "POST /refuse HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n",
    };
    for (const auto& attempt : attempts) {
        BOOST_TEST_CONTEXT(attempt) {
            raw_client client(server.port());
            client.send(attempt + smuggled + smuggled);
            BOOST_TEST(client.answer().status >= 400);
            client.end_sending();
            BOOST_TEST((client.wait_end() == end_kind::closed));
            BOOST_TEST(client.rest() == "");
        }
    }
    for (const auto& path : seen) BOOST_TEST(path == "/refuse");
}

BOOST_AUTO_TEST_CASE(heads_over_the_limits) {
    auto how = on_loopback();
    how.head_bytes_max = 400;
    how.headers_max = 5;
    how.target_bytes_max = 50;
    running_server server(echo, how);
    auto sized = [](std::size_t bytes) {
        std::string head = "GET / HTTP/1.1\r\nHost: h\r\nA: ";
        return head + std::string(bytes - head.size() - 4, 'a') + "\r\n\r\n";
    };
    auto counted = [](std::size_t headers) {
        std::string head = "GET / HTTP/1.1\r\nHost: h\r\n";
        for (std::size_t i = 1; i < headers; ++i) head += "A: b\r\n";
        return head + "\r\n";
    };
    auto target = [](std::size_t bytes) { return "GET /" + std::string(bytes - 1, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n"; };
    for (const auto& good : {sized(399), sized(400), counted(4), counted(5), target(49), target(50)}) {
        raw_client client(server.port());
        client.send(good);
        BOOST_TEST(client.answer().status == 200);
    }
    for (const auto& bad : {sized(401), counted(6), target(51), sized(5000)}) {
        raw_client client(server.port());
        client.send(bad);
        refused_with(client, 431, "header_too_large");
    }
}

BOOST_AUTO_TEST_CASE(a_head_that_does_not_end_is_answered_408) {
    running_server server(echo, hasty());
    raw_client client(server.port());
    client.send("GET / HTTP/1.1\r\nHost: h\r\nX: ");
    // Drop by drop gains no time.
    std::jthread drip([&](std::stop_token stop) {
        while (!stop.stop_requested() && client.send("a")) std::this_thread::sleep_for(milliseconds(5));
    });
    auto got = client.answer();
    drip.request_stop();
    drip.join();
    BOOST_TEST(got.status == 408);
    BOOST_TEST(got.body.find("\"request_timeout\"") != std::string::npos);
    BOOST_TEST(got.header("connection") == "close");
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(idle_connections_just_close) {
    running_server server(echo, hasty());
    raw_client fresh(server.port());
    raw_client used(server.port());
    used.send(get);
    BOOST_TEST(used.answer().status == 200);
    for (auto* client : {&fresh, &used}) {
        BOOST_TEST((client->wait_end() == end_kind::closed));
        BOOST_TEST(client->rest() == "");
    }
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(a_stalled_body_is_closed_without_an_answer) {
    std::atomic<int> cut = 0;
    auto handler = [&](http::exchange& request) -> boost::asio::awaitable<void> {
        for (;;) {
            auto piece = co_await request.read_body();
            if (piece.has_error()) {
                cut += piece.error().code() == errc::body_cut;
                auto answer = text_answer("nobody reads this", 400);
                co_await request.respond(std::move(answer));
                co_return;
            }
            if (piece->empty()) co_return;
        }
    };
    running_server server(handler, hasty());
    for (std::string framing :
         {"Content-Length: 10\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "Content-Length: 10\r\n\r\n"}) {
        raw_client client(server.port());
        client.send("POST / HTTP/1.1\r\nHost: h\r\n" + framing);
        BOOST_TEST((client.wait_end() != end_kind::open));
        BOOST_TEST(client.rest() == "");
    }
    BOOST_TEST(cut == 3);
}

BOOST_AUTO_TEST_CASE(the_gateways_own_pauses_are_no_stall) {
    auto handler = [](http::exchange& request) -> boost::asio::awaitable<void> {
        auto executor = co_await boost::asio::this_coro::executor;
        auto first = co_await request.read_body();
        expect(!first.has_error());
        boost::asio::steady_timer busy(executor, milliseconds(200));
        co_await busy.async_wait(boost::asio::use_awaitable);
        co_await echo(request);
    };
    auto how = hasty();
    running_server server(handler, how);
    raw_client client(server.port());
    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n" + std::string(200000, 'x'));
    BOOST_TEST(client.answer().status == 200);
}

BOOST_AUTO_TEST_CASE(a_caller_that_does_not_read_is_given_up) {
    running_server server([](http::exchange& request) { return request.respond(text_answer(std::string(32 * 1024 * 1024, 'x'))); },
                          hasty());
    raw_client client(server.port(), 4096);
    client.send(get);
    BOOST_TEST(server.has_connections(1));
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(expect_is_answered_at_the_first_read) {
    running_server server(echo);
    raw_client client(server.port());
    const std::string head = "POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    client.send(head);
    BOOST_TEST(client.answer().status == 100);
    client.send("hello");
    BOOST_TEST(client.answer().body == "POST /p? 5\nhello");
    // A body that is there already needs no permission.
    client.send(head + "again");
    BOOST_TEST(client.answer().body == "POST /p? 5\nagain");
    // Nothing to expect.
    client.send("POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n");
    BOOST_TEST(client.answer().body == "POST /p? 0\n");
    client.send("POST /p HTTP/1.1\r\nHost: h\r\nExpect: tea\r\nContent-Length: 5\r\n\r\n");
    BOOST_TEST(client.answer().status == 417);
    BOOST_TEST((client.wait_end() == end_kind::closed));
}

BOOST_AUTO_TEST_CASE(a_refusal_comes_instead_of_100) {
    running_server server(refuse);
    raw_client client(server.port());
    client.send("POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    auto got = client.answer();
    BOOST_TEST(got.status == 413);
    BOOST_TEST(got.header("connection") == "close");
    BOOST_TEST((client.wait_end() == end_kind::closed));
}

BOOST_AUTO_TEST_CASE(a_caller_in_the_middle_of_its_upload_reads_the_refusal) {
    running_server server(refuse);
    for (bool in_chunks : {false, true}) {
        raw_client client(server.port());
        const std::size_t size = 25 * 1024 * 1024;
        std::string head =
            in_chunks ? "Transfer-Encoding: chunked\r\n\r\n1900000\r\n" : "Content-Length: " + std::to_string(size) + "\r\n\r\n";
        BOOST_TEST(client.send("POST /p HTTP/1.1\r\nHost: h\r\n" + head));
        // Sends everything before it reads, as most clients do.
        std::string block(256 * 1024, 'x');
        for (std::size_t sent = 0; sent < size; sent += block.size()) BOOST_REQUIRE(client.send(block));
        auto got = client.answer();
        BOOST_TEST(got.status == 413);
        BOOST_TEST(got.header("connection") == "close");
        BOOST_TEST(got.body == "no");
        BOOST_TEST((client.wait_end() == end_kind::closed));
    }
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(draining_a_refused_upload_is_bounded) {
    auto how = hasty();
    how.linger_bytes_max = 1024 * 1024;
    how.linger_timeout = milliseconds(200);
    running_server server(refuse, how);
    {
        raw_client client(server.port());  // By bytes.
        client.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999\r\n\r\n");
        std::string block(256 * 1024, 'x');
        std::size_t sent = 0;
        while (sent < 100 * block.size() && client.send(block)) sent += block.size();
        BOOST_TEST(sent < 100 * block.size());
    }
    raw_client client(server.port());  // By time.
    client.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999\r\n\r\n");
    BOOST_TEST(client.answer().status == 413);
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(an_upload_that_never_pauses_is_dropped_until_its_time_is_over) {
    auto how = hasty();
    how.linger_bytes_max = std::uint64_t(1) << 50;
    how.linger_timeout = milliseconds(200);
    running_server server(refuse, how);
    raw_client client(server.port());
    client.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999999999\r\n\r\n");
    BOOST_TEST(client.answer().status == 413);
    std::jthread sender([&](std::stop_token stop) {
        const std::string block(1024 * 1024, 'x');
        while (!stop.stop_requested() && client.send(block)) {
        }
    });
    // The one loop has time for others meanwhile.
    raw_client other(server.port());
    other.send("\x01");
    BOOST_TEST(other.answer().status == 400);
    other.close();
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(broken_chunks_can_be_answered_and_end_the_connection) {
    running_server server(echo);
    for (std::string body : {std::string("x\r\n0\r\n\r\n"), std::string("5\r\nhelloXX\r\n"), "1;" + std::string(40000, 'e')}) {
        raw_client client(server.port());
        client.send("POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + body + get);
        auto got = client.answer();
        BOOST_TEST(got.status == 400);
        BOOST_TEST(got.header("connection") == "close");
        client.end_sending();
        BOOST_TEST((client.wait_end() == end_kind::closed));
        BOOST_TEST(client.rest() == "");
    }
}

BOOST_AUTO_TEST_CASE(a_caller_gone_at_any_byte_leaves_nothing) {
    running_server server(echo, on_loopback(), 2);
    const std::string request =
        "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nPOST / HTTP/1.1\r\nHost: "
        "h\r\nContent-Length: 5\r\n\r\nworld";
    for (std::size_t size = 0; size <= request.size(); ++size) {
        for (int how = 0; how < 3; ++how) {
            raw_client client(server.port());
            client.send(request.substr(0, size));
            if (how == 0) client.close();
            if (how == 1) client.reset();
            if (how == 2) {
                client.end_sending();
                BOOST_TEST((client.wait_end() != end_kind::open));
            }
        }
    }
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(refusals_can_be_rendered_by_somebody_else) {
    std::mutex guard;
    std::vector<std::string> rendered;
    auto refusals = [&](const error& why, const http::request_head& head) {
        std::lock_guard hold(guard);
        rendered.push_back(std::string(entry_of(why.code()).code) + " " + head.path + " " + std::string(head.find("origin").value_or("-")));
        return text_answer("mine", why.status());
    };
    auto handler = [](http::exchange&) -> boost::asio::awaitable<void> { co_return; };
    running_server server(handler, on_loopback(), 1, refusals);
    for (std::string request : {std::string("\x01"), std::string("POST /a HTTP/1.1\r\nOrigin: o\r\n\r\n"),
                                std::string("GET /b HTTP/1.1\r\nHost: h\r\nOrigin: o\r\n\r\n")}) {
        raw_client client(server.port());
        client.send(request);
        auto got = client.answer();
        BOOST_TEST(got.body == "mine");
        BOOST_TEST(got.header("connection") == "close");
    }
    std::lock_guard hold(guard);
    BOOST_TEST(rendered == (std::vector<std::string>{"invalid_http  -", "invalid_http /a o", "internal_error /b o"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_refusal_knows_who_is_refused_and_since_when) {
    using clock = std::chrono::steady_clock;
    struct refused {
        int status;
        std::uint16_t port;
        bool loopback;
        clock::time_point began;
    };
    std::mutex guard;
    std::vector<refused> seen;
    auto refusals = [&](const error& why, const http::request_head& head) {
        std::lock_guard hold(guard);
        seen.push_back(
            {why.status(), head.peer_port, head.loopback && head.peer == boost::asio::ip::make_address("127.0.0.1"), head.began});
        return text_answer("no", why.status());
    };
    auto how = hasty();
    how.idle_timeout = milliseconds(10'000);
    running_server server(echo, how, 1, refusals);
    for (std::string wrong : {std::string("GET / HTTP/1.1\nHost: h\n\n"), std::string("GE"),
                              "GET /" + std::string(how.target_bytes_max, 'a') + " HTTP/1.1\r\n"}) {
        for (std::string before : {"", "GET / HTTP/1.1\r\nHost: h\r\n\r\n"}) {
            raw_client client(server.port());
            if (!before.empty()) {
                client.send(before);
                BOOST_TEST(client.answer().status == 200);
            }
            const auto earliest = clock::now();
            client.send(wrong);
            const auto status = client.answer().status;
            const auto latest = clock::now();
            std::lock_guard hold(guard);
            BOOST_REQUIRE(!seen.empty());
            BOOST_TEST(seen.back().status == status);
            BOOST_TEST(seen.back().port == client.port());
            BOOST_TEST(seen.back().loopback);
            BOOST_TEST((seen.back().began >= earliest && seen.back().began <= latest));
        }
    }
    std::vector<int> statuses;
    for (const auto& one : seen) statuses.push_back(one.status);
    BOOST_TEST(statuses == (std::vector<int>{400, 400, 408, 408, 431, 431}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_flood_of_pipelined_requests_gives_way) {
    running_server server(echo);
    raw_client flood(server.port());
    raw_client other(server.port());
    BOOST_TEST(server.has_connections(2));
    std::string many;
    for (int i = 0; i < 20000; ++i) many += get;
    std::thread sender([&] { flood.send(many); });
    std::thread reader([&] {
        for (int i = 0; i < 20000; ++i) expect(flood.answer().status == 200);
    });
    for (int i = 0; i < 50; ++i) {
        other.send(get);
        BOOST_TEST(other.answer().status == 200);
    }
    sender.join();
    reader.join();
}
