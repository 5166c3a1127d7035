// One connection's bytes, plain or through TLS, without ever blocking: each step is tried at once and says what to wait for.
//
// Holds: transport. Next file: connection.cpp, which does the waiting.
#pragma once

#include <server/tls.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace hearonce::server {

class transport {
public:
    struct io {
        enum class kind { done, read_later, write_later, ended, failed } is;
        std::size_t bytes = 0;  // Of done: at least one, unless nothing was asked.
    };
    using pieces = std::array<boost::asio::const_buffer, 3>;

    // A null session means plain TCP. The socket becomes non-blocking.
    transport(boost::asio::ip::tcp::socket socket, ssl_session tls);

    bool tls() const noexcept { return tls_ != nullptr; }
    boost::asio::ip::tcp::socket& socket() noexcept { return socket_; }

    // Done once TLS is set up.
    io handshake();
    io read(std::span<char> room);
    // Writes the pieces in order, as far as it goes.
    io write(const pieces& what);
    // Says that nothing more will be sent (close_notify, FIN); what the caller still sends can be read with read_raw().
    void end_sending() noexcept;
    // Reads past TLS, for bytes nobody will look at.
    io read_raw(std::span<char> room);
    // Also ends every wait on the socket.
    void close() noexcept;

private:
    io tls_outcome(int result) noexcept;

    boost::asio::ip::tcp::socket socket_;
    ssl_session tls_;
    bool tls_ready_ = false;
};

}  // namespace hearonce::server
