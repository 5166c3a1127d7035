// What a recording's bytes say about it: which container it is, and how long it lasts where that is cheap to learn.
//
// Holds: byte_source, container_of(), duration_of(). Next file: spool.hpp.
//
// The bytes are hostile: nothing is believed that is not there, nothing outside is read, and the number of reads is bounded.
// This is a look at headers, not a decoder; what it says is used for names, deadlines and quotas.
#pragma once

#include <hearonce/audio.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hearonce::http {

// Bytes that can be read anywhere.
class byte_source {
public:
    virtual ~byte_source() = default;
    virtual std::uint64_t size_bytes() const noexcept = 0;
    // Fills as much of `into` as there is from `offset` on and says how much; less only at the end or on a read error.
    virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const noexcept = 0;
};

// How much of the beginning container_of() looks at, at most.
inline constexpr std::size_t head_bytes_max = 32 * 1024;

// The container that begins with these bytes: RIFF/RIFX/RF64/BW64 WAVE, fLaC, OggS, EBML, ISO media (ftyp), ID3, MPEG audio
// and ADTS frames (whose sync bits are believed only when a second frame follows where the first one ends).
container container_of(std::span<const std::byte> head) noexcept;

// How long the audio lasts by its own headers; exact for wav, flac, mp4 and ogg, an estimate for mp3, aac and WebM
// without a length (the last block's begin). nullopt when
// they do not say, or say what cannot be (more than 30 days).
std::optional<std::chrono::milliseconds> duration_of(container kind, const byte_source& audio);

}  // namespace hearonce::http
