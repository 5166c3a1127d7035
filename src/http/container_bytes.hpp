// How containers write numbers and frame headers; shared by recognition and the duration probes.
//
// Holds: big_endian(), little_endian(), read_exactly(), time_of(), id3_bytes(), mpeg_frame, adts_frame. Next file: container.cpp.
#pragma once

#include <http/container.hpp>

#include <array>
#include <cstring>
#include <string_view>

namespace hearonce::http {

constexpr std::uint64_t big_endian(std::span<const std::byte> bytes) noexcept {
    std::uint64_t number = 0;
    for (const std::byte each : bytes) number = (number << 8) | std::to_integer<std::uint64_t>(each);
    return number;
}

constexpr std::uint64_t little_endian(std::span<const std::byte> bytes) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = bytes.size(); i > 0; --i) number = (number << 8) | std::to_integer<std::uint64_t>(bytes[i - 1]);
    return number;
}

// Whether `bytes` has `text` at `offset`.
inline bool says(std::span<const std::byte> bytes, std::size_t offset, std::string_view text) noexcept {
    return offset <= bytes.size() && text.size() <= bytes.size() - offset &&
           std::memcmp(bytes.data() + offset, text.data(), text.size()) == 0;
}

template <std::size_t Size>
std::span<const std::byte> part(const std::array<std::byte, Size>& bytes, std::size_t offset, std::size_t length) noexcept {
    return std::span<const std::byte>(bytes).subspan(offset, length);
}

// No honest file has so many chunks, boxes or elements before the one that is looked for.
inline constexpr int chunks_max = 64;

template <std::size_t Size>
bool read_exactly(const byte_source& source, std::uint64_t offset, std::array<std::byte, Size>& into) noexcept {
    return source.read_at(offset, into) == Size;
}

// `units` at so many a second; nullopt for a rate of zero and for more than 30 days, which no upload holds.
constexpr std::optional<std::chrono::milliseconds> time_of(std::uint64_t units, std::uint64_t units_per_second) noexcept {
    constexpr std::uint64_t seconds_max = 30ull * 24 * 3600;
    if (units_per_second == 0 || units / units_per_second > seconds_max || units_per_second > (1ull << 53)) return std::nullopt;
    const std::uint64_t whole = units / units_per_second * 1000;
    return std::chrono::milliseconds(static_cast<std::int64_t>(whole + units % units_per_second * 1000 / units_per_second));
}

// Length of the ID3v2 tag at the start of `head` (id3.org, ID3v2.4 section 3), 0 if there is none. `head`: ten bytes suffice.
constexpr std::uint64_t id3_bytes(std::span<const std::byte> head) noexcept {
    if (head.size() < 10 || head[0] != std::byte{'I'} || head[1] != std::byte{'D'} || head[2] != std::byte{'3'}) return 0;
    std::uint64_t length = 0;
    for (std::size_t i = 6; i < 10; ++i) length = (length << 7) | (std::to_integer<std::uint64_t>(head[i]) & 0x7f);
    const bool footer = (head[5] & std::byte{0x10}) != std::byte{0};
    return length + (footer ? 20 : 10);
}

// One frame header of MPEG-1/2/2.5 audio (ISO 11172-3 section 2.4.1.3). Free-format streams are not taken.
struct mpeg_frame {
    std::uint32_t frame_bytes = 0;
    std::uint32_t bits_per_second = 0;
    std::uint32_t samples_per_second = 0;
    std::uint32_t samples = 0;      // In one frame.
    std::uint32_t xing_offset = 0;  // Where in the frame a Xing or Info header would stand (layer III).
};
std::optional<mpeg_frame> mpeg_frame_of(std::span<const std::byte> bytes) noexcept;

// One frame header of AAC in ADTS (ISO 13818-7 section 6.2).
struct adts_frame {
    std::uint32_t frame_bytes = 0;
    std::uint32_t samples_per_second = 0;
    std::uint32_t samples = 0;
};
std::optional<adts_frame> adts_frame_of(std::span<const std::byte> bytes) noexcept;

// The probes of the single containers; duration_of() chooses.
std::optional<std::chrono::milliseconds> wav_duration(const byte_source& audio) noexcept;
std::optional<std::chrono::milliseconds> flac_duration(const byte_source& audio) noexcept;
std::optional<std::chrono::milliseconds> mp4_duration(const byte_source& audio) noexcept;
std::optional<std::chrono::milliseconds> mp3_duration(const byte_source& audio) noexcept;
std::optional<std::chrono::milliseconds> aac_duration(const byte_source& audio);
std::optional<std::chrono::milliseconds> ogg_duration(const byte_source& audio);
std::optional<std::chrono::milliseconds> webm_duration(const byte_source& audio);

}  // namespace hearonce::http
