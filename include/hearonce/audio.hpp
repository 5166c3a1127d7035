// One recording as it was uploaded: its bytes, what they hash to, and what the container says about them.
//
// Holds: container, sha256_digest, stored_bytes, recording. Next file: transcription.hpp.
#pragma once

#include <hearonce/ascii.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hearonce {

// What the first bytes of a recording show it to be; never taken from its name or type.
enum class container : std::uint8_t { unknown, wav, mp3, mp4, aac, ogg, webm, flac };

constexpr std::string_view name_of(container kind) noexcept {
    switch (kind) {
        case container::wav: return "wav";
        case container::mp3: return "mp3";
        case container::mp4: return "mp4";
        case container::aac: return "aac";
        case container::ogg: return "ogg";
        case container::webm: return "webm";
        case container::flac: return "flac";
        case container::unknown: break;
    }
    return "unknown";
}

using sha256_digest = std::array<std::byte, 32>;

// Lower-case hex of a digest, 64 characters.
inline std::string hex_of(const sha256_digest& digest) {
    return ascii::hex_of(digest);
}

// 64 hex digits of any case; nullopt for anything else.
inline std::optional<sha256_digest> digest_of(std::string_view hex) noexcept {
    sha256_digest digest{};
    if (hex.size() != 2 * digest.size()) return std::nullopt;
    for (std::size_t i = 0; i < hex.size(); ++i) {
        const char c = hex[i];
        unsigned value = 0;
        if (c >= '0' && c <= '9') {
            value = static_cast<unsigned>(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            value = static_cast<unsigned>(c - 'a') + 10;
        } else if (c >= 'A' && c <= 'F') {
            value = static_cast<unsigned>(c - 'A') + 10;
        } else {
            return std::nullopt;
        }
        digest[i / 2] = (digest[i / 2] << 4) | static_cast<std::byte>(value);
    }
    return digest;
}

// Where the bytes of a recording are: in memory or in an unlinked file, never both. Immutable and shared by threads once
// made; gives its memory budget or its file back when destroyed.
class stored_bytes {
public:
    virtual ~stored_bytes() = default;
    virtual std::uint64_t size_bytes() const noexcept = 0;
    // The bytes in order when they are in memory; empty when they are in a file.
    virtual std::span<const std::span<const std::byte>> pieces() const noexcept = 0;
    // Descriptor of the unlinked file, owned by this object; -1 when the bytes are in memory. Read it with pread() only:
    // its offset is shared.
    virtual int file_descriptor() const noexcept = 0;
};

// A complete upload. `client_file_name` and `client_content_type` are the caller's own words: label them, encode them,
// never make a path, header or log line from them.
struct recording {
    std::shared_ptr<const stored_bytes> bytes;
    sha256_digest sha256{};
    container kind = container::unknown;
    std::optional<std::chrono::milliseconds> duration;  // From the caller's header, else probed; absent when neither says.
    std::string client_file_name;
    std::string client_content_type;
};

}  // namespace hearonce
