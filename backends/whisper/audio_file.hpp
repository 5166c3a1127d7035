// A recording as a descriptor the helper can read and nobody can change.
//
// Holds: descriptor_of(). Next file: channel.hpp.
#pragma once

#include <backends/whisper/process.hpp>
#include <hearonce/audio.hpp>

namespace hearonce::whisper {

// A spilled recording: its file opened once more, for reading only. One in memory: a sealed memory file with a copy, so
// make it when the job is about to run and not before. Empty when the system is out of descriptors or memory.
owned_descriptor descriptor_of(const stored_bytes& bytes);

}  // namespace hearonce::whisper
