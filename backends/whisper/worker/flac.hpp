// Samples in, a FLAC file out (RFC 9639), frame by frame.
//
// Holds: flac_file. Next file: to_flac.hpp.
#pragma once

#include <backends/whisper/worker/media.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearonce::whisper {

// 16 kHz, one channel, 16 bits. Writes at the descriptor's own offset, which must be at the file's beginning.
class flac_file {
public:
    explicit flac_file(int descriptor);

    // False from the start: there is no encoder. Later: the file takes no more (its limit, a full disk).
    bool good() const noexcept { return good_; }
    bool add(std::span<const float> samples);
    // Writes what is left, then the head, which tells length and checksum.
    bool finish();

private:
    bool open();
    bool encode(std::size_t count);
    bool take_packets();
    bool write_out();
    bool write_head();

    int descriptor_;
    codec_pointer codec_;
    frame_pointer frame_;
    packet_pointer packet_;
    std::vector<std::int16_t> waiting_;  // Less than a frame.
    std::vector<std::uint8_t> encoded_;
    std::vector<std::uint8_t> info_;  // STREAMINFO
    std::int64_t samples_ = 0;
    bool good_ = false;
};

}  // namespace hearonce::whisper
