// One recording decoded for an upstream that does not take its container, in the same sandbox as recognition.
//
// Holds: transcode_once(). Next file: to_flac.cpp.
#pragma once

#include <backends/whisper/worker/options.hpp>

namespace hearonce::whisper {

// Takes one `start` frame with two descriptors, the recording and the file for the result, from the socket; answers with
// `ready`, then `done` (its transcript holds the duration and nothing else) or `failed`, and exits.
[[noreturn]] void transcode_once(const options& wanted);

}  // namespace hearonce::whisper
