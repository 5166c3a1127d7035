// What every client does: requests, answers, keep-alive, pipelining, bodies, HEAD, HTTP/1.0.
#define BOOST_TEST_MODULE server_basics
#include <server/running_server.hpp>
#include <support/raw_client.hpp>

#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace hearonce;
using namespace hearonce::test;
using std::chrono::milliseconds;

namespace {

const std::string get = "GET /x?y=1 HTTP/1.1\r\nHost: h\r\n\r\n";
std::string post(std::string_view body) {
    return "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}
const std::string chunked =
    "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;ext=1\r\n, world\r\n0\r\nTrailer: dropped\r\n\r\n";

}  // namespace

BOOST_AUTO_TEST_CASE(answers_with_the_servers_headers) {
    running_server server(echo);
    raw_client client(server.port());
    client.send(get);
    auto got = client.answer();
    BOOST_TEST(got.status == 200);
    BOOST_TEST(got.body == "GET /x?y=1 0\n");
    BOOST_TEST(got.header("content-length") == "13");
    BOOST_TEST(got.header("content-type") == "text/plain");
    BOOST_TEST(got.header("date").size() == 29U);
    BOOST_TEST(got.header("date").ends_with(" GMT"));
    BOOST_TEST(got.header("x-request-id").size() == 32U);
    BOOST_TEST(!got.has("connection"));
}

BOOST_AUTO_TEST_CASE(keeps_the_connection_and_makes_each_request_its_own_id) {
    running_server server(echo);
    raw_client client(server.port());
    std::string last;
    for (int i = 0; i < 5; ++i) {
        client.send(post("body"));
        auto got = client.answer();
        BOOST_TEST(got.body == "POST /p? 4\nbody");
        BOOST_TEST(got.header("x-request-id") != last);
        last = got.header("x-request-id");
    }
    BOOST_TEST(server.get().accepted_total() == 1U);
}

BOOST_AUTO_TEST_CASE(reads_chunks_and_drops_trailers) {
    running_server server(echo);
    raw_client client(server.port());
    client.send(chunked + get);
    BOOST_TEST(client.answer().body == "POST /p? 12\nhello, world");
    BOOST_TEST(client.answer().body == "GET /x?y=1 0\n");
}

BOOST_AUTO_TEST_CASE(pipelined_requests_split_at_every_byte) {
    running_server server(echo);
    auto all = get + post("hello") + chunked + get;
    for (std::size_t cut = 1; cut < all.size(); ++cut) {
        raw_client client(server.port());
        client.send(all.substr(0, cut));
        if (cut % 8 == 0) std::this_thread::sleep_for(milliseconds(1));  // Either order must do; this makes both happen.
        client.send(all.substr(cut));
        BOOST_TEST_CONTEXT("cut at " << cut) {
            BOOST_TEST(client.answer().body == "GET /x?y=1 0\n");
            BOOST_TEST(client.answer().body == "POST /p? 5\nhello");
            BOOST_TEST(client.answer().body == "POST /p? 12\nhello, world");
            BOOST_TEST(client.answer().body == "GET /x?y=1 0\n");
        }
    }
}

BOOST_AUTO_TEST_CASE(three_requests_in_one_packet) {
    running_server server(echo);
    raw_client client(server.port());
    client.send(post("one") + post("two") + post("three"));
    for (std::string word : {"one", "two", "three"})
        BOOST_TEST(client.answer().body == "POST /p? " + std::to_string(word.size()) + "\n" + word);
}

BOOST_AUTO_TEST_CASE(blank_lines_before_a_request_are_skipped) {
    running_server server(echo);
    raw_client client(server.port());
    client.send("\r\n\r\n" + get + "\r\n");
    BOOST_TEST(client.answer().status == 200);
    client.send("\r");
    client.send("\n" + get);
    BOOST_TEST(client.answer().status == 200);
}

BOOST_AUTO_TEST_CASE(head_has_the_length_and_no_body) {
    running_server server(echo);
    raw_client client(server.port());
    client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n" + get);
    auto got = client.answer(true);
    BOOST_TEST(got.header("content-length") == "11");
    BOOST_TEST(client.answer().body == "GET /x?y=1 0\n");  // Nothing of a body lies between.
}

BOOST_AUTO_TEST_CASE(http_1_0) {
    running_server server(echo);
    {
        raw_client client(server.port());
        client.send("GET / HTTP/1.0\r\n\r\n");
        auto got = client.answer();
        BOOST_TEST(got.status == 200);
        BOOST_TEST(got.header("connection") == "close");
        BOOST_TEST((client.wait_end() == raw_client::end_kind::closed));
    }
    raw_client client(server.port());
    for (int i = 0; i < 2; ++i) {
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        BOOST_TEST(client.answer().header("connection") == "keep-alive");
    }
}

BOOST_AUTO_TEST_CASE(close_is_kept_to) {
    running_server server(echo);
    raw_client client(server.port());
    client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    BOOST_TEST(client.answer().header("connection") == "close");
    BOOST_TEST((client.wait_end() == raw_client::end_kind::closed));
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(the_handlers_close_is_kept_to) {
    running_server server([](http::exchange& request) -> boost::asio::awaitable<void> {
        auto answer = text_answer("bye");
        answer.close = true;
        co_await request.respond(std::move(answer));
    });
    raw_client client(server.port());
    client.send(get + get);  // The second one goes unanswered, and does not turn the end into a reset.
    BOOST_TEST(client.answer().header("connection") == "close");
    BOOST_TEST((client.wait_end() == raw_client::end_kind::closed));
    BOOST_TEST(client.rest() == "");
}

BOOST_AUTO_TEST_CASE(a_half_closed_caller_is_answered) {
    running_server server(echo);
    raw_client client(server.port());
    client.send(post("hello"));
    client.end_sending();
    BOOST_TEST(client.answer().body == "POST /p? 5\nhello");
    BOOST_TEST((client.wait_end() == raw_client::end_kind::closed));
}

BOOST_AUTO_TEST_CASE(answers_without_a_body) {
    for (int status : {204, 304}) {
        running_server server(
            [status](http::exchange& request) { return request.respond(text_answer("never sent", static_cast<std::uint16_t>(status))); });
        raw_client client(server.port());
        client.send(get + get);
        auto got = client.answer();
        BOOST_TEST(got.status == status);
        BOOST_TEST(!got.has("content-length"));
        BOOST_TEST(client.answer().status == status);
    }
}

BOOST_AUTO_TEST_CASE(the_callers_request_id_is_echoed_or_replaced) {
    running_server server(echo);
    raw_client client(server.port());
    auto id_for = [&](const std::string& headers) {
        client.send("GET / HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n");
        return client.answer().header("x-request-id");
    };
    BOOST_TEST(id_for("X-Request-Id: mine\r\n") == "mine");
    BOOST_TEST(id_for("X-Bolo-Request-Id: phone\r\n") == "phone");
    BOOST_TEST(id_for("X-Request-Id: " + std::string(129, 'x') + "\r\n").size() == 32U);
    BOOST_TEST(id_for("X-Request-Id: \xff\r\n").size() == 32U);
}

BOOST_AUTO_TEST_CASE(a_large_answer_to_a_slow_reader_arrives_whole) {
    auto large = std::make_shared<const std::string>(8 * 1024 * 1024, 'x');
    running_server server([large](http::exchange& request) {
        http::response answer;
        answer.body = large;
        return request.respond(std::move(answer));
    });
    raw_client client(server.port(), 4096);
    client.send(get + get);
    BOOST_TEST((client.answer(false, milliseconds(30'000)).body == *large));
    BOOST_TEST((client.answer(false, milliseconds(30'000)).body == *large));
}

BOOST_AUTO_TEST_CASE(a_large_body_arrives_whole_and_in_order) {
    std::string body(5 * 1024 * 1024 + 17, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 2654435761U >> 13);
    running_server server(echo);
    for (bool in_chunks : {false, true}) {
        raw_client client(server.port());
        std::thread sender([&] {
            if (!in_chunks) {
                client.send(post(body));
                return;
            }
            client.send("POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (std::size_t at = 0, size = 1; at < body.size(); at += size, size = size * 7 % 131071 + 1) {
                auto piece = body.substr(at, size);
                char line[32];
                std::snprintf(line, sizeof line, "%zx\r\n", piece.size());
                client.send(line + piece + "\r\n");
            }
            client.send("0\r\n\r\n");
        });
        auto got = client.answer(false, milliseconds(30'000));
        sender.join();
        BOOST_TEST((got.body == "POST /p? " + std::to_string(body.size()) + "\n" + body));
    }
}

BOOST_AUTO_TEST_CASE(requests_spread_over_the_loops) {
    std::mutex guard;
    std::set<std::thread::id> seen;
    auto note = [&](http::exchange& request) -> boost::asio::awaitable<void> {
        {
            std::lock_guard hold(guard);
            seen.insert(std::this_thread::get_id());
        }
        auto answer = text_answer("ok");
        co_await request.respond(std::move(answer));
    };
    running_server server(note, on_loopback(), 3);
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < 6; ++i) {
        auto& client = *clients.emplace_back(std::make_unique<raw_client>(server.port()));
        client.send(get);
        BOOST_TEST(client.answer().status == 200);
    }
    BOOST_TEST(seen.size() == 3U);
    BOOST_TEST(server.get().connections() == 6U);
}

BOOST_AUTO_TEST_CASE(an_answer_in_pieces) {
    auto stream = [](http::exchange& request) -> boost::asio::awaitable<void> {
        http::response head;
        head.headers.push_back({"Content-Type", "text/event-stream"});
        auto begun = co_await request.begin(std::move(head));
        expect(!begun.has_error());
        for (std::string piece : {"data: one\n\n", "", "data: two\n\n"}) {
            auto sent = co_await request.send(std::move(piece));
            expect(!sent.has_error());
        }
        auto done = co_await request.finish();
        expect(!done.has_error());
    };
    running_server server(stream);
    raw_client client(server.port());
    client.send(get + get + "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + "GET / HTTP/1.0\r\n\r\n");
    for (int i = 0; i < 2; ++i) {
        auto got = client.answer();
        BOOST_TEST(got.header("transfer-encoding") == "chunked");
        BOOST_TEST(got.complete);
        BOOST_TEST(got.body == "data: one\n\ndata: two\n\n");
    }
    BOOST_TEST(client.answer(true).status == 200);
    auto old = client.answer();
    BOOST_TEST(!old.has("transfer-encoding"));
    BOOST_TEST(old.body == "data: one\n\ndata: two\n\n");
    BOOST_TEST(old.complete);
}

BOOST_AUTO_TEST_CASE(a_cut_answer_does_not_pass_for_a_whole_one) {
    for (bool throws : {false, true}) {
        auto stream = [throws](http::exchange& request) -> boost::asio::awaitable<void> {
            http::response head;
            auto begun = co_await request.begin(std::move(head));
            expect(!begun.has_error());
            std::string piece = "half";
            auto sent = co_await request.send(std::move(piece));
            expect(!sent.has_error());
            if (throws) throw std::runtime_error("in the middle");
        };
        running_server server(stream);
        raw_client client(server.port());
        client.send(get);
        auto got = client.answer();
        BOOST_TEST(got.body == "half");
        BOOST_TEST(!got.complete);
        BOOST_TEST(server.has_connections(0));
    }
}

BOOST_AUTO_TEST_CASE(a_handler_that_fails_ends_one_request_alone) {
    auto handler = [](http::exchange& request) -> boost::asio::awaitable<void> {
        if (request.head().path == "/throw") throw std::runtime_error("secret detail");
        if (request.head().path == "/odd") throw 42;
        if (request.head().path == "/abort") request.abort();
        if (request.head().path != "/fine") co_return;
        auto answer = text_answer("fine");
        co_await request.respond(std::move(answer));
    };
    running_server server(handler);
    raw_client other(server.port());
    for (std::string path : {"/throw", "/odd", "/silent"}) {
        raw_client client(server.port());
        client.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n");
        auto got = client.answer();
        BOOST_TEST(got.status == 500);
        BOOST_TEST(got.header("content-type").starts_with("application/json"));
        BOOST_TEST(got.body.find("\"internal_error\"") != std::string::npos);
        BOOST_TEST(got.body.find("secret") == std::string::npos);
        BOOST_TEST(got.header("connection") == "close");
        BOOST_TEST((client.wait_end() == raw_client::end_kind::closed));
    }
    raw_client client(server.port());
    client.send("GET /abort HTTP/1.1\r\nHost: h\r\n\r\n");
    BOOST_TEST((client.wait_end() != raw_client::end_kind::open));
    BOOST_TEST(client.rest() == "");
    other.send("GET /fine HTTP/1.1\r\nHost: h\r\n\r\n");
    BOOST_TEST(other.answer().body == "fine");
}
