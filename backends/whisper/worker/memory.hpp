// How much memory the helper may take: a hostile recording must cost a failed job, not the machine's memory.
//
// Holds: address_space_max(), limit_memory(), die_first(). Next file: sandbox.hpp.
#pragma once

#include <backends/whisper/worker/options.hpp>

#include <cstdint>

namespace hearonce::whisper {

// What one job needs at most, and what all of them do, in bytes of address space: generous, since address space that is
// never touched costs nothing, and too little would end jobs that are fine. `used_bytes`: now, with the model loaded;
// `stack_bytes`: of each thread.
std::uint64_t address_space_max(std::uint64_t used_bytes, std::uint64_t stack_bytes, const options& settings);

// Holds this process to that. Call with the model loaded, before enter_sandbox(), which makes it final. Where the kernel
// does not tell or refuses there is no limit of ours.
void limit_memory(const options& settings);

// When the machine runs out of memory the kernel takes this process before the gateway.
void die_first();

}  // namespace hearonce::whisper
