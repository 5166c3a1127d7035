// The table for one key, written down as plainly as possible: no locks, no loops, no timers. What the orders test compares with.
#pragma once

#include <test/flight/flight_bed.hpp>

struct flight_model {
    struct run {
        bool running = true;
        bool cancelled = false;
        bool keeps = true;  // False once displaced, and for private runs.
        int waiters = 1;
        std::optional<fake_clock::time_point> lonely_since;
    };
    struct waiter {
        flight_role role = flight_role::refused;
        int run = -1;
        fake_clock::time_point deadline;
        std::optional<wait_status> end;
        bool stored = false;
    };

    std::vector<run> runs;
    std::vector<waiter> waiters;
    int current = -1;  // The run at the key.
    int kept = -1;     // The run whose success is kept, swept or not.
    fake_clock::time_point gone_at;
    milliseconds grace_now = grace;
    fake_clock::time_point now{};
    bool stopped = false;
    bool destroyed = false;

    bool waiting(std::size_t one) const { return waiters[one].role != flight_role::refused && !waiters[one].end; }

    void come(enter_as how, fake_clock::time_point deadline) {
        if (kept >= 0 && gone_at <= now) kept = -1;  // Swept in passing.
        waiters.push_back({});
        auto& one = waiters.back();
        if (stopped) return;
        one.deadline = deadline;
        if (how == enter_as::usual && kept >= 0) {
            one = {flight_role::hit, kept, deadline, wait_status::done, true};
        } else if (how == enter_as::usual && current >= 0) {
            one.role = flight_role::joined;
            one.run = current;
            ++runs[at(current)].waiters;
            runs[at(current)].lonely_since.reset();
        } else {
            one.role = flight_role::led;
            one.run = static_cast<int>(runs.size());
            runs.push_back({});
            if (how == enter_as::no_store) {
                runs.back().keeps = false;
                return;
            }
            if (current >= 0) runs[at(current)].keeps = false;
            kept = -1;
            current = one.run;
        }
    }
    void go(std::size_t one, wait_status how) {
        waiters[one].end = how;
        auto& from = runs[at(waiters[one].run)];
        if (--from.waiters == 0 && from.running) from.lonely_since = now;
        bury();
    }
    void end(int which, verdict with) {
        runs[at(which)].running = false;
        const bool stored = with == verdict::success && runs[at(which)].keeps;
        for (auto& one : waiters) {
            if (one.run != which || one.end) continue;
            one.end = with == verdict::thrown ? wait_status::failed : wait_status::done;
            one.stored = stored;
        }
        if (stored) {
            kept = which;
            gone_at = now + ttl;
        }
        if (current == which) current = -1;
    }
    void pass(milliseconds time) {
        now += time;
        for (std::size_t one = 0; one != waiters.size(); ++one) {
            if (waiting(one) && waiters[one].deadline <= now) go(one, wait_status::timed_out);
        }
        bury();
    }
    void abandon_now() {
        grace_now = milliseconds(0);
        bury();
    }
    void stop() {
        stopped = true;
        kept = current = -1;
        for (auto& one : waiters) {
            if (one.role != flight_role::refused && !one.end) one.end = wait_status::stopped;
        }
        for (auto& each : runs) {
            if (each.running) each.running = false, each.cancelled = true;
        }
    }
    int flights() const {
        int count = 0;
        for (auto& each : runs) count += each.running ? 1 : 0;
        return count;
    }
    int places() const {
        int count = 0;
        for (std::size_t one = 0; one != waiters.size(); ++one) count += waiting(one) ? 1 : 0;
        return count;
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    void bury() {
        for (std::size_t each = 0; each != runs.size(); ++each) {
            auto& one = runs[each];
            if (!one.running || one.waiters != 0 || !one.lonely_since || *one.lonely_since + grace_now > now) continue;
            one.running = false;
            one.cancelled = true;
            if (current == static_cast<int>(each)) current = -1;
        }
    }
};
