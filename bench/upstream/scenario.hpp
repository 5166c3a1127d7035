// What becomes of each call: which fault it meets and how long it takes.
//
// Holds: scenario. Thread-safe. Next file: session.hpp.
#pragma once

#include <bench/upstream/fault.hpp>
#include <bench/upstream/settings.hpp>

#include <http/exchange.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::upstream {

class scenario {
public:
    // Throws std::invalid_argument when settings.always or settings.others is no fault.
    explicit scenario(const settings& how);

    // One fault a call from now on, in order; replaces what is left of an earlier script. Calls whose head has X-Fault use up
    // none. The error names the first item that is no fault; nothing is changed then.
    result<void> script(const std::vector<std::string>& specs);
    // For calls that the script, once it is used up, and the header say nothing about.
    result<void> always(std::string_view spec);
    std::size_t script_left() const;

    // For what is no call, such as GET /v1/models, when its head has no X-Fault.
    result<void> others(std::string_view spec);

    result<fault> fault_of(const http::request_head& head);
    result<fault> fault_of_other(const http::request_head& head) const;

    // The server's own latency for the next call.
    std::chrono::milliseconds delay();

private:
    const std::chrono::milliseconds delay_;
    const std::chrono::milliseconds delay_exponential_;
    const std::uint64_t seed_;
    mutable std::mutex guard_;
    std::deque<fault> script_;
    fault always_;
    fault others_;
    std::uint64_t calls_ = 0;
};

// The nth of a sequence with an exponential distribution; depends on its arguments alone, so that threads cannot change it.
std::chrono::milliseconds exponential_delay(std::chrono::milliseconds mean, std::uint64_t seed, std::uint64_t n);

}  // namespace hearonce::upstream
