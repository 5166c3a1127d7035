// Finished successes, each kept for the same time, bounded in bytes and entries; the least recently used goes first.
//
// Holds: kept_results. Needs the standard library, nothing else. Not thread-safe: single_flight.hpp, the next file, has one behind
// each of its locks.
#pragma once

#include <cassert>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hearonce {

// Every function costs the same however many entries there are. What goes out is handed to the caller, to be destroyed where
// no lock is held.
template <class Key, class Outcome, class TimePoint, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
class kept_results {
    struct entry;
    using node = std::pair<const Key, entry>;
    struct entry {
        std::shared_ptr<const Outcome> outcome;
        std::size_t bytes = 0;
        TimePoint gone_at{};
        typename std::list<node*>::iterator by_use;
        typename std::list<node*>::iterator by_end;
    };

public:
    using waste = std::vector<std::shared_ptr<const Outcome>>;
    struct found {
        std::shared_ptr<const Outcome> outcome;  // Empty: nothing is kept.
        TimePoint gone_at{};
    };

    kept_results(std::size_t bytes_max, std::size_t entries_max) : bytes_max_(bytes_max), entries_max_(entries_max) {}
    kept_results(kept_results&&) = default;  // Nodes stay where they are.
    kept_results& operator=(kept_results&&) = delete;

    std::size_t bytes() const noexcept { return bytes_; }
    std::size_t entries() const noexcept { return by_use_.size(); }

    // What is kept for the key, which becomes the most recently used. At `gone_at` it is gone.
    found find(const Key& key, TimePoint now) {
        const auto at = entries_.find(key);
        if (at == entries_.end() || at->second.gone_at <= now) return {};
        by_use_.splice(by_use_.end(), by_use_, at->second.by_use);
        return {at->second.outcome, at->second.gone_at};
    }

    // Keeps an outcome. `gone_at` never goes back from one call to the next, so that the order of calls is the order of ends.
    // False: it does not fit, even alone.
    bool keep(const Key& key, std::shared_ptr<const Outcome> outcome, std::size_t bytes, TimePoint gone_at, waste& out) {
        assert(by_end_.empty() || by_end_.back()->second.gone_at <= gone_at);
        forget(key, out);
        if (bytes > bytes_max_ || entries_max_ == 0) return false;
        while (bytes_ > bytes_max_ - bytes || by_use_.size() >= entries_max_) evict(*by_use_.front(), out);
        auto& at = *entries_.try_emplace(key).first;
        at.second = entry{std::move(outcome), bytes, gone_at, by_use_.insert(by_use_.end(), &at), by_end_.insert(by_end_.end(), &at)};
        bytes_ += bytes;
        return true;
    }

    void forget(const Key& key, waste& out) {
        const auto at = entries_.find(key);
        if (at != entries_.end()) evict(*at, out);
    }

    // Drops at most so many of those whose time is over.
    void sweep(TimePoint now, std::size_t at_most, waste& out) {
        for (; at_most != 0 && !by_end_.empty() && by_end_.front()->second.gone_at <= now; --at_most) evict(*by_end_.front(), out);
    }

    void clear(waste& out) {
        while (!by_use_.empty()) evict(*by_use_.front(), out);
    }

private:
    void evict(node& at, waste& out) {
        bytes_ -= at.second.bytes;
        by_use_.erase(at.second.by_use);
        by_end_.erase(at.second.by_end);
        out.push_back(std::move(at.second.outcome));
        entries_.erase(entries_.find(at.first));
    }

    std::unordered_map<Key, entry, Hash, Equal> entries_;
    std::list<node*> by_use_;  // Least recently used first.
    std::list<node*> by_end_;  // First to be gone first.
    std::size_t bytes_ = 0;
    const std::size_t bytes_max_;
    const std::size_t entries_max_;
};

}  // namespace hearonce
