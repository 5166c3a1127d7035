// Order statistics of measured times.
//
// Holds: percentile_of(), milliseconds_of(). Next file: compare/command.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

namespace hearonce::load {

// The smallest value that at least `share` (0..1) of them do not exceed (nearest rank); 0 of none. Sorts.
inline std::chrono::nanoseconds percentile_of(std::vector<std::chrono::nanoseconds>& times, double share) {
    if (times.empty()) return {};
    std::ranges::sort(times);
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(times.size())));
    return times[std::clamp<std::size_t>(rank, 1, times.size()) - 1];
}

inline double milliseconds_of(std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace hearonce::load
