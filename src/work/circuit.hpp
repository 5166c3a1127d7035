// Leaves a backend alone that only fails: after some failed flights in a row none is sent there for a while, then one to try.
//
// Holds: circuit (the rule), breaker (the same for all threads, and told to the log). Next file: in_flight.hpp.
#pragma once

#include <hearonce/deadline.hpp>
#include <hearonce/error.hpp>
#include <hearonce/transcription.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace hearonce::work {

// What a flight's stay at a backend says about the backend.
enum class verdict : std::uint8_t { works, fails, nothing };

// A transcript: it works. upstream_error and upstream_timeout: it fails. Whatever is the caller's doing (its request, its key, that
// it left) or a matter of amounts (rate limits, quotas, full queues) says nothing.
verdict verdict_of(const result<transcript>& heard) noexcept;

// Pure: closed, open for a time, half-open. A flight enters once for all its attempts at the backend.
class circuit {
public:
    using time_point = deadline::time_point;
    using duration = deadline::duration;

    static constexpr unsigned failures_max = 5;  // In a row; the last one opens it.
    static constexpr duration open_for = std::chrono::seconds(30);

    // nullopt: a flight may enter. Else for how long none may; zero: until the flight that tries has ended.
    std::optional<duration> refuses(time_point now) const noexcept;
    bool is_open(time_point now) const noexcept { return open_until_ && now < *open_until_; }
    bool is_closed() const noexcept { return !open_until_; }

    // Only when nothing refuses. The number stands for a flight that tries a half-open circuit; 0: an ordinary one.
    std::uint64_t enter(time_point now) noexcept;
    void leave(std::uint64_t trial, verdict about, time_point now) noexcept;

private:
    unsigned failures_ = 0;
    std::optional<time_point> open_until_;  // Absent: closed. Past: half-open.
    std::uint64_t trials_ = 0;
    std::uint64_t trial_ = 0;  // The one under way; 0: none.
};

// Thread-safe. Must outlive its passes.
class breaker {
public:
    explicit breaker(std::string backend) : backend_(std::move(backend)) {}

    // One flight's stay. Ending without a verdict says nothing about the backend.
    class pass {
    public:
        pass(breaker& of, std::uint64_t trial) : of_(&of), trial_(trial) {}
        pass(pass&& other) noexcept : of_(std::exchange(other.of_, nullptr)), trial_(other.trial_) {}
        pass& operator=(pass&&) = delete;
        ~pass() { end(verdict::nothing); }
        // The second time does nothing.
        void end(verdict about) noexcept;

    private:
        breaker* of_;
        std::uint64_t trial_;
    };

    // errc::overloaded with the time after which the backend is asked again.
    result<pass> enter();
    // The same refusal without entering: for whoever still has to wait for a place.
    std::optional<error> refusal() const;
    // Why it takes no work, for people; empty: it does.
    std::string complaint() const;

private:
    void leave(std::uint64_t trial, verdict about) noexcept;

    const std::string backend_;
    mutable std::mutex mutex_;
    circuit circuit_;
};

}  // namespace hearonce::work
