// Keeps what the process holds (provider keys, recordings) out of core files and away from other programs of the same user.
//
// Holds: keep_memory_private(). Called by run_gateway.cpp.
#pragma once

namespace hearonce::app {

// No core file, no debugger and no reader of /proc/PID/mem without privileges, from now on. Programs started later inherit
// the limit on core files and nothing else. Sanitizers need to look into their own process, so their builds keep it open.
void keep_memory_private() noexcept;

}  // namespace hearonce::app
