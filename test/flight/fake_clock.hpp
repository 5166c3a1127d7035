// A clock that moves only when a test moves it, and the traits that let Asio's timers run on it.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/wait_traits.hpp>

#include <chrono>

struct fake_clock {
    using duration = std::chrono::milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<fake_clock>;
    static constexpr bool is_steady = true;

    static time_point now() { return now_; }
    static void advance(duration by) { now_ += by; }
    static void reset() { now_ = time_point{}; }

private:
    static inline time_point now_{};
};

// The reactor asks how long it may sleep in real time: not at all, it is only ever polled.
template <>
struct boost::asio::wait_traits<fake_clock> {
    static fake_clock::duration to_wait_duration(const fake_clock::duration&) { return fake_clock::duration::zero(); }
    static fake_clock::duration to_wait_duration(const fake_clock::time_point&) { return fake_clock::duration::zero(); }
};
