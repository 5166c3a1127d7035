// Equal work at one time is done once: key -> shared_operation, and finished successes are kept for a while.
//
// Holds: enter_as, flight_role, flight_refusal, flight_stats, single_flight and its ticket. Needs shared_operation.hpp, Boost.Asio
// and the standard library, nothing else. Who calls it next: src/http/transcriptions.cpp.
#pragma once

#include <hearonce/shared_operation.hpp>

#include <array>
#include <bit>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hearonce {

// How a caller wants to be served.
enum class enter_as : std::uint8_t {
    usual,     // Find a finished success, else join work in flight, else lead.
    refresh,   // Lead, whatever there is. Takes the key at once: what was kept is dropped, older work serves its waiters but is not kept.
    no_store,  // Lead in private: nobody joins, nothing is kept, the key is left as it is.
};

enum class flight_role : std::uint8_t { refused, led, joined, hit };

enum class flight_refusal : std::uint8_t {
    none,
    too_many_flights,  // settings::flights_max pieces of work are running.
    too_many_waiters,  // settings::waiters_max callers wait for this key.
    unknown,           // find() found neither a finished success nor work in flight.
    stopped,           // stop() was called.
};

struct flight_stats {
    std::size_t flights = 0;  // Work that has not ended, private and cancelled work included.
    std::size_t waiters = 0;  // Tickets that led or joined and have not left.
    std::size_t entries = 0;  // Kept successes, and their size.
    std::size_t bytes = 0;
};

// Threads and lifetime: as for shared_operation. Hash, equality, copy and move of keys run under a lock and must not call back.
// The table is cut into shards by key, each with its own lock and its share of the cache, so that distinct keys do not contend:
// least recently used is decided within a shard, and an outcome larger than a shard's share is not kept. Every call costs the
// same however many entries there are.
template <class Key, class Outcome, class Clock = std::chrono::steady_clock, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
class single_flight {
    using operation = shared_operation<Outcome, Clock>;
    struct core;
    struct shard;
    class flight;

public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using result = typename operation::result;
    class ticket;

    struct settings {
        duration ttl = std::chrono::minutes(10);            // Life of a kept success from its end; at exactly ttl it is gone.
        duration abandon_grace = std::chrono::seconds(90);  // Life of work nobody waits for.
        std::size_t cache_bytes_max = std::size_t{64} << 20;
        std::size_t entries_max = 65536;
        std::size_t flights_max = 16384;
        std::size_t waiters_max = 1024;  // Of one key.
        std::size_t shards = 0;          // A power of two; 0: up to 16, while each share is 4 MiB or more.
        // What an outcome costs in the cache, in bytes; nullopt: it is no success and is not kept (nor if this throws).
        // Called without a lock, from any thread. Empty: nothing is kept.
        std::function<std::optional<std::size_t>(const Outcome&)> keep;
    };

    explicit single_flight(settings how) : core_(std::make_shared<core>(std::move(how))) {}
    single_flight(const single_flight&) = delete;
    single_flight& operator=(const single_flight&) = delete;
    ~single_flight() { stop(); }

    // Finds, joins or leads. Never suspends. `work` (a callable that returns awaitable<Outcome>) is used only to lead and
    // then runs on `executor`, its first part within this call if the caller runs there; else it is destroyed unused.
    template <class Work>
    ticket enter(const Key& key, const boost::asio::any_io_executor& executor, Work&& work, enter_as how = enter_as::usual);

    // Finds or joins, never leads: for a caller that has no work to give.
    ticket find(const Key& key);

    // For a shutdown in good order: work that nobody waits for ends now, later abandonments have no grace.
    void abandon_now();

    // Ends every wait with `stopped`, cancels all work, drops all that is kept and refuses from now on.
    void stop();

    // Drops everything whose life is over. Calls do so in passing, two at a time; this is for a table that has become quiet.
    void sweep();

    flight_stats stats() const;

private:
    std::shared_ptr<core> core_;
};

// A caller's place; see shared_operation::ticket for wait(), ready() and leave(). False: refused, and there is nothing to wait for.
template <class Key, class Outcome, class Clock, class Hash, class Equal>
class single_flight<Key, Outcome, Clock, Hash, Equal>::ticket : public operation::ticket {
public:
    explicit operator bool() const noexcept { return role_ != flight_role::refused; }
    flight_role role() const noexcept { return role_; }
    flight_refusal refusal() const noexcept { return refusal_; }

private:
    friend class single_flight;
    friend struct core;
    explicit ticket(flight_refusal why) : operation::ticket(result{}), role_(flight_role::refused), refusal_(why) {}
    explicit ticket(result kept) : operation::ticket(std::move(kept)), role_(flight_role::hit) {}
    ticket(flight_role role, std::shared_ptr<operation> joined) : operation::ticket(std::move(joined)), role_(role) {}

    flight_role role_;
    flight_refusal refusal_ = flight_refusal::none;
};

// One key: work in flight or a kept success, never both. Guarded by the shard's mutex.
// What leaves the table while the lock is held is collected and destroyed after it: an outcome's destructor is not ours.
template <class Key, class Outcome, class Clock, class Hash, class Equal>
struct alignas(64) single_flight<Key, Outcome, Clock, Hash, Equal>::shard {
    struct slot;
    using node = std::pair<const Key, slot>;
    struct slot {
        std::shared_ptr<flight> running;
        std::shared_ptr<const Outcome> outcome;
        std::size_t bytes = 0;
        time_point gone_at{};
        typename std::list<node*>::iterator by_use;
        typename std::list<node*>::iterator by_end;
    };
    using waste = std::vector<std::shared_ptr<const Outcome>>;

    mutable std::mutex mutex;
    std::unordered_map<Key, slot, Hash, Equal> slots;
    std::unordered_set<std::shared_ptr<flight>> unlisted;  // Runs that have no key: private ones and those a refresh displaced.
    std::list<node*> by_use;                               // Least recently used first.
    std::list<node*> by_end;                               // First to expire first: the order of their ends, as all live equally long.
    std::size_t bytes = 0;
    bool stopped = false;

    void keep(node& at, std::shared_ptr<const Outcome> outcome, std::size_t size, time_point gone_at) {
        auto& slot = at.second;
        slot.by_use = by_use.insert(by_use.end(), &at);
        slot.by_end = by_end.insert(by_end.end(), &at);
        slot.outcome = std::move(outcome);
        slot.bytes = size;
        slot.gone_at = gone_at;
        bytes += size;
    }
    void forget(slot& slot, waste& out) {
        bytes -= slot.bytes;
        by_use.erase(slot.by_use);
        by_end.erase(slot.by_end);
        out.push_back(std::move(slot.outcome));
        slot.outcome.reset();
    }
    void erase(node& at) { slots.erase(slots.find(at.first)); }
    void evict(node& at, waste& out) {
        forget(at.second, out);
        erase(at);
    }
    // The key's callers find `led` from now on.
    void give(node& at, const std::shared_ptr<flight>& led, waste& out) {
        auto& slot = at.second;
        if (slot.outcome) forget(slot, out);
        if (slot.running) {
            slot.running->at_ = nullptr;
            unlisted.insert(std::move(slot.running));
        }
        slot.running = led;
        led->at_ = &at;
    }
    void sweep(time_point now, std::size_t at_most, waste& out) {
        for (; at_most != 0 && !by_end.empty() && by_end.front()->second.gone_at <= now; --at_most) evict(*by_end.front(), out);
    }
    void make_room(std::size_t size, std::size_t bytes_max, std::size_t entries_max, waste& out) {
        while (!by_use.empty() && (bytes > bytes_max - size || by_use.size() >= entries_max)) evict(*by_use.front(), out);
    }
    std::vector<std::shared_ptr<flight>> all() {
        std::lock_guard lock(mutex);
        return listed();
    }
    std::vector<std::shared_ptr<flight>> listed() const {
        std::vector<std::shared_ptr<flight>> found(unlisted.begin(), unlisted.end());
        for (auto& [key, slot] : slots) {
            if (slot.running) found.push_back(slot.running);
        }
        return found;
    }
    std::vector<std::shared_ptr<flight>> stop(waste& out) {
        std::lock_guard lock(mutex);
        stopped = true;
        auto running = listed();
        for (auto& each : running) each->at_ = nullptr;
        while (!by_use.empty()) evict(*by_use.front(), out);
        slots.clear();
        unlisted.clear();
        return running;
    }
};

// The part of the table that its flights keep alive: they outlive a table that is destroyed under them.
template <class Key, class Outcome, class Clock, class Hash, class Equal>
struct single_flight<Key, Outcome, Clock, Hash, Equal>::core : std::enable_shared_from_this<core> {
    explicit core(settings given)
        : how(std::move(given)),
          shards(shards_for(how)),
          bytes_share(how.cache_bytes_max / shards.size()),
          entries_share(how.entries_max / shards.size()) {}

    static std::size_t shards_for(const settings& how) {
        if (how.shards != 0) return std::bit_ceil(how.shards);
        std::size_t count = 16;
        while (count > 1 && (how.cache_bytes_max / count < (std::size_t{4} << 20) || how.entries_max / count < 256)) count /= 2;
        return count;
    }
    shard& shard_of(const Key& key) {
        // The multiplication spreads weak hashes (std::hash of a number is the number) over the upper bits.
        const auto spread = static_cast<std::uint64_t>(Hash{}(key)) * 0x9E3779B97F4A7C15u;
        return shards[(spread >> 32) & (shards.size() - 1)];
    }
    // What a caller finds at its key: a hit, a place in the run, a refusal; nullopt: what was kept is over.
    std::optional<ticket> look(shard& home, typename shard::node& at, time_point now) {
        auto& slot = at.second;
        if (slot.outcome) {
            if (slot.gone_at <= now) return std::nullopt;
            home.by_use.splice(home.by_use.end(), home.by_use, slot.by_use);
            return ticket(result{wait_status::done, slot.outcome, nullptr, true, slot.gone_at - now});
        }
        const auto answer = slot.running->add_waiter();
        assert(answer != flight::added::ended && "what has ended is not in the table");
        if (answer != flight::added::yes) return ticket(flight_refusal::too_many_waiters);
        return ticket(flight_role::joined, slot.running);
    }
    bool take_flight() {
        auto now = flights.load(std::memory_order_relaxed);
        do {
            if (now >= how.flights_max) return false;
        } while (!flights.compare_exchange_weak(now, now + 1, std::memory_order_relaxed));
        return true;
    }
    std::optional<std::size_t> size_to_keep(const result& end) const {
        if (end.status != wait_status::done || !how.keep || how.ttl <= duration::zero()) return std::nullopt;
        try {
            auto size = how.keep(*end.outcome);
            return size && *size <= bytes_share && entries_share != 0 ? size : std::nullopt;
        } catch (...) {
            return std::nullopt;
        }
    }

    const settings how;
    std::vector<shard> shards;
    const std::size_t bytes_share;
    const std::size_t entries_share;
    std::atomic<std::size_t> flights = 0;
    std::atomic<std::size_t> waiters = 0;
    std::atomic<bool> abandoning = false;
};

// One run. `at_` is the key's node while this run is the one callers of the key find; guarded by the shard's mutex.
template <class Key, class Outcome, class Clock, class Hash, class Equal>
class single_flight<Key, Outcome, Clock, Hash, Equal>::flight final : public operation {
public:
    flight(std::shared_ptr<core> table, shard& home, const boost::asio::any_io_executor& executor)
        : operation(executor, table->abandoning ? duration::zero() : table->how.abandon_grace), table_(std::move(table)), home_(home) {}

    using added = typename operation::added;
    added add_waiter() {
        const auto answer = this->try_add_waiter(table_->how.waiters_max);
        if (answer == added::yes) table_->waiters.fetch_add(1, std::memory_order_relaxed);
        return answer;
    }
    typename shard::node* at_ = nullptr;

private:
    // Join and end are one critical section: a caller finds either the run or what was kept of it.
    void settle(result end) override {
        const auto size = table_->size_to_keep(end);
        typename shard::waste out;
        typename operation::seats sleeping;
        {
            std::lock_guard lock(home_.mutex);
            if (auto* at = std::exchange(at_, nullptr)) {
                auto self = std::move(at->second.running);
                if (size) {
                    home_.make_room(*size, table_->bytes_share, table_->entries_share, out);
                    home_.keep(*at, end.outcome, *size, Clock::now() + table_->how.ttl);
                    end.stored = true;
                    end.ttl_left = table_->how.ttl;
                } else {
                    home_.erase(*at);
                }
            } else {
                home_.unlisted.erase(std::static_pointer_cast<flight>(this->shared_from_this()));
            }
            sleeping = this->finish(std::move(end));
        }
        table_->flights.fetch_sub(1, std::memory_order_relaxed);
        operation::wake(std::move(sleeping));
    }

    // Out of the table first; the caller cancels after.
    bool retire() override {
        std::lock_guard lock(home_.mutex);
        if (!this->close_if_lonely()) return false;
        if (auto* at = std::exchange(at_, nullptr)) {
            at->second.running.reset();
            home_.erase(*at);
        } else {
            home_.unlisted.erase(std::static_pointer_cast<flight>(this->shared_from_this()));
        }
        return true;
    }

    void waiter_left() noexcept override { table_->waiters.fetch_sub(1, std::memory_order_relaxed); }

    const std::shared_ptr<core> table_;
    shard& home_;
};

template <class Key, class Outcome, class Clock, class Hash, class Equal>
template <class Work>
auto single_flight<Key, Outcome, Clock, Hash, Equal>::enter(const Key& key, const boost::asio::any_io_executor& executor, Work&& work,
                                                            enter_as how) -> ticket {
    auto& home = core_->shard_of(key);
    typename shard::waste out;
    std::shared_ptr<flight> led;
    {
        std::lock_guard lock(home.mutex);
        const auto now = Clock::now();
        home.sweep(now, 2, out);
        if (home.stopped) return ticket(flight_refusal::stopped);
        auto found = how == enter_as::no_store ? home.slots.end() : home.slots.find(key);
        if (how == enter_as::usual && found != home.slots.end()) {
            auto seen = core_->look(home, *found, now);
            if (seen) return std::move(*seen);
        }
        if (!core_->take_flight()) return ticket(flight_refusal::too_many_flights);
        led = std::make_shared<flight>(core_, home, executor);
        led->add_waiter();
        if (how == enter_as::no_store)
            home.unlisted.insert(led);
        else
            home.give(found != home.slots.end() ? *found : *home.slots.try_emplace(key).first, led, out);
    }
    ticket place(flight_role::led, led);
    led->start(std::forward<Work>(work));
    return place;
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
auto single_flight<Key, Outcome, Clock, Hash, Equal>::find(const Key& key) -> ticket {
    auto& home = core_->shard_of(key);
    typename shard::waste out;
    std::lock_guard lock(home.mutex);
    const auto now = Clock::now();
    home.sweep(now, 2, out);
    if (home.stopped) return ticket(flight_refusal::stopped);
    auto found = home.slots.find(key);
    if (found == home.slots.end()) return ticket(flight_refusal::unknown);
    auto seen = core_->look(home, *found, now);
    if (!seen) return ticket(flight_refusal::unknown);
    return std::move(*seen);
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
void single_flight<Key, Outcome, Clock, Hash, Equal>::abandon_now() {
    core_->abandoning = true;  // Before the walk: a flight that the walk does not see is made after it and sees this.
    for (auto& home : core_->shards) {
        for (auto& each : home.all()) each->abandon_now();
    }
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
void single_flight<Key, Outcome, Clock, Hash, Equal>::stop() {
    for (auto& home : core_->shards) {
        typename shard::waste out;
        for (auto& each : home.stop(out)) each->stop();
    }
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
void single_flight<Key, Outcome, Clock, Hash, Equal>::sweep() {
    for (auto& home : core_->shards) {
        typename shard::waste out;
        std::lock_guard lock(home.mutex);
        home.sweep(Clock::now(), home.by_end.size(), out);
    }
}

template <class Key, class Outcome, class Clock, class Hash, class Equal>
flight_stats single_flight<Key, Outcome, Clock, Hash, Equal>::stats() const {
    flight_stats seen{core_->flights.load(std::memory_order_relaxed), core_->waiters.load(std::memory_order_relaxed), 0, 0};
    for (auto& home : core_->shards) {
        std::lock_guard lock(home.mutex);
        seen.entries += home.by_use.size();
        seen.bytes += home.bytes;
    }
    return seen;
}

}  // namespace hearonce
