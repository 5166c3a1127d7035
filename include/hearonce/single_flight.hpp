// Equal work at one time is done once: key -> shared_operation, and finished successes are kept for a while.
//
// Holds: enter_as, flight_role, flight_refusal, flight_stats, single_flight and its ticket. Needs the files it includes, Boost.Asio
// and the standard library, nothing else. Next file: impl/single_flight.hpp, what it does behind each of its locks.
#pragma once

#include <hearonce/shared_operation.hpp>

#include <functional>

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

//     auto ticket = flights.enter(key, executor, [=] { return fetch(address); });
//     if (!ticket) co_return refuse(ticket.refusal());
//     auto end = co_await ticket.wait(limit);  // end.status, end.outcome, end.failure, end.stored, end.ttl_left
//
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
    // `beside` is shown to everyone who leads or joins this run (ticket::beside()).
    template <class Work>
    ticket enter(const Key& key, const boost::asio::any_io_executor& executor, Work&& work, enter_as how = enter_as::usual,
                 std::shared_ptr<void> beside = nullptr);

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
    static std::optional<ticket> look(shard& home, const Key& key, time_point now);

    std::shared_ptr<core> core_;
};

// A caller's place; see shared_operation::ticket for wait(), ready(), beside() and leave(). False: refused, and there is nothing to wait for.
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

}  // namespace hearonce

#include <hearonce/impl/single_flight.hpp>
