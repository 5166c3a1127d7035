// Next file: session.cpp.
#include <bench/upstream/scenario.hpp>

#include <cmath>
#include <stdexcept>
#include <utility>

namespace hearonce::upstream {

namespace {

// Sebastiano Vigna's SplitMix64: one well mixed number from each counter value.
std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

}  // namespace

std::chrono::milliseconds exponential_delay(std::chrono::milliseconds mean, std::uint64_t seed, std::uint64_t n) {
    const auto bits = mixed(mixed(seed) + n) >> 11U;
    // In (0, 1]: its logarithm is finite.
    const double uniform = (static_cast<double>(bits) + 1.0) / 9007199254740992.0;
    return std::chrono::milliseconds(std::llround(-std::log(uniform) * static_cast<double>(mean.count())));
}

scenario::scenario(const settings& how) : delay_(how.delay), delay_exponential_(how.delay_exponential), seed_(how.seed) {
    auto read = always(how.always);
    if (read) read = others(how.others);
    if (!read) throw std::invalid_argument(std::string(read.error().message()));
}

result<void> scenario::script(const std::vector<std::string>& specs) {
    std::deque<fault> read;
    for (const auto& one : specs) {
        auto made = parse_fault(one);
        if (!made) return made.error();
        read.push_back(*std::move(made));
    }
    const std::lock_guard lock(guard_);
    script_ = std::move(read);
    return {};
}

result<void> scenario::always(std::string_view spec) {
    auto made = parse_fault(spec);
    if (!made) return made.error();
    const std::lock_guard lock(guard_);
    always_ = *std::move(made);
    return {};
}

result<void> scenario::others(std::string_view spec) {
    auto made = parse_fault(spec);
    if (!made) return made.error();
    if (made->of_what_is_heard()) return error(errc::invalid_parameter, "The fault '" + std::string(spec) + "' is of calls alone.");
    const std::lock_guard lock(guard_);
    others_ = *std::move(made);
    return {};
}

std::size_t scenario::script_left() const {
    const std::lock_guard lock(guard_);
    return script_.size();
}

result<fault> scenario::fault_of(const http::request_head& head) {
    if (const auto asked = head.find("x-fault")) return parse_fault(*asked);
    const std::lock_guard lock(guard_);
    if (script_.empty()) return always_;
    auto next = std::move(script_.front());
    script_.pop_front();
    return next;
}

result<fault> scenario::fault_of_other(const http::request_head& head) const {
    if (const auto asked = head.find("x-fault")) {
        auto made = parse_fault(*asked);
        if (made && made->of_what_is_heard()) return error(errc::invalid_parameter, "This fault is of calls alone.");
        return made;
    }
    const std::lock_guard lock(guard_);
    return others_;
}

std::chrono::milliseconds scenario::delay() {
    if (delay_exponential_.count() == 0) return delay_;
    std::uint64_t n = 0;
    {
        const std::lock_guard lock(guard_);
        n = calls_++;
    }
    return delay_ + exponential_delay(delay_exponential_, seed_, n);
}

}  // namespace hearonce::upstream
