// The server's certificate, which can be changed while connections are open.
//
// Holds: tls_store, ssl_context, ssl_session. Next file: transport.hpp.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <mutex>
#include <string>

namespace hearonce::server {

struct free_ssl {
    void operator()(SSL* session) const noexcept { SSL_free(session); }
};
using ssl_session = std::unique_ptr<SSL, free_ssl>;

// The certificate in force. Thread-safe.
class tls_store {
public:
    // Throws setup_error when the files cannot be used.
    tls_store(std::string certificate_file, std::string key_file);

    // Reads the files again. Empty: in force for new connections; else why the old ones stay.
    std::string reload();

    // A server session over a socket that stays the caller's. Null when memory is short.
    ssl_session open(int socket) const;

private:
    using context = std::shared_ptr<SSL_CTX>;
    context load(std::string& problem) const;

    std::string certificate_file_;
    std::string key_file_;
    mutable std::mutex guard_;
    context current_;
};

}  // namespace hearonce::server
