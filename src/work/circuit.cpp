// The circuit's rule and its shell. Next file: in_flight.cpp.
#include <observe/log.hpp>
#include <work/circuit.hpp>

#include <algorithm>
#include <cassert>

namespace hearonce::work {

namespace {

using std::chrono::seconds;

error overloaded_for(circuit::duration left) {
    // Rounded up, so that whoever obeys does not come too early.
    return error(errc::overloaded, "The backend fails and is given a pause, try again later.")
        .with_retry_after(std::max(std::chrono::ceil<seconds>(left), seconds(1)));
}

}  // namespace

verdict verdict_of(const result<transcript>& heard) noexcept {
    if (heard) return verdict::works;
    const auto code = heard.error().code();
    return code == errc::upstream_error || code == errc::upstream_timeout ? verdict::fails : verdict::nothing;
}

std::optional<circuit::duration> circuit::refuses(time_point now) const noexcept {
    if (!open_until_) return std::nullopt;
    if (now < *open_until_) return *open_until_ - now;
    return trial_ != 0 ? std::optional(duration::zero()) : std::nullopt;
}

std::uint64_t circuit::enter([[maybe_unused]] time_point now) noexcept {
    assert(!refuses(now));
    if (!open_until_) return 0;
    return trial_ = ++trials_;
}

void circuit::leave(std::uint64_t trial, verdict about, time_point now) noexcept {
    const bool was_trial = trial != 0 && trial == trial_;
    if (was_trial) trial_ = 0;
    if (about == verdict::works) {
        // Also by a flight that began before it opened: the backend works, whoever found out.
        failures_ = 0;
        open_until_.reset();
    } else if (about == verdict::fails) {
        const bool opens = open_until_ ? was_trial : ++failures_ >= failures_max;
        if (opens) open_until_ = now + open_for;
    }
}

result<breaker::pass> breaker::enter() {
    const auto now = deadline::clock::now();
    std::uint64_t trial = 0;
    {
        const std::lock_guard lock(mutex_);
        if (const auto left = circuit_.refuses(now)) return overloaded_for(*left);
        trial = circuit_.enter(now);
    }
    if (trial != 0) observe::say(observe::log_level::info, "trying a backend that was left alone", {{"backend", backend_}});
    return pass(*this, trial);
}

std::optional<error> breaker::refusal() const {
    const std::lock_guard lock(mutex_);
    const auto left = circuit_.refuses(deadline::clock::now());
    return left ? std::optional(overloaded_for(*left)) : std::nullopt;
}

std::string breaker::complaint() const {
    const auto now = deadline::clock::now();
    const std::lock_guard lock(mutex_);
    if (!circuit_.is_open(now)) return {};
    const auto left = std::chrono::ceil<seconds>(*circuit_.refuses(now));
    return "work failed " + std::to_string(circuit::failures_max) + " times in a row; asked again in " + std::to_string(left.count()) +
           " s";
}

void breaker::leave(std::uint64_t trial, verdict about) noexcept {
    const auto now = deadline::clock::now();
    bool opened = false;
    bool closed = false;
    {
        const std::lock_guard lock(mutex_);
        const bool was_closed = circuit_.is_closed();
        const bool was_open = circuit_.is_open(now);
        circuit_.leave(trial, about, now);
        closed = !was_closed && circuit_.is_closed();
        opened = !was_open && circuit_.is_open(now);
    }
    if (opened) {
        observe::say(observe::log_level::warn, "a backend fails and is left alone for a while",
                     {{"backend", backend_}, {"seconds", std::chrono::duration_cast<seconds>(circuit::open_for).count()}});
    }
    if (closed) observe::say(observe::log_level::info, "a backend works again", {{"backend", backend_}});
}

void breaker::pass::end(verdict about) noexcept {
    if (of_ != nullptr) std::exchange(of_, nullptr)->leave(trial_, about);
}

}  // namespace hearonce::work
