// At most so many calls to a backend at one time, over all event loops; who finds no place waits in line.
//
// Holds: in_flight. Next file: dispatch_run.hpp.
#pragma once

#include <hearonce/deadline.hpp>
#include <hearonce/error.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace hearonce::work {

// Thread-safe. Must outlive its places and waits. First come, first served: a place that becomes free goes to the head of
// the line and to no newcomer.
class in_flight {
public:
    static constexpr std::size_t waiting_per_place = 4;  // The line's length; beyond it a wait would hardly ever end in time.

    // `calls_max` 0: no bound.
    explicit in_flight(unsigned calls_max) : calls_max_(calls_max) {}
    in_flight(const in_flight&) = delete;
    in_flight& operator=(const in_flight&) = delete;
    ~in_flight();

    // Held during one call.
    class place {
    public:
        explicit place(in_flight* of) : of_(of) {}
        place(place&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        place& operator=(place&&) = delete;
        ~place() {
            if (of_ != nullptr) of_->give_back();
        }

    private:
        in_flight* of_;
    };

    // Ends at once when there is a place. errc::overloaded, with a time to try again: the line is full, or `limit` came in
    // it. errc::cancelled: the coroutine was cancelled (terminal) while it stood in line.
    boost::asio::awaitable<result<place>> enter(deadline limit);

    std::size_t calls() const;
    std::size_t waiting() const;

private:
    // Where one stands in line; leaves it when destroyed, and hands on a place that came too late.
    class stand;
    struct waiter {
        // Touched on the waiter's executor only.
        std::shared_ptr<boost::asio::steady_timer> timer;
        bool has_place = false;
    };

    void give_back();
    void pass_on();  // Under the lock.

    const std::size_t calls_max_;
    mutable std::mutex mutex_;
    std::size_t calls_ = 0;
    std::list<waiter> waiting_;  // Those without a place, in the order in which they came.
    std::list<waiter> called_;   // Those that have one and are about to learn it.
};

}  // namespace hearonce::work
