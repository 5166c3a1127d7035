// The server's certificate.
//
// Next file: transport.cpp.
#include <server/tls.hpp>

#include <server/settings.hpp>

#include <openssl/err.h>

#include <csignal>
#include <utility>

namespace hearonce::server {

namespace {

// The oldest error of this thread's queue in OpenSSL's words, and an empty queue.
std::string reason() {
    auto code = ERR_get_error();
    ERR_clear_error();
    const char* text = code != 0 ? ERR_reason_error_string(code) : nullptr;
    return text != nullptr ? text : "unknown reason";
}

}  // namespace

tls_store::tls_store(std::string certificate_file, std::string key_file)
    : certificate_file_(std::move(certificate_file)), key_file_(std::move(key_file)) {
    // OpenSSL writes to the socket without MSG_NOSIGNAL, so a caller that left would end the process.
    std::signal(SIGPIPE, SIG_IGN);
    std::string problem;
    current_ = load(problem);
    if (!current_) throw setup_error(problem);
}

tls_store::context tls_store::load(std::string& problem) const {
    ERR_clear_error();
    context fresh(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    if (!fresh) {
        problem = "TLS cannot be set up: " + reason();
        return {};
    }
    SSL_CTX_set_min_proto_version(fresh.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(fresh.get(),
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
    // An idle connection keeps no record buffers; a write may be resumed with the rest of the same bytes at another address.
    SSL_CTX_set_mode(fresh.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(fresh.get(), 1);
    SSL_CTX_set_default_read_buffer_len(fresh.get(), 64 * 1024);
    static constexpr unsigned char session_id[] = "hearonce";
    SSL_CTX_set_session_id_context(fresh.get(), session_id, sizeof session_id - 1);
    if (SSL_CTX_use_certificate_chain_file(fresh.get(), certificate_file_.c_str()) != 1) {
        problem = "server.tls_certificate: " + certificate_file_ + " cannot be used: " + reason();
        return {};
    }
    if (SSL_CTX_use_PrivateKey_file(fresh.get(), key_file_.c_str(), SSL_FILETYPE_PEM) != 1) {
        problem = "server.tls_key: " + key_file_ + " cannot be used: " + reason();
        return {};
    }
    if (SSL_CTX_check_private_key(fresh.get()) != 1) {
        problem = "server.tls_key: " + key_file_ + " does not belong to the certificate in " + certificate_file_;
        ERR_clear_error();
        return {};
    }
    return fresh;
}

std::string tls_store::reload() {
    std::string problem;
    auto fresh = load(problem);
    if (!fresh) return problem;
    std::lock_guard hold(guard_);
    current_ = std::move(fresh);
    return {};
}

ssl_session tls_store::open(int socket) const {
    context now;
    {
        std::lock_guard hold(guard_);
        now = current_;
    }
    ssl_session session(SSL_new(now.get()));  // Holds the context by itself from here on.
    if (session && SSL_set_fd(session.get(), socket) != 1) session.reset();
    if (session) SSL_set_accept_state(session.get());
    return session;
}

}  // namespace hearonce::server
