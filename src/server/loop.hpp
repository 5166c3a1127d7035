// What the connections of one event loop share, and what all loops share.
//
// Holds: shared_state, loop_member, loop. Next file: connection.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <http/exchange.hpp>
#include <server/input.hpp>
#include <server/settings.hpp>
#include <server/tls.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::server {

// One for the whole server. What is not atomic does not change after the start.
struct shared_state {
    settings how;
    http::handler handler;
    std::function<http::response(const error&, const http::request_head&)> refusals;
    std::optional<tls_store> tls;
    std::function<void()> ended;  // Called on any loop when one of the counts below went down, while `draining` or `crowded`.

    std::atomic<bool> draining = false;
    std::atomic<std::size_t> open = 0;  // Connections.
    std::atomic<std::size_t> held = 0;  // What a drain waits for: connections with a request begun before, and loops yet to look.
    std::atomic<std::uint64_t> accepted = 0;

    // The limit is reached and somebody waits to be accepted: the next answers give their connections up.
    std::atomic<bool> crowded = false;
};

// One of those that `what` counts, for as long as it lives: whoever drops it, on whatever way out, ends the count, and the
// server hears of it when it waits for that.
class counted {
public:
    using count = std::atomic<std::size_t> shared_state::*;

    counted() = default;
    counted(std::shared_ptr<shared_state> shared, count what);
    ~counted() { end(); }
    counted(counted&& other) noexcept = default;  // The other one has no state left, so it counts nothing.
    counted& operator=(counted&& other) noexcept;

private:
    void end() noexcept;

    std::shared_ptr<shared_state> shared_;
    count what_ = nullptr;
};

// A connection as its loop sees it. It enters the loop's list when it is made and leaves it when it is destroyed.
class loop_member : public boost::intrusive::list_base_hook<>, public std::enable_shared_from_this<loop_member> {
public:
    virtual ~loop_member() = default;
    // Ends what waits longer than it may; nothing is resumed before this returns.
    virtual void expire(std::chrono::steady_clock::time_point now) = 0;
    virtual void begin_drain() = 0;
    virtual void last_call() = 0;
    virtual void close_hard() = 0;
};

// The connections of one event loop. Everything but the constructor happens on it.
class loop : public std::enable_shared_from_this<loop> {
public:
    loop(boost::asio::io_context& context, std::shared_ptr<shared_state> shared);
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    boost::asio::io_context& context() noexcept { return *context_; }
    shared_state& shared() noexcept { return *shared_; }
    const std::shared_ptr<shared_state>& shared_ptr() const noexcept { return shared_; }
    block_pool& blocks() noexcept { return blocks_; }

    // Serves a socket; `place` is its one in shared_state::open.
    void serve(boost::asio::ip::tcp::socket socket, const boost::asio::ip::tcp::endpoint& peer, counted place);
    // From here on no new request is served, and connections with one hold the drain.
    void begin_drain();
    // Nothing holds the drain any more: connections between two requests end.
    void last_call();
    // Closes every connection and cancels their handlers.
    void close_all();

    void add(loop_member& one);
    void remove(loop_member& one) noexcept;

    // Now as IMF-fixdate; made once a second.
    std::string_view date();
    // 32 hex digits.
    std::string make_request_id();

private:
    std::vector<std::shared_ptr<loop_member>> members();
    // Connections only note until when they wait. One timer looks at all of them now and then, so that waiting costs nothing
    // per read; a limit is kept to within a tick.
    void tick_later();
    void tick();

    boost::asio::io_context* context_;
    std::shared_ptr<shared_state> shared_;
    block_pool blocks_;
    boost::intrusive::list<loop_member, boost::intrusive::constant_time_size<false>> members_;
    boost::asio::steady_timer timer_;
    std::chrono::milliseconds tick_every_;
    bool ticking_ = false;
    std::mt19937_64 random_;
    std::time_t date_of_ = 0;
    std::string date_;
};

}  // namespace hearonce::server
