// The table of Idempotency-Keys. Next file: dispatcher.cpp.
#include <work/idempotency.hpp>

#include <cassert>
#include <cstring>

namespace hearonce::work {

std::size_t idempotency_table::digest_hash::operator()(const sha256_digest& digest) const noexcept {
    // A digest is uniform already: its first bytes are the hash.
    std::size_t head = 0;
    std::memcpy(&head, digest.data(), sizeof head);
    return head;
}

idempotency_table::idempotency_table(std::size_t entries_max, clock::duration life) : entries_max_(entries_max), life_(life) {
    assert(entries_max >= 1);
}

bool idempotency_table::claim(const sha256_digest& name, const sha256_digest& work, clock::time_point now) {
    const std::lock_guard lock(mutex_);
    drop_expired(now);
    if (const auto found = by_name_.find(name); found != by_name_.end()) {
        if (found->second->work != work) return false;
        found->second->until = now + life_;
        by_age_.splice(by_age_.end(), by_age_, found->second);
        return true;
    }
    if (by_name_.size() == entries_max_) {
        by_name_.erase(by_age_.front().name);
        by_age_.pop_front();
    }
    by_age_.push_back({name, work, now + life_});
    by_name_.emplace(name, std::prev(by_age_.end()));
    assert(by_name_.size() == by_age_.size());
    return true;
}

void idempotency_table::release(const sha256_digest& name, const sha256_digest& work) {
    const std::lock_guard lock(mutex_);
    const auto found = by_name_.find(name);
    if (found == by_name_.end() || found->second->work != work) return;
    by_age_.erase(found->second);
    by_name_.erase(found);
}

std::size_t idempotency_table::size() const {
    const std::lock_guard lock(mutex_);
    return by_name_.size();
}

void idempotency_table::drop_expired(clock::time_point now) {
    while (!by_age_.empty() && by_age_.front().until <= now) {
        by_name_.erase(by_age_.front().name);
        by_age_.pop_front();
    }
}

}  // namespace hearonce::work
