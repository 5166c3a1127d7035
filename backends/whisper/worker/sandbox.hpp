// What the helper may still do once its model is loaded: compute, and talk on the descriptors it has.
//
// Holds: die_with_parent(), enter_sandbox(). Next file: serve.hpp.
#pragma once

#include <string>

namespace hearonce::whisper {

// The kernel kills this process when the thread that started it ends. Call first.
void die_with_parent();

// No network, no new files or programs, no other processes and no signals to them, nothing regained by any means; no core dumps. Threads may
// still be made. Irrevocable, for this thread and those it makes afterwards: call while there is one. Empty: done; else
// what failed, and then the process must not look at a recording.
std::string enter_sandbox();

}  // namespace hearonce::whisper
