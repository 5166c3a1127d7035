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
