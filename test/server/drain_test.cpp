// Ending in good order, from every phase a connection can be in.
#define BOOST_TEST_MODULE server_drain
#include <server/running_server.hpp>
#include <support/raw_client.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace hearonce;
using namespace hearonce::test;
using end_kind = raw_client::end_kind;
using namespace std::chrono_literals;

namespace {

const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

bool ends(std::future<void>& drained, std::chrono::milliseconds limit = 10s) {
    return drained.wait_for(limit) == std::future_status::ready;
}

// Waits at the gate, then reads the body and answers.
http::handler behind(gate& door) {
    return [&door](http::exchange& request) -> boost::asio::awaitable<void> {
        co_await door.pass();
        co_await echo(request);
    };
}

void is_draining(const raw_answer& got) {
    BOOST_TEST(got.status == 503);
    BOOST_TEST(got.body.find("\"draining\"") != std::string::npos);
    BOOST_TEST(got.header("connection") == "close");
    BOOST_TEST(!got.header("retry-after").empty());
}

}  // namespace

BOOST_AUTO_TEST_CASE(nothing_open) {
    running_server server(echo, on_loopback(), 2);
    auto port = server.port();
    BOOST_TEST(!server.get().draining());
    auto drained = server.drain(10s);
    BOOST_TEST(server.get().draining());
    BOOST_TEST(ends(drained));
    BOOST_CHECK_THROW(raw_client{port}, std::runtime_error);
    server.finish();
}

BOOST_AUTO_TEST_CASE(idle_connections_end_at_once) {
    running_server server(echo, on_loopback(), 2);
    raw_client used(server.port());
    raw_client other(server.port());
    for (auto* client : {&used, &other}) {
        client->send(get);
        BOOST_TEST(client->answer().status == 200);
    }
    auto began = std::chrono::steady_clock::now();
    auto drained = server.drain(60s);
    BOOST_TEST(ends(drained));
    BOOST_TEST((std::chrono::steady_clock::now() - began < 900ms));
    for (auto* client : {&used, &other}) BOOST_TEST((client->wait_end() == end_kind::closed));
    server.finish();
}

BOOST_AUTO_TEST_CASE(a_fresh_connection_has_a_moment_to_ask) {
    running_server server(echo);
    raw_client silent(server.port());
    raw_client asking(server.port());
    BOOST_TEST(server.has_connections(2));
    auto drained = server.drain(60s);
    asking.send(get);
    is_draining(asking.answer());
    BOOST_TEST(ends(drained));
    BOOST_TEST((silent.wait_end() == end_kind::closed));
    BOOST_TEST(silent.rest() == "");
}

BOOST_AUTO_TEST_CASE(requests_begun_before_are_served_and_close) {
    gate door;
    running_server server(behind(door), on_loopback(), 2);
    raw_client client(server.port());
    client.send("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe");
    BOOST_TEST(door.has_entered(1));
    auto drained = server.drain(60s);
    BOOST_TEST(!ends(drained, 50ms));
    door.open();
    client.send("llo" + get);
    auto got = client.answer();
    BOOST_TEST(got.body == "POST /p? 5\nhello");
    BOOST_TEST(got.header("connection") == "close");
    BOOST_TEST((client.wait_end() == end_kind::closed));
    client.close();
    BOOST_TEST(ends(drained));
    server.finish();
}

BOOST_AUTO_TEST_CASE(who_comes_later_is_told_instead_of_finding_nobody) {
    gate door;
    running_server server(behind(door), on_loopback(), 2);
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(door.has_entered(1));
    auto drained = server.drain(60s);
    std::vector<std::unique_ptr<raw_client>> silent;
    for (int i = 0; i < 10; ++i) {
        for (std::string request : {get, std::string("GET /health/ready HTTP/1.1\r\nHost: h\r\n\r\n")}) {
            raw_client later(server.port());
            later.send(request);
            is_draining(later.answer());
            BOOST_TEST((later.wait_end() == end_kind::closed));
        }
        silent.push_back(std::make_unique<raw_client>(server.port()));
    }
    BOOST_TEST(!ends(drained, 0ms));
    door.open();
    BOOST_TEST(client.answer().status == 200);
    client.close();
    // Who never asks holds nothing up for long.
    BOOST_TEST(ends(drained, 5s));
    for (auto& one : silent) BOOST_TEST((one->wait_end() == end_kind::closed));
    BOOST_CHECK_THROW(raw_client{server.port()}, std::runtime_error);
    server.finish();
}

BOOST_AUTO_TEST_CASE(a_kept_connection_is_told_too_and_then_closed) {
    gate door;
    auto handler = [&](http::exchange& request) -> boost::asio::awaitable<void> {
        if (request.head().path == "/gate") co_await door.pass();
        co_await echo(request);
    };
    running_server server(handler);
    raw_client busy(server.port());
    raw_client kept(server.port());
    raw_client silent(server.port());
    for (auto* one : {&kept, &silent}) {
        one->send(get);
        BOOST_TEST(one->answer().status == 200);
    }
    busy.send("GET /gate HTTP/1.1\r\nHost: h\r\n\r\n");
    BOOST_TEST(door.has_entered(1));
    auto began = std::chrono::steady_clock::now();
    auto drained = server.drain(60s);
    server.turn();
    BOOST_TEST(!silent.anything(0ms));  // Not closed under the hands of who is about to ask.
    kept.send(get);
    is_draining(kept.answer());
    BOOST_TEST((kept.wait_end() == end_kind::closed));
    BOOST_TEST((silent.wait_end(5s) == end_kind::closed));
    BOOST_TEST((std::chrono::steady_clock::now() - began > 900ms));
    BOOST_TEST(!ends(drained, 0ms));
    door.open();
    BOOST_TEST(busy.answer().status == 200);
    BOOST_TEST(ends(drained));
}

BOOST_AUTO_TEST_CASE(a_late_head_that_does_not_end_holds_nothing_up) {
    gate door;
    running_server server(behind(door), on_loopback(), 2);
    raw_client busy(server.port());
    busy.send(get);
    BOOST_TEST(door.has_entered(1));
    auto drained = server.drain(60s);
    raw_client slow(server.port());
    slow.send("GET / HT");
    raw_client uploading(server.port());
    uploading.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\n\r\nabc");
    is_draining(uploading.answer());
    door.open();
    BOOST_TEST(busy.answer().status == 200);
    BOOST_TEST(ends(drained, 8s));
    BOOST_TEST((slow.wait_end() != end_kind::open));
    BOOST_TEST((uploading.wait_end() != end_kind::open));
    server.finish();
}

BOOST_AUTO_TEST_CASE(the_limit_ends_the_last_call_as_well) {
    running_server server(echo);
    raw_client silent(server.port());
    BOOST_TEST(server.has_connections(1));
    auto began = std::chrono::steady_clock::now();
    auto drained = server.drain(60s);
    server.turn();
    auto at_once = server.drain(0ms);
    BOOST_TEST(ends(at_once));
    BOOST_TEST(ends(drained));
    BOOST_TEST((std::chrono::steady_clock::now() - began < 900ms));
    BOOST_TEST((silent.wait_end() != end_kind::open));
}

BOOST_AUTO_TEST_CASE(late_callers_beyond_the_limit_of_connections_are_told_at_once) {
    gate door;
    auto how = on_loopback();
    how.connections_max = 1;
    running_server server(behind(door), how);
    raw_client busy(server.port());
    busy.send(get);
    BOOST_TEST(door.has_entered(1));
    raw_client waiting(server.port());  // Held up by the limit until the drain begins.
    waiting.send(get);
    BOOST_TEST(!waiting.anything(50ms));
    std::vector<std::unique_ptr<raw_client>> silent;
    auto drained = server.drain(60s);
    is_draining(waiting.answer());
    waiting.close();
    // The places for them are counted too: one more than those waits, until one ends.
    for (int i = 0; i < 64; ++i) silent.push_back(std::make_unique<raw_client>(server.port()));
    BOOST_TEST(server.has_connections(65));
    raw_client last(server.port());
    last.send(get);
    is_draining(last.answer());
    BOOST_TEST(!ends(drained, 0ms));
    door.open();
    BOOST_TEST(busy.answer().status == 200);
    for (auto& one : silent) one->close();
    last.close();
    BOOST_TEST(ends(drained));
}

BOOST_AUTO_TEST_CASE(a_head_begun_before_is_served) {
    running_server server(echo);
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(client.answer().status == 200);
    client.send("GET / HT");
    raw_client after(server.port());  // Accepted later, so the bytes above have been read when it has been answered.
    after.send(get);
    BOOST_TEST(after.answer().status == 200);
    auto drained = server.drain(60s);
    client.send("TP/1.1\r\nHost: h\r\n\r\n");
    auto got = client.answer();
    BOOST_TEST(got.status == 200);
    BOOST_TEST(got.header("connection") == "close");
    BOOST_TEST(ends(drained));
}

BOOST_AUTO_TEST_CASE(who_was_in_the_accept_queue_is_answered) {
    // The only loop is held, so that these connections can only be in the kernel's queue when the drain begins.
    running_server server(echo);
    auto port = server.port();
    std::promise<void> hold;
    boost::asio::post(server.context(), [&] { hold.get_future().wait(); });
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < 20; ++i) {
        clients.push_back(std::make_unique<raw_client>(port));
        clients.back()->send(get);
    }
    auto drained = server.drain(60s);
    hold.set_value();
    for (auto& client : clients) is_draining(client->answer());
    for (auto& client : clients) client->close();
    BOOST_TEST(ends(drained));
    server.finish();
}

BOOST_AUTO_TEST_CASE(a_refused_upload_in_the_drain_is_read_to_its_answer) {
    running_server server(echo);
    raw_client client(server.port());
    BOOST_TEST(server.has_connections(1));
    auto drained = server.drain(60s);
    BOOST_TEST(client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8388608\r\n\r\n"));
    BOOST_TEST(client.send(std::string(8388608, 'x')));
    is_draining(client.answer());
    client.close();
    BOOST_TEST(ends(drained));
}

BOOST_AUTO_TEST_CASE(an_answer_that_ends_after_the_drain_began_closes_its_connection) {
    gate door;
    auto handler = [&](http::exchange& request) -> boost::asio::awaitable<void> {
        auto answer = text_answer("ok");
        co_await request.respond(std::move(answer));  // Said to keep the connection.
        co_await door.pass();
    };
    running_server server(handler);
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(client.answer().status == 200);
    BOOST_TEST(door.has_entered(1));
    auto drained = server.drain(60s);
    door.open();
    BOOST_TEST((client.wait_end() == end_kind::closed));
    BOOST_TEST(ends(drained));
}

BOOST_AUTO_TEST_CASE(the_limit_closes_what_is_left_and_cancels_its_handler) {
    std::atomic<int> left = 0;
    std::atomic<int> cancelled = 0;
    gate door;
    auto handler = [&](http::exchange& request) -> boost::asio::awaitable<void> {
        request.on_left([&] { ++left; });
        auto executor = co_await boost::asio::this_coro::executor;
        boost::asio::steady_timer forever(executor, boost::asio::steady_timer::time_point::max());
        if (request.head().path == "/") {
            door.open();
            co_await door.pass();
        }
        try {
            co_await forever.async_wait(boost::asio::use_awaitable);
        } catch (const boost::system::system_error&) {
            ++cancelled;
            throw;
        }
    };
    running_server server(handler, on_loopback(), 2);
    raw_client one(server.port());
    raw_client two(server.port());
    one.send(get);
    two.send(get);
    BOOST_TEST(door.has_entered(2));
    auto drained = server.drain(50ms);
    BOOST_TEST(ends(drained));
    BOOST_TEST(left == 2);
    BOOST_TEST(cancelled == 2);
    BOOST_TEST((one.wait_end() != end_kind::open));
    server.finish();
}

BOOST_AUTO_TEST_CASE(a_second_call_ends_everything) {
    gate door;
    running_server server(behind(door), on_loopback(), 2);
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(door.has_entered(1));
    auto patient = server.drain(3600s);
    BOOST_TEST(!ends(patient, 20ms));
    auto at_once = server.drain(0ms);
    BOOST_TEST(ends(at_once));
    BOOST_TEST(ends(patient));
    BOOST_TEST((client.wait_end() != end_kind::open));
    auto again = server.drain(0ms);
    BOOST_TEST(ends(again));
    door.open();
    server.finish();
}

BOOST_AUTO_TEST_CASE(every_phase_closed_hard) {
    gate door;
    auto how = on_loopback();
    auto handler = [&](http::exchange& request) -> boost::asio::awaitable<void> {
        if (request.head().path == "/gate") co_await door.pass();
        if (request.head().path == "/refuse") {
            auto no = text_answer("no", 413);
            co_await request.respond(std::move(no));
            co_return;
        }
        if (request.head().path == "/large") {
            auto large = text_answer(std::string(32 * 1024 * 1024, 'x'));
            co_await request.respond(std::move(large));
            co_return;
        }
        co_await echo(request);
    };
    for (int round = 0; round < 5; ++round) {
        running_server server(handler, how, 2);
        auto port = server.port();
        std::vector<std::unique_ptr<raw_client>> clients;
        for (std::string bytes :
             {std::string(), std::string("GE"), get, std::string("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nab"),
              std::string("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
              std::string("GET /gate HTTP/1.1\r\nHost: h\r\n\r\n"), std::string("GET /large HTTP/1.1\r\nHost: h\r\n\r\n"),
              std::string("POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nab")}) {
            clients.push_back(std::make_unique<raw_client>(port, 4096));
            clients.back()->send(bytes);
        }
        if (round > 0) BOOST_TEST(door.has_entered(static_cast<std::size_t>(round)));
        auto drained = server.drain(0ms);
        BOOST_TEST(ends(drained));
        server.finish();
    }
}

BOOST_AUTO_TEST_CASE(a_handler_that_will_not_end_does_not_hold_the_drain) {
    std::atomic<bool> stuck = false;
    auto done = std::make_shared<gate>();
    auto handler = [&](http::exchange&) -> boost::asio::awaitable<void> {
        stuck = true;
        co_await boost::asio::this_coro::throw_if_cancelled(false);
        co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
        co_await done->pass();
    };
    running_server server(handler);
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(done->has_entered(1));
    auto drained = server.drain(0ms);
    BOOST_TEST(ends(drained));
    BOOST_TEST(server.get().connections() == 1U);
    done->open();
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(a_server_that_never_started_and_one_never_drained) {
    boost::asio::io_context context(1);
    std::vector<boost::asio::io_context*> loops{&context};
    std::uint16_t port = 0;
    {
        server::server one(on_loopback(), loops, echo);
        port = one.local_endpoints().front().port();
        one.start();
        context.poll();
        context.restart();
    }
    context.run_for(10s);
    BOOST_TEST(context.stopped());
    BOOST_CHECK_THROW(raw_client{port}, std::runtime_error);
}

BOOST_AUTO_TEST_CASE(connections_that_come_and_go_while_it_drains) {
    for (int round = 0; round < 20; ++round) {
        running_server server(echo, on_loopback(), 2);
        auto port = server.port();
        std::atomic<bool> over = false;
        std::vector<std::thread> callers;
        for (int i = 0; i < 3; ++i) {
            callers.emplace_back([&] {
                while (!over) {
                    try {
                        raw_client client(port);
                        for (int k = 0; k < 3; ++k) {
                            if (!client.send(get)) break;
                            auto status = client.answer().status;
                            // Served, refused, or ended between two requests; never half an answer.
                            expect(status == 200 || status == 503 || status == 0);
                            if (status != 200) break;
                        }
                    } catch (const std::runtime_error&) {
                        return;  // The listener has closed.
                    }
                }
            });
        }
        while (server.get().accepted_total() < 20) std::this_thread::yield();
        auto drained = server.drain(60s);
        BOOST_TEST(ends(drained, 20s));
        over = true;
        for (auto& one : callers) one.join();
        server.finish();
    }
}
