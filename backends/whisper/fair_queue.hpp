// Who is next for a free slot: callers take turns, and one caller's jobs keep their order, so that nobody waits behind all the
// recordings of somebody else.
//
// Holds: fair_queue. Next file: job_table.hpp.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::whisper {

// Every call costs at most one look at each waiting job; the queue is bounded by its owner.
class fair_queue {
public:
    using id_type = std::uint64_t;

    std::size_t size() const noexcept { return size_; }

    void add(id_type id, std::string_view caller) {
        auto at = std::ranges::find(turns_, caller, &turn::caller);
        if (at == turns_.end()) at = turns_.insert(turns_.end(), turn{std::string(caller), {}});
        at->ids.push_back(id);
        ++size_;
    }

    // The oldest job of the caller whose turn it is; that caller is then the last in line.
    std::optional<id_type> take() {
        if (turns_.empty()) return std::nullopt;
        const auto at = turns_.begin();
        assert(!at->ids.empty() && "a caller without jobs has no turn");
        const id_type id = at->ids.front();
        at->ids.pop_front();
        --size_;
        if (at->ids.empty()) {
            turns_.erase(at);
        } else {
            turns_.splice(turns_.end(), turns_, at);
        }
        return id;
    }

    // False: it does not wait here.
    bool remove(id_type id) {
        for (auto at = turns_.begin(); at != turns_.end(); ++at) {
            const auto found = std::ranges::find(at->ids, id);
            if (found == at->ids.end()) continue;
            at->ids.erase(found);
            --size_;
            if (at->ids.empty()) turns_.erase(at);
            return true;
        }
        return false;
    }

    // For a full queue: takes out the newest job of the caller that has most of them, if that is at least two more than
    // `caller` has, so that no one fills the queue against everybody else. nullopt: `caller` has its share already.
    std::optional<id_type> displace_for(std::string_view caller) {
        const auto by_jobs = [](const turn& a, const turn& b) { return a.ids.size() < b.ids.size(); };
        const auto most = std::ranges::max_element(turns_, by_jobs);
        const auto mine = std::ranges::find(turns_, caller, &turn::caller);
        const std::size_t has = mine == turns_.end() ? 0 : mine->ids.size();
        if (most == turns_.end() || most->ids.size() < has + 2) return std::nullopt;
        const id_type id = most->ids.back();
        most->ids.pop_back();
        --size_;
        return id;
    }

    // Empties the queue and says who was in it.
    std::vector<id_type> drop() {
        std::vector<id_type> ids;
        for (const auto& one : turns_) ids.insert(ids.end(), one.ids.begin(), one.ids.end());
        turns_.clear();
        size_ = 0;
        return ids;
    }

private:
    struct turn {
        std::string caller;
        std::deque<id_type> ids;
    };

    std::list<turn> turns_;
    std::size_t size_ = 0;
};

}  // namespace hearonce::whisper
