// How single_flight does what it declares: shards, runs, and what happens under a shard's lock.
//
// Holds: single_flight's shard, core, flight and functions. Included by single_flight.hpp. Next file: kept_results.hpp.
#pragma once

#include <hearonce/kept_results.hpp>
#include <hearonce/single_flight.hpp>

#include <bit>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hearonce {

// Guarded by its mutex. A key has a run or a kept success, never both.
template <class Key, class Outcome, class Clock, class Hash, class Equal>
struct alignas(64) single_flight<Key, Outcome, Clock, Hash, Equal>::shard {
    using runs = std::vector<std::shared_ptr<flight>>;
    using kept_type = kept_results<Key, Outcome, time_point, Hash, Equal>;

    shard(std::size_t bytes_max, std::size_t entries_max) : kept(bytes_max, entries_max) {}

    std::mutex mutex;
    std::unordered_map<Key, std::shared_ptr<flight>, Hash, Equal> running;
    std::unordered_set<std::shared_ptr<flight>> keyless;  // Private runs and those whose key a refresh took.
    kept_type kept;
    bool stopped = false;

    // The key's callers find `led` from now on.
    void give_key(const Key& key, const std::shared_ptr<flight>& led, typename kept_type::waste& out) {
        kept.forget(key, out);
        auto& at = *running.try_emplace(key).first;
        if (at.second) {
            at.second->key_ = nullptr;
            keyless.insert(std::move(at.second));
        }
        at.second = led;
        led->key_ = &at.first;
    }
    // Nobody finds `run` any more. By identity: the key may have become another run's.
    void remove(const std::shared_ptr<flight>& run) {
        if (auto* key = std::exchange(run->key_, nullptr))
            running.erase(running.find(*key));
        else
            keyless.erase(run);
    }
    runs all() const {
        runs found(keyless.begin(), keyless.end());
        for (auto& [key, run] : running) found.push_back(run);
        return found;
    }
};

// The part of the table that its flights keep alive: they outlive a table that is destroyed under them.
template <class Key, class Outcome, class Clock, class Hash, class Equal>
struct single_flight<Key, Outcome, Clock, Hash, Equal>::core {
    explicit core(settings given) : how(std::move(given)) {
        const auto count = shards_for(how);
        for (std::size_t i = 0; i != count; ++i) shards.emplace_back(how.cache_bytes_max / count, how.entries_max / count);
    }
    static std::size_t shards_for(const settings& how) {
        if (how.shards != 0) return std::bit_ceil(how.shards);
        std::size_t count = 16;
        while (count > 1 && (how.cache_bytes_max / count < (std::size_t{4} << 20) || how.entries_max / count < 256)) count /= 2;
        return count;
    }
    shard& shard_of(const Key& key) {
        // The multiplication spreads weak hashes (std::hash of a number is the number) over the upper bits.
        const auto spread = static_cast<std::uint64_t>(Hash{}(key)) * 0x9E3779B97F4A7C15u;
        return shards[static_cast<std::size_t>(spread >> 32) & (shards.size() - 1)];
    }
    bool count_flight() {
        auto now = flights.load(std::memory_order_relaxed);
        do {
            if (now >= how.flights_max) return false;
        } while (!flights.compare_exchange_weak(now, now + 1, std::memory_order_relaxed));
        return true;
    }
    std::optional<std::size_t> size_to_keep(const result& end) const {
        if (end.status != wait_status::done || !how.keep || how.ttl <= duration::zero()) return std::nullopt;
        try {
            return how.keep(*end.outcome);
        } catch (...) {
            return std::nullopt;
        }
    }

    const settings how;
    std::deque<shard> shards;
    std::atomic<std::size_t> flights = 0;
    std::atomic<std::size_t> waiters = 0;
    std::atomic<bool> abandoning = false;
};

// One run. `key_` points into the shard while this run is the one that the key's callers find.
template <class Key, class Outcome, class Clock, class Hash, class Equal>
class single_flight<Key, Outcome, Clock, Hash, Equal>::flight final : public operation {
public:
    flight(std::shared_ptr<core> table, shard& home, const boost::asio::any_io_executor& executor, std::shared_ptr<void> beside)
        : operation(executor, table->abandoning ? duration::zero() : table->how.abandon_grace, std::move(beside)),
          table_(std::move(table)),
          home_(home) {}

    bool add_waiter() {
        if (this->waiters().enter(table_->how.waiters_max) != operation::room::answer::welcome) return false;
        table_->waiters.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    const Key* key_ = nullptr;

private:
    // Join and end are one critical section: a caller finds either the run or what was kept of it.
    void settle(result end) override {
        const auto size = table_->size_to_keep(end);
        typename shard::kept_type::waste out;
        typename operation::room::seats sleeping;
        {
            std::lock_guard lock(home_.mutex);
            if (key_ && size) end.stored = home_.kept.keep(*key_, end.outcome, *size, Clock::now() + table_->how.ttl, out);
            if (end.stored) end.ttl_left = table_->how.ttl;
            home_.remove(self());
            sleeping = this->waiters().finish(std::move(end));
        }
        table_->flights.fetch_sub(1, std::memory_order_relaxed);
        operation::room::wake(std::move(sleeping));
    }
    // Out of the table first; the caller cancels after.
    bool retire() override {
        std::lock_guard lock(home_.mutex);
        if (!this->waiters().close_if_lonely()) return false;
        home_.remove(self());
        return true;
    }
    void waiter_left() noexcept override { table_->waiters.fetch_sub(1, std::memory_order_relaxed); }
    std::shared_ptr<flight> self() { return std::static_pointer_cast<flight>(this->shared_from_this()); }

    const std::shared_ptr<core> table_;
    shard& home_;
};

// What a caller finds at a key: a hit, a place in a run, a refusal; nullopt: nothing. With the shard's lock held.
template <class Key, class Outcome, class Clock, class Hash, class Equal>
auto single_flight<Key, Outcome, Clock, Hash, Equal>::look(shard& home, const Key& key, time_point now) -> std::optional<ticket> {
    if (auto kept = home.kept.find(key, now); kept.outcome) {
        return ticket(result{wait_status::done, std::move(kept.outcome), nullptr, true, kept.gone_at - now});
    }
    const auto run = home.running.find(key);
    if (run == home.running.end()) return std::nullopt;
    if (!run->second->add_waiter()) return ticket(flight_refusal::too_many_waiters);
    return ticket(flight_role::joined, run->second);
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
template <class Work>
auto single_flight<Key, Outcome, Clock, Hash, Equal>::enter(const Key& key, const boost::asio::any_io_executor& executor, Work&& work,
                                                            enter_as how, std::shared_ptr<void> beside) -> ticket {
    auto& home = core_->shard_of(key);
    typename shard::kept_type::waste out;
    std::shared_ptr<flight> led;
    {
        std::lock_guard lock(home.mutex);
        const auto now = Clock::now();
        home.kept.sweep(now, 2, out);
        if (home.stopped) return ticket(flight_refusal::stopped);
        if (how == enter_as::usual) {
            if (auto seen = look(home, key, now)) return std::move(*seen);
        }
        if (!core_->count_flight()) return ticket(flight_refusal::too_many_flights);
        led = std::make_shared<flight>(core_, home, executor, std::move(beside));
        led->add_waiter();
        if (how == enter_as::no_store)
            home.keyless.insert(led);
        else
            home.give_key(key, led, out);
    }
    ticket place(flight_role::led, led);
    led->start(std::forward<Work>(work));
    return place;
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
auto single_flight<Key, Outcome, Clock, Hash, Equal>::find(const Key& key) -> ticket {
    auto& home = core_->shard_of(key);
    typename shard::kept_type::waste out;
    std::lock_guard lock(home.mutex);
    const auto now = Clock::now();
    home.kept.sweep(now, 2, out);
    if (home.stopped) return ticket(flight_refusal::stopped);
    auto seen = look(home, key, now);
    return seen ? std::move(*seen) : ticket(flight_refusal::unknown);
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
void single_flight<Key, Outcome, Clock, Hash, Equal>::abandon_now() {
    core_->abandoning = true;  // Before the walk: a flight that the walk does not see is made after it and sees this.
    for (auto& home : core_->shards) {
        typename shard::runs running;
        {
            std::lock_guard lock(home.mutex);
            running = home.all();
        }
        for (auto& each : running) each->abandon_now();
    }
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
void single_flight<Key, Outcome, Clock, Hash, Equal>::stop() {
    for (auto& home : core_->shards) {
        typename shard::kept_type::waste out;
        typename shard::runs running;
        {
            std::lock_guard lock(home.mutex);
            home.stopped = true;
            running = home.all();
            for (auto& each : running) home.remove(each);
            home.kept.clear(out);
        }
        for (auto& each : running) each->stop();
    }
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
void single_flight<Key, Outcome, Clock, Hash, Equal>::sweep() {
    for (auto& home : core_->shards) {
        typename shard::kept_type::waste out;
        std::lock_guard lock(home.mutex);
        home.kept.sweep(Clock::now(), home.kept.entries(), out);
    }
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
flight_stats single_flight<Key, Outcome, Clock, Hash, Equal>::stats() const {
    flight_stats seen{core_->flights.load(std::memory_order_relaxed), core_->waiters.load(std::memory_order_relaxed), 0, 0};
    for (auto& home : core_->shards) {
        std::lock_guard lock(home.mutex);
        seen.entries += home.kept.entries();
        seen.bytes += home.kept.bytes();
    }
    return seen;
}

}  // namespace hearonce
