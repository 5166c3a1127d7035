// When the helper is started, given up and started again: decisions only, time is an argument.
//
// Holds: supervisor. The process itself is in process.hpp, the jobs in job_table.hpp. Next file: engine.cpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace hearonce::whisper {

struct supervisor_settings {
    std::chrono::milliseconds start_timeout{120'000};
    std::chrono::milliseconds progress_timeout{20'000};
    std::chrono::milliseconds back_off_first{250};
    std::chrono::milliseconds back_off_max{30'000};
    unsigned failed_starts_max = 3;  // In a row; from then on waiting jobs are refused instead of kept.
};

// What is to be done now; the order is: kill, fail the running jobs, spawn.
struct supervisor_action {
    bool kill = false;          // SIGKILL; on_ended() follows when it is reaped.
    bool drop_running = false;  // Its running jobs end with upstream_error.
    bool drop_waiting = false;  // The waiting ones as well: a restart is not likely to help.
    bool spawn = false;         // on_ended() follows if that fails.
    friend bool operator==(const supervisor_action&, const supervisor_action&) = default;
};

enum class helper_phase : std::uint8_t { stopped, starting, ready, ending, backing_off };

// Every on_ function takes the event and the time and gives what to do. After each, next_wake() says when on_time() is due.
template <class Clock>
class basic_supervisor {
public:
    using time_point = typename Clock::time_point;

    explicit basic_supervisor(supervisor_settings settings) : settings_(settings) {}

    helper_phase phase() const noexcept { return phase_; }
    std::uint64_t restarts() const noexcept { return restarts_; }
    // True when the last starts failed: new jobs are refused with trouble().
    bool hopeless() const noexcept { return failed_starts_ >= settings_.failed_starts_max; }
    const std::string& trouble() const noexcept { return trouble_; }

    supervisor_action on_start(time_point now) {
        if (phase_ != helper_phase::stopped) return {};
        return spawned(now);
    }

    supervisor_action on_stop() {
        const bool alive = phase_ == helper_phase::starting || phase_ == helper_phase::ready;
        phase_ = helper_phase::stopped;
        return {.kill = alive, .drop_running = true, .drop_waiting = true};
    }

    void on_ready() {
        if (phase_ != helper_phase::starting) return;
        phase_ = helper_phase::ready;
        failed_starts_ = 0;
        trouble_.clear();
    }

    // It said that it cannot work; it exits by itself, and a repeat would say the same.
    supervisor_action on_broken(std::string reason) {
        if (phase_ != helper_phase::starting) return {};
        trouble_ = std::move(reason);
        said_why_ = true;
        failed_starts_ = settings_.failed_starts_max;
        return {.drop_waiting = true};
    }

    // A job came to its end, so this helper is good for something.
    void on_job_ended() noexcept { ends_in_a_row_ = 0; }

    // It says nonsense or its socket ended while the process lives.
    supervisor_action on_lost(std::string reason) {
        if (phase_ != helper_phase::starting && phase_ != helper_phase::ready) return {};
        lost_ = true;
        return give_up(std::move(reason));
    }

    // The process is gone and reaped.
    supervisor_action on_ended(time_point now, std::string reason) {
        if (phase_ == helper_phase::stopped || phase_ == helper_phase::backing_off) return {};
        supervisor_action action;
        if (phase_ == helper_phase::starting)
            count_failed_start(std::move(reason));
        else if ((phase_ == helper_phase::ready || lost_) && !said_why_)
            trouble_ = std::move(reason);  // Tells more than the end of a socket.
        lost_ = false;
        action.drop_running = true;
        action.drop_waiting = hopeless();
        auto pause = settings_.back_off_first * (1LL << std::min(ends_in_a_row_, 20U));
        pause = std::min<std::chrono::milliseconds>(pause, settings_.back_off_max);
        ++ends_in_a_row_;
        phase_ = helper_phase::backing_off;
        wake_ = now + pause;
        return action;
    }

    // `oldest_step`: when the running job that is silent longest last got a step further; nullopt when none runs.
    supervisor_action on_time(time_point now, std::optional<time_point> oldest_step) {
        if (phase_ == helper_phase::backing_off && now >= wake_) {
            ++restarts_;
            return spawned(now);
        }
        if (phase_ == helper_phase::starting && now >= wake_) {
            supervisor_action action = give_up("It did not get ready in time.");
            action.drop_waiting = hopeless();
            return action;
        }
        if (phase_ == helper_phase::ready && oldest_step && now >= *oldest_step + settings_.progress_timeout) {
            return give_up("It made no progress.");
        }
        return {};
    }

    std::optional<time_point> next_wake(std::optional<time_point> oldest_step) const {
        if (phase_ == helper_phase::backing_off || phase_ == helper_phase::starting) return wake_;
        if (phase_ == helper_phase::ready && oldest_step) return *oldest_step + settings_.progress_timeout;
        return std::nullopt;
    }

private:
    supervisor_action spawned(time_point now) {
        phase_ = helper_phase::starting;
        said_why_ = false;
        wake_ = now + settings_.start_timeout;
        return {.spawn = true};
    }

    supervisor_action give_up(std::string reason) {
        if (phase_ == helper_phase::starting)
            count_failed_start(std::move(reason));
        else
            trouble_ = std::move(reason);
        phase_ = helper_phase::ending;
        return {.kill = true, .drop_running = true};
    }

    void count_failed_start(std::string reason) {
        if (!said_why_) trouble_ = std::move(reason);
        failed_starts_ = std::min(failed_starts_ + 1, settings_.failed_starts_max);
    }

    supervisor_settings settings_;
    helper_phase phase_ = helper_phase::stopped;
    time_point wake_{};  // starting: when it must be ready; backing_off: when to start again.
    std::uint64_t restarts_ = 0;
    unsigned failed_starts_ = 0;
    unsigned ends_in_a_row_ = 0;
    bool said_why_ = false;  // trouble_ is its own word.
    bool lost_ = false;      // The socket ended first; how the process ends is still to be told.
    std::string trouble_;
};

using supervisor = basic_supervisor<std::chrono::steady_clock>;

}  // namespace hearonce::whisper
