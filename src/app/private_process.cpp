// Two switches of the kernel. Next file: gateway.cpp.
#include <app/private_process.hpp>
#include <observe/log.hpp>

#include <sys/prctl.h>
#include <sys/resource.h>

namespace hearonce::app {

void keep_memory_private() noexcept {
#ifndef HEARONCE_SANITIZED
    const rlimit none{0, 0};
    const bool limited = ::setrlimit(RLIMIT_CORE, &none) == 0;
    const bool hidden = ::prctl(PR_SET_DUMPABLE, 0) == 0;
    if (!limited || !hidden) observe::say(observe::log_level::warn, "memory may be readable to other programs of this user");
#endif
}

}  // namespace hearonce::app
