// How many files the process may have open.
//
// Next file: listener.cpp.
#include <server/descriptors.hpp>

#include <algorithm>
#include <limits>

#include <sys/resource.h>

namespace hearonce::server {

std::size_t raise_descriptor_limit(std::size_t wanted) noexcept {
    rlimit now{};
    if (getrlimit(RLIMIT_NOFILE, &now) != 0) return std::numeric_limits<std::size_t>::max();
    if (now.rlim_cur < wanted) {
        auto raised = now;
        raised.rlim_cur = std::min<rlim_t>(wanted, now.rlim_max);
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) now = raised;
    }
    return static_cast<std::size_t>(std::min<rlim_t>(now.rlim_cur, std::numeric_limits<std::size_t>::max()));
}

}  // namespace hearonce::server
