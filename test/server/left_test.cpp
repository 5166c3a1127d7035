// Noticing that a caller has left while its handler waits, without ever taking the next request for it.
#define BOOST_TEST_MODULE server_left
#include <server/running_server.hpp>
#include <support/raw_client.hpp>

#include <atomic>

using namespace hearonce;
using namespace hearonce::test;
using end_kind = raw_client::end_kind;
using std::chrono::milliseconds;

namespace {

const std::string get = "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n";

// Handlers that wait at a gate for `/wait`, and count callers that leave; the leaving opens the gate.
struct waiting_room {
    boost::asio::awaitable<void> operator()(http::exchange& request) {
        auto body = co_await request.read_body();
        while (body.has_value() && !body->empty()) body = co_await request.read_body();
        if (request.head().path == "/wait") {
            request.on_left([this] {
                ++left;
                door.open();
            });
            ++waiting;
            co_await door.pass();
        }
        auto answer = text_answer(request.head().path);
        co_await request.respond(std::move(answer));
    }
    gate door;
    std::atomic<int> left = 0;
    std::atomic<int> waiting = 0;
};

bool becomes(const std::atomic<int>& value, int wanted, milliseconds limit = milliseconds(10'000)) {
    auto until = std::chrono::steady_clock::now() + limit;
    while (value != wanted) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::yield();
    }
    return true;
}

}  // namespace

BOOST_AUTO_TEST_CASE(close_reset_and_half_close_are_leaving) {
    for (int how = 0; how < 3; ++how) {
        for (std::string body : {"", "hello"}) {
            waiting_room room;
            running_server server(std::ref(room));
            raw_client client(server.port());
            client.send("POST /wait HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
            BOOST_TEST(room.door.has_entered(1));
            BOOST_TEST(room.left == 0);
            if (how == 0) client.close();
            if (how == 1) client.reset();
            if (how == 2) client.end_sending();
            BOOST_TEST(becomes(room.left, 1));
            BOOST_TEST(server.has_connections(0));
            BOOST_TEST(room.left == 1);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_half_closed_caller_that_was_noticed_is_still_answered) {
    waiting_room room;
    running_server server(std::ref(room));
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(room.door.has_entered(1));
    client.end_sending();
    BOOST_TEST(client.answer().body == "/wait");
    BOOST_TEST((client.wait_end() == end_kind::closed));
}

BOOST_AUTO_TEST_CASE(left_before_it_was_asked) {
    gate before;
    waiting_room room;
    auto handler = [&](http::exchange& request) -> boost::asio::awaitable<void> {
        co_await before.pass();
        co_await room(request);
    };
    running_server server(handler);
    {
        raw_client client(server.port());
        client.send(get);
        BOOST_TEST(before.has_entered(1));
    }
    before.open();
    BOOST_TEST(becomes(room.left, 1));
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(pipelined_bytes_are_not_leaving_and_not_lost) {
    const std::string more = "GET /second HTTP/1.1\r\nHost: h\r\n\r\nPOST /third HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";
    for (std::size_t cut = 0; cut <= more.size(); ++cut) {
        waiting_room room;
        running_server server(std::ref(room));
        raw_client client(server.port());
        client.send(get + more.substr(0, cut / 2));
        BOOST_TEST(room.door.has_entered(1));
        client.send(more.substr(cut / 2, cut - cut / 2));
        if (cut % 2 == 0) server.turn();
        client.send(more.substr(cut));
        BOOST_TEST(!client.anything(milliseconds(0)));
        BOOST_TEST(room.left == 0);
        room.door.open();
        for (std::string path : {"/wait", "/second", "/third"}) BOOST_TEST(client.answer().body == path);
        BOOST_TEST(room.left == 0);
    }
}

BOOST_AUTO_TEST_CASE(leaving_after_pipelined_bytes_is_noticed) {
    waiting_room room;
    running_server server(std::ref(room));
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(room.door.has_entered(1));
    client.send("GET /second HTTP/1.1\r\nHost: h\r\n\r\n");
    client.reset();
    BOOST_TEST(becomes(room.left, 1));
}

BOOST_AUTO_TEST_CASE(pipelined_bytes_are_bounded_while_the_handler_waits) {
    waiting_room room;
    auto how = on_loopback();
    how.pipelined_bytes_max = 1024;
    running_server server(std::ref(room), how);
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(room.door.has_entered(1));
    // Far more than the kernel holds: what the server does not read cannot be sent.
    std::string next = "POST /big HTTP/1.1\r\nHost: h\r\nContent-Length: 33554432\r\n\r\n";
    client.send(next);
    std::string block(64 * 1024, 'x');
    std::size_t sent = 0;
    for (;;) {
        auto some = ::send(client.descriptor(), block.data(), std::min(block.size(), 33554432 - sent), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (some > 0) {
            sent += static_cast<std::size_t>(some);
            continue;
        }
        pollfd one{client.descriptor(), POLLOUT, 0};
        if (::poll(&one, 1, 200) == 0) break;
    }
    BOOST_TEST(sent < 33554432U);
    BOOST_TEST(room.left == 0);
    room.door.open();
    BOOST_TEST(client.answer().body == "/wait");
    while (sent < 33554432U) {
        auto size = std::min(block.size(), 33554432 - sent);
        BOOST_REQUIRE(client.send(std::string_view(block).substr(0, size)));
        sent += size;
    }
    BOOST_TEST(client.answer().body == "/big");
}

BOOST_AUTO_TEST_CASE(nothing_is_called_after_the_answer) {
    std::atomic<int> left = 0;
    gate door;
    auto handler = [&](http::exchange& request) -> boost::asio::awaitable<void> {
        request.on_left([&] { ++left; });
        if (request.head().path == "/taken-back") request.on_left({});
        auto answer = text_answer("ok");
        if (request.head().path == "/answered") co_await request.respond(std::move(answer));
        co_await door.pass();
        if (request.head().path == "/answered") co_return;
        auto late = text_answer("ok");
        co_await request.respond(std::move(late));
    };
    running_server server(handler);
    std::size_t entered = 0;
    for (std::string path : {"/answered", "/taken-back"}) {
        raw_client client(server.port());
        client.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n");
        BOOST_TEST(door.has_entered(++entered));
        client.reset();
        server.turn();
    }
    door.open();
    BOOST_TEST(server.has_connections(0));
    BOOST_TEST(left == 0);
}

BOOST_AUTO_TEST_CASE(watch_and_requests_alternate_on_one_connection) {
    // The wait that the watch began is the one the next head is read with.
    running_server server([](http::exchange& request) -> boost::asio::awaitable<void> {
        request.on_left([] { expect(false); });
        auto answer = text_answer(request.head().path);
        co_await request.respond(std::move(answer));
    });
    raw_client client(server.port());
    for (int i = 0; i < 200; ++i) {
        auto path = "/" + std::to_string(i);
        client.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n");
        BOOST_REQUIRE(client.answer().body == path);
    }
    BOOST_TEST(server.get().accepted_total() == 1U);
}

BOOST_AUTO_TEST_CASE(a_stalled_body_behind_a_watched_request_is_cut) {
    waiting_room room;
    auto how = on_loopback();
    how.upload_stall_timeout = milliseconds(50);
    running_server server(std::ref(room), how);
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(room.door.has_entered(1));
    room.door.open();
    BOOST_TEST(client.answer().status == 200);
    client.send("POST /next HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe");
    BOOST_TEST((client.wait_end() != end_kind::open));
    BOOST_TEST(client.rest() == "");
}

BOOST_AUTO_TEST_CASE(leaving_a_stream_is_noticed) {
    std::atomic<int> left = 0;
    gate door;
    auto stream = [&](http::exchange& request) -> boost::asio::awaitable<void> {
        http::response head;
        auto begun = co_await request.begin(std::move(head));
        expect(!begun.has_error());
        request.on_left([&] {
            ++left;
            door.open();
        });
        co_await door.pass();
        std::string piece = "late";
        auto sent = co_await request.send(std::move(piece));
        expect(sent.has_error());
        expect(sent.error().code() == errc::caller_left);
    };
    running_server server(stream);
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(door.has_entered(1));
    client.close();
    BOOST_TEST(becomes(left, 1));
    BOOST_TEST(server.has_connections(0));
}
