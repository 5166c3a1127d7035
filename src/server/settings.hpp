// What the server is told: where to listen and every limit it keeps.
//
// Holds: settings, setup_error. Next file: server.hpp.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace hearonce::server {

struct settings {
    std::vector<boost::asio::ip::tcp::endpoint> listen;  // Never empty; port 0: any free one.
    std::string tls_certificate_file;                    // PEM, the chain included; both or neither.
    std::string tls_key_file;

    std::size_t connections_max = 16384;                     // Beyond: the kernel's queue holds them until one ends.
    std::chrono::milliseconds header_timeout{10'000};        // From a head's first byte to its end (408), and for a TLS handshake.
    std::chrono::milliseconds idle_timeout{60'000};          // Without a byte between requests: closed.
    std::chrono::milliseconds upload_stall_timeout{30'000};  // Without a byte while the gateway waits for a body: closed.
    std::chrono::milliseconds answer_stall_timeout{60'000};  // Without a byte taken while an answer is being sent: closed.

    std::size_t head_bytes_max = 32 * 1024;       // Request line, headers and blank line: 431 beyond. At most half of block_bytes.
    std::size_t headers_max = 100;                // Lines: 431 beyond.
    std::size_t target_bytes_max = 8 * 1024;      // 431 beyond.
    std::size_t pipelined_bytes_max = 16 * 1024;  // Of the next requests, read while a handler waits.

    // A caller in the middle of its upload reads a refusal only after it has sent everything, and a closed socket would answer
    // the rest with a reset that destroys the refusal. So the rest is read and dropped, within these.
    std::uint64_t linger_bytes_max = 64 * 1024 * 1024;
    std::chrono::milliseconds linger_timeout{30'000};
    std::chrono::milliseconds linger_stall_timeout{5'000};
};

// The server cannot start; what() is one sentence that names the setting.
class setup_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace hearonce::server
