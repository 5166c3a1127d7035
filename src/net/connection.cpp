// Next file: watchdog.cpp.
#include <net/connection.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cerrno>

#include <sys/socket.h>

namespace hearonce::net {

namespace asio = boost::asio;
constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

bool connection::quiet() noexcept {
    // Decrypted or not, bytes that TLS holds would be taken for the next answer.
    if (tls_ && SSL_has_pending(tls_->native_handle()) == 1) return false;
    char byte = 0;
    const auto got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

namespace {

asio::awaitable<boost::system::error_code> connect_to(connection::tcp_socket& socket, asio::ip::tcp::endpoint candidate) {
    boost::system::error_code failure;
    // Asio opens a closed socket itself; one that failed before has to be closed for it.
    socket.close(failure);
    auto [refused] = co_await socket.async_connect(candidate, use_result);
    co_return refused;
}

}  // namespace

asio::awaitable<boost::system::error_code> connect(connection::tcp_socket& socket, endpoints candidates, deadline limit) {
    boost::system::error_code failure = asio::error::host_not_found;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto now = deadline::clock::now();
        if (limit.passed(now)) failure = asio::error::timed_out;
        if (limit.passed(now)) break;
        const auto share = limit.left(now) / static_cast<int>(candidates.size() - i);
        auto ended = co_await with_deadline(connect_to(socket, candidates[i]), deadline(now + share));
        failure = ended.value_or(asio::error::timed_out);
        if (!failure) break;
        // Of a cancellation the timer may come to know first.
        const auto asked = co_await asio::this_coro::cancellation_state;
        if (asked.cancelled() != asio::cancellation_type::none) failure = asio::error::operation_aborted;
        // The caller's cancelling or its watchdog's closing is not the peer's refusing.
        if (failure == asio::error::operation_aborted) break;
    }
    boost::system::error_code ignored;
    // Requests go out in one or two writes; waiting to fill segments only delays the last one.
    if (!failure) socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    co_return failure;
}

namespace {

// Who the certificate must be for.
bool expect_host(SSL* session, const std::string& host) {
    boost::system::error_code no_address;
    asio::ip::make_address(host, no_address);
    if (!no_address) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1;
    SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(session, host.c_str()) == 1 && SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

}  // namespace

asio::awaitable<handshake_failure> shake_hands(connection::tls_stream& stream, std::string host) {
    handshake_failure why;
    if (!expect_host(stream.native_handle(), host)) {
        why.ec = asio::error::invalid_argument;
        co_return why;
    }
    auto [failure] = co_await stream.async_handshake(asio::ssl::stream_base::client, use_result);
    why.ec = failure;
    const long verdict = SSL_get_verify_result(stream.native_handle());
    if (failure && verdict != X509_V_OK) why.reason = X509_verify_cert_error_string(verdict);
    co_return why;
}

}  // namespace hearonce::net
