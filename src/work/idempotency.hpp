// Idempotency-Key: one name for one piece of work, so that a client that reuses it for other work is told.
//
// The key is never identity: equal work is joined by what it is. The table only finds the mistake.
// Holds: idempotency_table. Next file: dispatcher.hpp.
#pragma once

#include <hearonce/audio.hpp>

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <unordered_map>

namespace hearonce::work {

// Bounded; thread-safe. An entry lives `life` from its last use; the oldest goes when the table is full.
class idempotency_table {
public:
    using clock = std::chrono::steady_clock;

    idempotency_table(std::size_t entries_max, clock::duration life);

    // Notes that `name` (a digest of principal, device and the caller's key) stands for `work`. False: it stands for other
    // work already.
    bool claim(const sha256_digest& name, const sha256_digest& work, clock::time_point now);

    // The work failed: its name is free again. Nothing happens if the name stands for other work by now.
    void release(const sha256_digest& name, const sha256_digest& work);

    std::size_t size() const;

private:
    struct entry {
        sha256_digest name;
        sha256_digest work;
        clock::time_point until;
    };
    struct digest_hash {
        std::size_t operator()(const sha256_digest& digest) const noexcept;
    };

    void drop_expired(clock::time_point now);

    const std::size_t entries_max_;
    const clock::duration life_;
    mutable std::mutex mutex_;
    std::list<entry> by_age_;  // Oldest use first; every life is equal, so this is also the order of expiry.
    std::unordered_map<sha256_digest, std::list<entry>::iterator, digest_hash> by_name_;
};

}  // namespace hearonce::work
