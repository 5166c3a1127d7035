// What a WAV file's header says of the size of its audio, against what the file holds.
//
// Holds: wav_claim, wav_claim_of(). Next file: media.hpp.
#pragma once

#include <cstdint>
#include <optional>

namespace hearonce::whisper {

struct wav_claim {
    std::uint32_t bytes = 0;      // As the data chunk says.
    std::int64_t held_bytes = 0;  // From the data chunk to the end of the file.

    // The size was not known when the header was written, as in a stream: 0, or close to the largest 31- or 32-bit number.
    bool open_ended() const noexcept;
    // A GiB or more is missing. Less than that is a recording cut short, whose rest is worth decoding.
    bool lies() const noexcept;
    // What the header implies, a duration above all, is so.
    bool holds() const noexcept { return bytes != 0 && bytes <= held_bytes; }
};

// Nothing: not a RIFF WAV file, or one without a data chunk near its start. Reads with pread().
std::optional<wav_claim> wav_claim_of(int descriptor, std::int64_t file_bytes);

}  // namespace hearonce::whisper
