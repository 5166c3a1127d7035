// Knows how much work is still under way, so that whoever owns what the work uses can wait for its end.
//
// Holds: gate. Next file: flights.hpp.
#pragma once

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>

namespace hearonce::work {

// Thread-safe. Must outlive its passes; nobody is inside when it is destroyed.
class gate {
public:
    // Held by work as long as it may touch what the gate guards; destroyed with the work's coroutine frame.
    class pass {
    public:
        explicit pass(gate& at) : at_(&at) {
            const std::lock_guard lock(at.mutex_);
            ++at.inside_;
        }
        pass(pass&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
        pass& operator=(pass&&) = delete;
        ~pass() {
            if (at_ == nullptr) return;
            // Notified under the lock: the waiter may destroy the gate as soon as it sees that nobody is inside.
            const std::lock_guard lock(at_->mutex_);
            --at_->inside_;
            at_->left_.notify_all();
        }

    private:
        gate* at_;
    };

    gate() = default;
    gate(const gate&) = delete;
    gate& operator=(const gate&) = delete;
    ~gate() { assert(inside_ == 0); }

    // Blocks the calling thread, never an event loop. False: somebody was still inside when the time was over.
    bool wait_empty(std::chrono::steady_clock::duration patience) {
        std::unique_lock lock(mutex_);
        return left_.wait_for(lock, patience, [this] { return inside_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable left_;
    std::size_t inside_ = 0;
};

}  // namespace hearonce::work
