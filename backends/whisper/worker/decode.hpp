// From a file of any kind people record in to the samples whisper wants: 16 kHz, one channel, floats.
//
// Holds: decode(), decode_in_pieces(). The file is hostile: only known containers and audio codecs are opened, nothing it refers to is
// followed, output and work are bounded. Next file: recognise.hpp.
#pragma once

#include <hearonce/error.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace hearonce::whisper {

inline constexpr int samples_per_second = 16000;
inline constexpr std::size_t samples_min = samples_per_second / 10;

// The samples of the file's best audio stream. Reads with pread() only and leaves the descriptor open.
// empty_audio: no bytes, or a container without a sample. audio_too_short: less than 0.1 s. audio_too_large: more than
// `samples_max`. unsupported_audio: anything that is not audio, or a WAV file without most of what its header claims. cancelled: `stop` said so; it is asked at every read and
// frame and must be quick.
result<std::vector<float>> decode(int descriptor, std::size_t samples_max, const std::function<bool()>& stop);

// The same sound piece by piece, so that a long recording needs no memory; gives the number of samples. `take` is called with
// some seconds at a time and leaves the samples where they are; false: it wants no more, which ends as audio_too_large.
// What fails late has given pieces before.
result<std::size_t> decode_in_pieces(int descriptor, std::size_t samples_max, const std::function<bool()>& stop,
                                     const std::function<bool(const std::vector<float>&)>& take);

}  // namespace hearonce::whisper
