// A real server on loopback with its own threads, for one test case. It must end by itself: the destructor drains it and waits
// until the loops have run out of work, so a leftover coroutine, timer or connection hangs the test instead of hiding.
//
// Holds: expect(), running_server, gate, echo().
#pragma once

#include <server/server.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hearonce::test {

inline server::settings on_loopback() {
    server::settings how;
    how.listen = {{boost::asio::ip::make_address("127.0.0.1"), 0}};
    return how;
}

// What a handler expects: Boost.Test may only be used by the test's own thread, so it is counted and told at the end.
inline std::atomic<int> expectations_missed = 0;
inline void expect(bool holds) {
    expectations_missed += holds ? 0 : 1;
}

class running_server {
public:
    explicit running_server(http::handler handler, server::settings how = on_loopback(), std::size_t loops = 1,
                            server::refusal_renderer refusals = {}) {
        for (std::size_t i = 0; i < loops; ++i) contexts_.push_back(std::make_unique<boost::asio::io_context>(1));
        std::vector<boost::asio::io_context*> all;
        for (auto& one : contexts_) all.push_back(one.get());
        server_ = std::make_unique<server::server>(std::move(how), all, std::move(handler), std::move(refusals));
        server_->start();
        for (auto& one : contexts_) {
            guards_.push_back(boost::asio::make_work_guard(*one));
            threads_.emplace_back([context = one.get()] { context->run(); });
        }
    }
    ~running_server() {
        drain(std::chrono::milliseconds(0)).wait();
        finish();
    }

    // Lets the loops end by themselves and waits for it. Nothing may be left.
    void finish() {
        guards_.clear();
        for (auto& one : threads_) {
            if (one.joinable()) one.join();
        }
        if (server_) BOOST_TEST(server_->connections() == 0U);
        BOOST_TEST(expectations_missed.exchange(0) == 0);
        server_.reset();
    }

    std::uint16_t port() const { return server_->local_endpoints().front().port(); }
    server::server& get() { return *server_; }
    boost::asio::io_context& context(std::size_t index = 0) { return *contexts_[index]; }

    std::future<void> drain(std::chrono::milliseconds limit) {
        auto done = std::make_shared<std::promise<void>>();
        auto ended = done->get_future();
        if (server_) {
            server_->drain(limit, [done] { done->set_value(); });
        } else {
            done->set_value();
        }
        return ended;
    }
    // Waits until the loop has looked at its sockets once more.
    void turn() {
        for (int i = 0; i < 2; ++i) {
            std::promise<void> passed;
            boost::asio::post(context(), [&] { passed.set_value(); });
            passed.get_future().wait();
        }
    }
    // Waits until the server has this many connections.
    bool has_connections(std::size_t count, std::chrono::milliseconds limit = std::chrono::milliseconds(10'000)) {
        auto until = std::chrono::steady_clock::now() + limit;
        while (server_->connections() != count) {
            if (std::chrono::steady_clock::now() > until) return false;
            std::this_thread::yield();
        }
        return true;
    }

private:
    std::vector<std::unique_ptr<boost::asio::io_context>> contexts_;
    std::unique_ptr<server::server> server_;
    std::vector<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> guards_;
    std::vector<std::thread> threads_;
};

// Holds handlers until the test opens it, and tells the test how many are there. Open from any thread.
class gate {
public:
    boost::asio::awaitable<void> pass() {
        auto executor = co_await boost::asio::this_coro::executor;
        auto timer = std::make_shared<boost::asio::steady_timer>(executor, boost::asio::steady_timer::time_point::max());
        bool waits = enter(timer);
        if (!waits) co_return;
        boost::system::error_code ignored;
        auto token = boost::asio::redirect_error(boost::asio::use_awaitable, ignored);
        co_await timer->async_wait(token);
    }
    void open() {
        std::lock_guard hold(guard_);
        open_ = true;
        for (auto& each : waiting_) {
            auto one = each.lock();
            if (one) boost::asio::post(one->get_executor(), [one] { one->cancel(); });
        }
        waiting_.clear();
    }
    bool has_entered(std::size_t count, std::chrono::milliseconds limit = std::chrono::milliseconds(10'000)) {
        std::unique_lock hold(guard_);
        return changed_.wait_for(hold, limit, [this, count] { return entered_ >= count; });
    }

private:
    bool enter(const std::shared_ptr<boost::asio::steady_timer>& timer) {
        std::lock_guard hold(guard_);
        ++entered_;
        changed_.notify_all();
        if (!open_) waiting_.push_back(timer);
        return !open_;
    }

    std::mutex guard_;
    std::condition_variable changed_;
    std::vector<std::weak_ptr<boost::asio::steady_timer>> waiting_;  // A timer must not outlive its loop.
    std::size_t entered_ = 0;
    bool open_ = false;
};

inline http::response text_answer(std::string text, std::uint16_t status = 200) {
    http::response answer;
    answer.status = status;
    answer.headers.push_back({"Content-Type", "text/plain"});
    answer.body = std::make_shared<const std::string>(std::move(text));
    return answer;
}

// Answers "METHOD path?query bytes\nbody".
inline boost::asio::awaitable<void> echo(http::exchange& request) {
    std::string body;
    for (;;) {
        auto piece = co_await request.read_body();
        if (piece.has_error()) {
            if (piece.error().code() == errc::body_cut) {
                request.abort();
                co_return;
            }
            auto refusal = text_answer(std::string(piece.error().message()), 400);
            co_await request.respond(std::move(refusal));
            co_return;
        }
        if (piece->empty()) break;
        body.append(reinterpret_cast<const char*>(piece->data()), piece->size());
    }
    const auto& head = request.head();
    auto text = head.method + " " + head.path + "?" + head.query + " " + std::to_string(body.size()) + "\n" + body;
    auto answer = text_answer(std::move(text));
    co_await request.respond(std::move(answer));
}

}  // namespace hearonce::test
