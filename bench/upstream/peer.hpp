// One connection's bytes as the upstream double needs them: plain or TLS, watched while nothing is read, and ended in any way.
//
// Holds: peer. Next file: session.cpp.
#pragma once

#include <server/input.hpp>
#include <server/transport.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <string_view>

namespace hearonce::upstream {

// Lives on one event loop, whose thread alone may touch it. Every wait ends after wait_max, as if the peer had gone.
class peer : public std::enable_shared_from_this<peer> {
public:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::minutes wait_max{15};

    peer(server::transport wire, server::block_pool& blocks, boost::asio::io_context& loop);

    // False: the peer has gone, or speaks no TLS.
    boost::asio::awaitable<bool> handshake();
    // More bytes in input(); false: there will be none.
    boost::asio::awaitable<bool> receive();
    boost::asio::awaitable<bool> send(std::string_view bytes);
    // True once that time has come; false as soon as the peer is seen to have gone. A peer that only ended its sending counts
    // as gone: no client of these APIs does that and waits.
    boost::asio::awaitable<bool> pause(clock::time_point until);
    // The same, but ends as well when bytes are there.
    boost::asio::awaitable<void> pause_for_bytes(clock::time_point until);
    // Until the peer goes.
    boost::asio::awaitable<void> wait_for_end();
    // FIN, then reads and drops what still comes until the peer ends or the time is over: who answers before the request is
    // read and just closes would have its answer overtaken by a RST.
    boost::asio::awaitable<void> linger(std::chrono::milliseconds limit);

    void close() noexcept;
    void reset() noexcept;  // RST
    // Called now and then by the loop.
    void expire(clock::time_point now) noexcept;

    server::input& input() noexcept { return input_; }
    bool tls() const noexcept { return wire_.tls(); }

private:
    bool turn_is_over() noexcept;
    void watch();
    void look();
    boost::asio::awaitable<void> readable();
    boost::asio::awaitable<void> wait_on(server::transport::io::kind what);

    server::transport wire_;
    server::input input_;
    boost::asio::steady_timer changed_;  // Used as a condition variable: who waits looks again at what it waits for.
    clock::time_point limit_ = clock::time_point::max();
    bool watching_ = false;  // A wait for bytes is pending; it outlives the pause that began it.
    bool ended_ = false;
    unsigned steps_in_a_row_ = 0;
};

}  // namespace hearonce::upstream
