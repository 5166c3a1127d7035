// One connection's bytes.
//
// Next file: connection.cpp.
#include <server/transport.hpp>

#include <boost/asio/error.hpp>

#include <openssl/err.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace hearonce::server {

namespace {

namespace asio = boost::asio;
using io = transport::io;

io outcome(const boost::system::error_code& failed, std::size_t bytes, io::kind later) noexcept {
    if (!failed) return {io::kind::done, bytes};
    if (failed == asio::error::would_block || failed == asio::error::try_again || failed == asio::error::interrupted) return {later};
    if (failed == asio::error::eof) return {io::kind::ended};
    return {io::kind::failed};
}

int as_int(std::size_t bytes) noexcept {
    return static_cast<int>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max()));
}

}  // namespace

transport::transport(asio::ip::tcp::socket socket, ssl_session tls) : socket_(std::move(socket)), tls_(std::move(tls)) {
    boost::system::error_code ignored;  // A socket that is already gone shows it at the first read.
    socket_.non_blocking(true, ignored);
    // Answers are written whole, so there is nothing for Nagle to collect.
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

io transport::tls_outcome(int result) noexcept {
    if (result > 0) return {io::kind::done, static_cast<std::size_t>(result)};
    switch (SSL_get_error(tls_.get(), result)) {
        case SSL_ERROR_WANT_READ: return {io::kind::read_later};
        case SSL_ERROR_WANT_WRITE: return {io::kind::write_later};
        case SSL_ERROR_ZERO_RETURN: return {io::kind::ended};
        default: tls_ready_ = false; return {io::kind::failed};
    }
}

io transport::handshake() {
    if (!tls_ || tls_ready_) return {io::kind::done};
    ERR_clear_error();
    auto step = tls_outcome(SSL_do_handshake(tls_.get()));
    tls_ready_ = step.is == io::kind::done;
    return step;
}

io transport::read(std::span<char> room) {
    if (tls_) {
        ERR_clear_error();
        return tls_outcome(SSL_read(tls_.get(), room.data(), as_int(room.size())));
    }
    return read_raw(room);
}

io transport::read_raw(std::span<char> room) {
    boost::system::error_code failed;
    auto bytes = socket_.read_some(asio::buffer(room.data(), room.size()), failed);
    return outcome(failed, bytes, io::kind::read_later);
}

io transport::write(const pieces& what) {
    if (tls_) {
        for (const auto& piece : what) {
            if (piece.size() == 0) continue;
            ERR_clear_error();
            return tls_outcome(SSL_write(tls_.get(), piece.data(), as_int(piece.size())));
        }
        return {io::kind::done};
    }
    boost::system::error_code failed;
    auto bytes = socket_.write_some(what, failed);
    return outcome(failed, bytes, io::kind::write_later);
}

void transport::end_sending() noexcept {
    if (tls_ready_) {
        ERR_clear_error();
        SSL_shutdown(tls_.get());  // One try: nobody waits for the other's close_notify.
        tls_ready_ = false;
    }
    boost::system::error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

void transport::close() noexcept {
    boost::system::error_code ignored;
    socket_.close(ignored);
}

}  // namespace hearonce::server
