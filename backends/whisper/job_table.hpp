// Which jobs wait and which run: callers take turns, `slots` at a time. Decisions only, time is an argument.
//
// Holds: job_limits, basic_job_table. Knows nothing of sockets or callers; ids are the engine's. Next file: engine.cpp.
#pragma once

#include <backends/whisper/fair_queue.hpp>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace hearonce::whisper {

struct job_limits {
    unsigned slots = 1;
    std::size_t queue = 64;
    double seconds_per_audio_second = 4;
    std::chrono::milliseconds floor{60'000};
    std::chrono::milliseconds quiet_extra{0};  // How much longer a job may be silent that said it will be.
};

template <class Clock>
class basic_job_table {
public:
    using time_point = typename Clock::time_point;
    using id_type = std::uint64_t;

    explicit basic_job_table(job_limits limits) : limits_(limits) {}

    std::size_t waiting() const noexcept { return waiting_.size(); }
    std::size_t running() const noexcept { return running_.size(); }

    // The job that finds no room, if any: a full queue turns `id` away, or in its place the newest job of a caller that fills
    // the queue. A job that a free slot will take at once does not count.
    std::optional<id_type> add(id_type id, std::string_view caller) {
        const std::size_t free_slots = limits_.slots > running_.size() ? limits_.slots - running_.size() : 0;
        std::optional<id_type> displaced;
        if (waiting_.size() >= limits_.queue + free_slots) {
            displaced = waiting_.displace_for(caller);
            if (!displaced) return id;
        }
        waiting_.add(id, caller);
        return displaced;
    }

    // The next job to hand to the helper, which must be ready; nullopt when no slot or no job is free.
    std::optional<id_type> take(time_point now) {
        if (waiting_.size() == 0 || running_.size() >= limits_.slots) return std::nullopt;
        const id_type id = *waiting_.take();
        running_.emplace(id, run{now, now, now + limits_.floor, false});
        return id;
    }

    // The job got a step further; its audio is known to be this long when not zero. `quiet`: the next step may take longer,
    // so this one counts as if it came later. False: no such job runs.
    bool step(id_type id, time_point now, std::chrono::milliseconds audio, bool quiet = false) {
        const auto found = running_.find(id);
        if (found == running_.end()) return false;
        found->second.stepped = quiet ? now + limits_.quiet_extra : now;
        const auto allowed = std::chrono::duration_cast<typename Clock::duration>(audio * limits_.seconds_per_audio_second);
        found->second.until = std::max(found->second.until, found->second.began + allowed);
        return true;
    }

    enum class place : std::uint8_t { none, waiting, running };

    // The caller left. Waiting: it is gone. Running: it keeps its slot until end(), and is to be cancelled once.
    place leave(id_type id) {
        if (waiting_.remove(id)) return place::waiting;
        const auto found = running_.find(id);
        if (found == running_.end() || found->second.cancelled) return place::none;
        found->second.cancelled = true;
        return place::running;
    }

    // The helper ended the job: its slot is free. False: no such job runs, be it unknown or still waiting.
    bool end(id_type id, time_point now) {
        const auto found = running_.find(id);
        if (found == running_.end()) return false;
        const double seconds = std::chrono::duration<double>(now - found->second.began).count();
        usual_seconds_ = usual_seconds_ == 0 ? seconds : usual_seconds_ * 0.8 + seconds * 0.2;
        running_.erase(found);
        return true;
    }

    std::vector<id_type> drop_running() {
        std::vector<id_type> ids;
        for (const auto& [id, run] : running_) ids.push_back(id);
        running_.clear();
        return ids;
    }

    std::vector<id_type> drop_waiting() { return waiting_.drop(); }

    // Running jobs whose own time is over and that were not cancelled before.
    std::vector<id_type> overdue(time_point now) const {
        std::vector<id_type> ids;
        for (const auto& [id, run] : running_) {
            if (!run.cancelled && now >= run.until) ids.push_back(id);
        }
        return ids;
    }

    std::optional<time_point> next_overdue() const {
        std::optional<time_point> at;
        for (const auto& [id, run] : running_) {
            if (!run.cancelled && (!at || run.until < *at)) at = run.until;
        }
        return at;
    }

    // May lie ahead, when the job that is silent longest said it will be quiet.
    std::optional<time_point> oldest_step() const {
        std::optional<time_point> at;
        for (const auto& [id, run] : running_) {
            if (!at || run.stepped < *at) at = run.stepped;
        }
        return at;
    }

    // When a job refused now may find room: about when one slot gets free. 1..60 s.
    std::chrono::seconds retry_after() const {
        const double each = usual_seconds_ == 0 ? 2 : usual_seconds_;
        return std::chrono::seconds(static_cast<std::int64_t>(std::clamp(each / limits_.slots + 0.999, 1.0, 60.0)));
    }

private:
    struct run {
        time_point began;
        time_point stepped;
        time_point until;
        bool cancelled = false;
    };

    job_limits limits_;
    fair_queue waiting_;
    std::map<id_type, run> running_;
    double usual_seconds_ = 0;
};

using job_table = basic_job_table<std::chrono::steady_clock>;

}  // namespace hearonce::whisper
