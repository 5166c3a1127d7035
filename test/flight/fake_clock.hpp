// A clock that moves only when a test moves it, and the traits that let Asio's timers run on it.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/wait_traits.hpp>

#include <array>
#include <chrono>
#include <cstddef>

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

// The reactor asks how long it may sleep in real time. A timer that is not due waits for pass(), which makes the reactor look again.
template <>
struct boost::asio::wait_traits<fake_clock> {
    static fake_clock::duration to_wait_duration(const fake_clock::duration& left) {
        return left > fake_clock::duration::zero() ? std::chrono::hours(1) : fake_clock::duration::zero();
    }
    static fake_clock::duration to_wait_duration(const fake_clock::time_point& at) { return to_wait_duration(at - fake_clock::now()); }
};

// Runs everything that is ready, on one loop or several, until nothing is.
template <class... Loops>
void settle(Loops&... loops) {
    for (std::size_t done = 1; done != 0;) {
        done = 0;
        (loops.restart(), ...);
        ((done += loops.poll()), ...);
    }
}

// Moves the clock and runs what is due. A timer earlier than all others makes the reactor look at them.
template <class... Loops>
void pass(fake_clock::duration time, Loops&... loops) {
    fake_clock::advance(time);
    std::array due{boost::asio::basic_waitable_timer<fake_clock>(loops, fake_clock::time_point(std::chrono::hours(-1)))...};
    for (auto& each : due) each.async_wait([](auto&&) {});
    settle(loops...);
}
