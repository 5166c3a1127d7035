// How a client sends a recording again over a link that fails: how often, after which pauses, and after which failures.
//
// Holds: resend_rule, send_failure, is_transient_status(), may_resend(), resend_policy, resend(), read_timeout_for(). Needs
// the standard library, nothing else: no HTTP in it, clock, sleep and chance are parameters.
//
// Sending again is safe, and free, towards a server that recognises the recording; towards any other it is as safe as the list of
// failures below is strict.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace hearonce {

struct resend_rule {
    unsigned attempts = 4;  // The first included; 0 counts as 1.
    // Before attempts 2, 3, 4; the last one repeats. Empty: no pause.
    std::vector<std::chrono::milliseconds> pauses{std::chrono::seconds(2), std::chrono::seconds(5), std::chrono::seconds(10)};
    // No attempt begins later than this after the start; at exactly this it still may.
    std::chrono::milliseconds window{90'000};
    // Wait for as long as a 503 or 429 says, if that is longer than the pause and within the window. Makes 429 worth another try.
    bool obey_retry_after = false;
    // A pause is made longer by up to this share of it, so that many clients do not come back at one moment. 0: never.
    double jitter = 0;
};

// How an attempt failed, told apart as far as the decision needs it.
enum class send_failure_kind : std::uint8_t {
    host_not_found,  // The name could not be resolved.
    connection,      // No connection, or it broke: refused, unreachable, reset, TLS cut off.
    io,              // Reading or writing failed or timed out.
    status,          // An answer came, with a status that is no success.
    invalid,         // The caller's own request cannot be sent: a missing file, a malformed URL, a certificate that is not trusted.
    cancelled,       // The user gave up, whichever way that surfaced: as an aborted read, a closed socket, an exception.
};

struct send_failure {
    send_failure_kind kind = send_failure_kind::connection;
    unsigned status = 0;                                // Of kind status.
    std::optional<std::chrono::seconds> retry_after{};  // As the answer said (RFC 9110 section 10.2.3).
};

// 500, 502, 503, 504 and 520 to 524: the server, or one before it, could not; 501 will not ever. The list is exact.
constexpr bool is_transient_status(unsigned status) noexcept {
    return status == 500 || (status >= 502 && status <= 504) || (status >= 520 && status <= 524);
}

// Whether another attempt may end better. The user's cancel is final, also where a broken link would look the same: who calls
// this must know whether the user cancelled, and say `cancelled` then.
constexpr bool may_resend(const send_failure& why, const resend_rule& rule) noexcept {
    switch (why.kind) {
        case send_failure_kind::host_not_found:
        case send_failure_kind::connection:
        case send_failure_kind::io: return true;
        case send_failure_kind::status:
            return is_transient_status(why.status) || (why.status == 429 && rule.obey_retry_after && why.retry_after);
        case send_failure_kind::invalid:
        case send_failure_kind::cancelled: break;
    }
    return false;
}

// One recording's attempts. Not thread-safe. A clock that goes backwards gains no time.
template <class Clock = std::chrono::steady_clock>
class resend_policy {
public:
    using time_point = typename Clock::time_point;
    using duration = std::chrono::milliseconds;

    resend_policy(resend_rule rule, time_point start) : rule_(std::move(rule)), start_(start), latest_(start) {}

    // After a failed attempt: how long to pause before the next one; nullopt: give up, `why` is the end. `chance` in 0..1 is
    // what jitter is made of.
    std::optional<duration> failed(const send_failure& why, time_point now, double chance = 0) {
        latest_ = std::max(latest_, now);
        ++made_;
        if (made_ >= std::max(1U, rule_.attempts) || !may_resend(why, rule_)) return std::nullopt;
        const duration pause = pause_before_next(why, std::clamp(chance, 0.0, 1.0));
        // Written so that nothing overflows, however long the pauses and the window are.
        const auto gone = std::chrono::ceil<duration>(latest_ - start_);
        if (pause > rule_.window || gone > rule_.window - pause) return std::nullopt;
        return pause;
    }

    // Attempts that have ended.
    unsigned attempts() const noexcept { return made_; }

private:
    duration pause_before_next(const send_failure& why, double chance) const {
        duration pause{0};
        if (!rule_.pauses.empty()) pause = rule_.pauses[std::min<std::size_t>(made_, rule_.pauses.size()) - 1];
        pause += std::chrono::duration_cast<duration>(pause * std::max(0.0, rule_.jitter) * chance);
        const bool told = why.kind == send_failure_kind::status && (why.status == 503 || why.status == 429);
        // A time that does not fit into the window ends the resending, as it is beyond any window's reach.
        if (rule_.obey_retry_after && told && why.retry_after) {
            const auto longest = std::chrono::duration_cast<std::chrono::seconds>(duration::max()) - std::chrono::seconds(1);
            pause = std::max(pause, duration(std::min(*why.retry_after, longest)));
        }
        return pause;
    }

    resend_rule rule_;
    time_point start_;
    time_point latest_;
    unsigned made_ = 0;
};

// How sending ended.
template <class Answer>
struct resend_end {
    std::optional<Answer> answer{};  // Of the attempt that succeeded.
    send_failure why{};              // Of the last attempt, when none did.
    unsigned attempts = 0;
};

// The loop around the policy, for code that blocks. `attempt` gets the number of the attempt, from 1, and returns
// std::pair<std::optional<Answer>, send_failure>; `pause_for` pauses and returns false when the user cancelled meanwhile, at once.
// `now` is the clock.
template <class Clock = std::chrono::steady_clock, class Attempt, class Sleep, class Now>
auto resend(const resend_rule& rule, Attempt attempt, Sleep pause_for, Now now)
    -> resend_end<typename decltype(attempt(1U))::first_type::value_type> {
    resend_policy<Clock> policy(rule, now());
    resend_end<typename decltype(attempt(1U))::first_type::value_type> end;
    for (;;) {
        auto [answer, why] = attempt(policy.attempts() + 1);
        end.attempts = policy.attempts() + 1;
        if (answer) {
            end.answer = std::move(answer);
            return end;
        }
        end.why = why;
        const auto pause = policy.failed(why, now());
        if (!pause) return end;
        if (!pause_for(*pause)) {
            end.why = {.kind = send_failure_kind::cancelled};
            return end;
        }
    }
}

// How long an attempt waits for the answer to a recording of this length: 30 s and half the length, at most 120 s. A negative
// length counts as none; an unknown one (nullopt) gets the most.
constexpr std::chrono::milliseconds read_timeout_for(std::optional<std::chrono::milliseconds> length) noexcept {
    constexpr std::chrono::milliseconds least{30'000};
    constexpr std::chrono::milliseconds most{120'000};
    if (!length) return most;
    const auto half = std::max(*length, std::chrono::milliseconds(0)) / 2;
    return half < most - least ? least + half : most;
}

}  // namespace hearonce
