// Certificates made at start: an authority, and what it signs for this machine.
//
// Holds: tls_kind, tls_material, make_tls_material(). Next file: double_server.hpp.
#pragma once

#include <cstdint>
#include <string>

namespace hearonce::upstream {

enum class tls_kind : std::uint8_t {
    good,        // For localhost, 127.0.0.1 and ::1, for a day.
    expired,     // Yesterday's.
    wrong_host,  // For elsewhere.invalid.
    other_ca,    // Signed by an authority that is not the one shown.
};

struct tls_material {
    std::string ca_pem;   // What a client is to trust.
    std::string pem;      // The server's certificate,
    std::string key_pem;  // and its key.
};

// Throws std::runtime_error when OpenSSL cannot.
tls_material make_tls_material(tls_kind kind);

}  // namespace hearonce::upstream
