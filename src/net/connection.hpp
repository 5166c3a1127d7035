// A connected, and for TLS verified, stream; what is above it does not see which of the two it is.
//
// Holds: connection, connect(), shake_hands(). Next file: watchdog.hpp, sending.hpp.
#pragma once

#include <net/names.hpp>
#include <net/tls.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace hearonce::net {

// One socket, with TLS over it when it was made with a context. Used on one event loop by one reader and one writer.
class connection {
public:
    using executor_type = boost::asio::any_io_executor;
    using tcp_socket = boost::asio::ip::tcp::socket;
    using tls_stream = boost::asio::ssl::stream<tcp_socket&>;

    connection(const executor_type& executor, tls_context trust) : socket_(executor), trust_(std::move(trust)) {
        if (trust_) tls_.emplace(socket_, *trust_);
    }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    executor_type get_executor() { return socket_.get_executor(); }
    tcp_socket& socket() noexcept { return socket_; }
    tls_stream* tls() noexcept { return tls_ ? &*tls_ : nullptr; }

    // Ends whoever waits on it.
    void close() noexcept {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }
    // The same, and what the system has not sent yet is thrown away: the peer sees a reset at once instead of the rest of a
    // request nobody wants the answer of any more.
    void abort() noexcept {
        boost::system::error_code ignored;
        socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
        socket_.close(ignored);
    }
    // Nothing is there to be read and the peer has not ended: what a connection between two calls must be like.
    bool quiet() noexcept;

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token token) {
        const auto begin = [this](auto handler, const Buffers& into) {
            if (tls_) {
                tls_->async_read_some(into, std::move(handler));
            } else {
                socket_.async_read_some(into, std::move(handler));
            }
        };
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(begin, token, buffers);
    }

    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token token) {
        const auto begin = [this](auto handler, const Buffers& from) {
            if (tls_) {
                tls_->async_write_some(from, std::move(handler));
            } else {
                socket_.async_write_some(from, std::move(handler));
            }
        };
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(begin, token, buffers);
    }

private:
    tcp_socket socket_;
    tls_context trust_;  // Outlives the stream made of it.
    std::optional<tls_stream> tls_;
};

// One after the other until one answers; the last one's error when none does. Each has its share of the time that is left, so
// that an address that swallows packets leaves some to the next; `limit` passing is timed_out.
boost::asio::awaitable<boost::system::error_code> connect(connection::tcp_socket& socket, endpoints candidates, deadline limit);

struct handshake_failure {
    boost::system::error_code ec;  // None: the peer is who it should be.
    std::string reason;            // What is wrong with its certificate; empty when it is something else.
};
// SNI (not for addresses, RFC 6066 section 3), handshake, and the name or address checked against the certificate
// (RFC 9525, by OpenSSL). A peer that is not believed is told so and is sent nothing else.
boost::asio::awaitable<handshake_failure> shake_hands(connection::tls_stream& stream, std::string host);

}  // namespace hearonce::net
