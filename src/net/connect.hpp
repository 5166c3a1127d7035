// From a host's name to a connected, and for TLS verified, stream.
//
// Holds: watchdog, resolve(), connect(), shake_hands(). Next file: one_call.cpp (uses them).
#pragma once

#include <hearonce/deadline.hpp>
#include <net/url.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>

namespace hearonce::net {

using plain_stream = boost::asio::ip::tcp::socket;
using tls_stream = boost::asio::ssl::stream<plain_stream>;

// Calls `expired` once when the time it was last given has passed. Lives on one event loop. Used instead of a timer per
// operation, so that reading and writing at one time share one idea of progress.
class watchdog : public std::enable_shared_from_this<watchdog> {
public:
    watchdog(const boost::asio::any_io_executor& executor, deadline all, std::function<void()> expired);
    // No later than `all`, whatever is asked.
    void allow(std::chrono::milliseconds from_now);
    void stop();
    bool expired() const noexcept { return fired_; }

private:
    boost::asio::steady_timer timer_;
    deadline all_;
    std::function<void()> expired_;
    bool fired_ = false;
    bool stopped_ = false;
};

using endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

// getaddrinfo(3) runs on a thread of its own and cannot be interrupted: on `limit` this coroutine leaves with timed_out
// and lets it end by itself. Addresses are not looked up.
boost::asio::awaitable<boost::system::result<endpoints>> resolve(std::string host, std::uint16_t port, deadline limit);

// One after the other until one answers; the last one's error when none does.
boost::asio::awaitable<boost::system::error_code> connect(plain_stream& socket, endpoints candidates);

// SNI (not for addresses, RFC 6066 section 3), handshake, and the name checked against the certificate.
boost::asio::awaitable<boost::system::error_code> shake_hands(tls_stream& stream, std::string host);

}  // namespace hearonce::net
