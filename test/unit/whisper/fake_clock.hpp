// A clock that stands still unless told.
#pragma once

#include <chrono>

namespace hearonce::whisper::test {

struct fake_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<fake_clock>;
    static constexpr bool is_steady = true;
};

// A moment so many milliseconds after the beginning.
constexpr fake_clock::time_point at(long milliseconds) {
    return fake_clock::time_point(std::chrono::milliseconds(milliseconds));
}

}  // namespace hearonce::whisper::test
