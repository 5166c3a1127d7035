// How one upstream double behaves.
//
// Holds: settings. Next file: double_server.hpp.
#pragma once

#include <bench/upstream/certificates.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace hearonce::upstream {

struct settings {
    boost::asio::ip::tcp::endpoint listen{boost::asio::ip::address_v4::loopback(), 0};
    unsigned threads = 1;                            // Event loops, each with a thread of its own.
    std::optional<tls_kind> tls{};                   // Absent: plain HTTP.
    std::chrono::milliseconds delay{0};              // Before every call's answer.
    std::chrono::milliseconds delay_exponential{0};  // The mean of a random one, added to it.
    std::uint64_t seed = 1;                          // The nth call's delay depends on this and n alone.
    std::string key{};                               // Not empty: any other key is refused, as each API does it.
    std::string always{};                            // A fault for every call that nothing else gives one.
    std::string others{};                            // A fault for what is no call, such as GET /v1/models.
    bool any_model = false;                          // Model names nobody knows are taken for whisper-1's kind.
    bool done_marker = false;                        // OpenAI's streams end with "data: [DONE]".
    bool tell_language = false;                      // The text ends with " [de]" when a language was asked for.
    std::size_t last_max = 256;                      // Requests kept for a look.
};

}  // namespace hearonce::upstream
