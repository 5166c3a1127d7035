// What follows a failed call: the same backend after a pause, the next one, or the end. Pure: the clock is a parameter.
//
// Holds: retry_rule, dispatch_policy. Driven by dispatch_run.cpp. Next file: circuit.hpp.
#pragma once

#include <hearonce/deadline.hpp>
#include <hearonce/error.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace hearonce::work {

// `retry.*` of the configuration.
struct retry_rule {
    unsigned attempts = 3;  // Towards one backend, the first included.
    std::vector<std::chrono::milliseconds> pauses{std::chrono::milliseconds(500), std::chrono::seconds(2)};  // The last one repeats.
    std::chrono::milliseconds window = std::chrono::seconds(20);  // From the flight's start; no repeated call begins later.
};

// One flight's way through its route. The caller does what a step says and tells what came of it.
//
// Of several failures the answer is the one that ended the flight, if a failure ended it; else, when all backends are
// exhausted, the most telling: one that passes by itself (rate_limit_exceeded, overloaded) before one that may
// (upstream_timeout, upstream_error, internal_error) before one that needs the account's owner (insufficient_quota), and
// last that a backend was not asked at all, for it says nothing about the work. Among equals the first backend's, which
// is the one the operator prefers. It keeps its Retry-After.
class dispatch_policy {
public:
    using time_point = deadline::time_point;

    struct step {
        std::optional<std::size_t> call;  // The backend to call, by its place in the route; nullopt: nobody any more.
        time_point at{};                  // When to call: now or later, always before that backend's limit.
        error why{};                      // Without a call: the flight's answer,
        std::optional<std::size_t> by{};  // ... and the backend it is about; nullopt: about none.
    };

    // `limits`: of each backend of the route, none later than the flight's own. `spent`: attempts the client says it has
    // made itself; they count, but one is always left. `rule` must outlive this.
    dispatch_policy(const retry_rule& rule, std::vector<deadline> limits, time_point start, unsigned spent);

    step begin(time_point now) { return go_on(now); }
    // The call failed. `told`: somebody has read a piece of its transcript, so nothing may follow it.
    step failed(const error& why, bool told, time_point now);
    // The backend was not asked: its circuit is open.
    step refused(const error& why, time_point now);

private:
    step go_on(time_point now);
    std::optional<time_point> again_at(const error& why, time_point now) const;
    void note(const error& why, int telling);

    const retry_rule& rule_;
    const std::vector<deadline> limits_;
    const time_point start_;
    const unsigned attempts_max_;
    std::size_t current_ = 0;  // Meaningful once `begun_`.
    bool begun_ = false;
    unsigned failed_here_ = 0;
    std::optional<error> most_telling_;
    int telling_ = 0;
    std::size_t told_by_ = 0;
};

}  // namespace hearonce::work
