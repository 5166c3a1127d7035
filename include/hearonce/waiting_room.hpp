// Where callers wait for one end: who is there, whether the end has come, how long nobody has been there.
//
// Holds: wait_status, wait_result, waiting_room. Needs Boost.Asio and the standard library, nothing else.
// Next file: shared_operation.hpp, which runs the work that is waited for.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace hearonce {

enum class wait_status : std::uint8_t {
    done,       // The work returned: `outcome` is set.
    failed,     // The work threw: `failure` is set.
    timed_out,  // The waiter's deadline passed first. Its place is still its own: wait again or leave.
    left,       // The waiter left first, by leave() or because its coroutine was cancelled.
    stopped,    // The work was ended from outside: its table or its event loop is going away.
};

// What a waiter gets. The outcome is shared with every other waiter of the run, never copied.
template <class Outcome, class Duration>
struct wait_result {
    wait_status status = wait_status::left;
    std::shared_ptr<const Outcome> outcome;
    std::exception_ptr failure;
    bool stored = false;  // The outcome is kept for later callers ...
    Duration ttl_left{};  // ... this long: its whole life for waiters of the run, what is left of it for a hit.
};

// Thread-safe; decides, and resumes nobody while its lock is held. A waiter is counted from enter() to leave() and sits, with
// a timer, only while it is suspended.
template <class Outcome, class Clock>
class waiting_room {
public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using result = wait_result<Outcome, duration>;

    // Where a suspended waiter sits. The timer is touched on the waiter's executor only, the rest by the room.
    struct seat {
        seat(const boost::asio::any_io_executor& executor, time_point limit) : timer(executor, limit) {}
        boost::asio::basic_waitable_timer<Clock> timer;
        bool listed = false;
        typename std::list<std::shared_ptr<seat>>::iterator place;
    };
    using seats = std::list<std::shared_ptr<seat>>;
    enum class answer : std::uint8_t { welcome, full, closed };
    struct departure {
        bool before_end;  // The waiter goes without a result.
        bool lonely;      // It was the last: the grace has begun.
    };

    explicit waiting_room(duration grace) : grace_(grace) {}

    answer enter(std::size_t waiters_max) {
        std::lock_guard lock(mutex_);
        if (ended() || closed_) return answer::closed;
        if (waiters_ >= waiters_max) return answer::full;
        ++waiters_;
        lonely_ = false;
        return answer::welcome;
    }

    departure leave(const std::shared_ptr<seat>& place) {
        std::lock_guard lock(mutex_);
        unlist(place);
        assert(waiters_ > 0);
        --waiters_;
        if (ended()) return {false, false};
        lonely_ = waiters_ == 0 && !closed_;
        if (lonely_) lonely_since_ = Clock::now();
        return {true, lonely_};
    }

    // nullptr: the end is here already.
    std::shared_ptr<seat> sit_down(const boost::asio::any_io_executor& executor, time_point limit) {
        auto place = std::make_shared<seat>(executor, limit);
        std::lock_guard lock(mutex_);
        if (ended()) return nullptr;
        place->place = seats_.insert(seats_.end(), place);
        place->listed = true;
        return place;
    }

    void stand_up(const std::shared_ptr<seat>& place) {
        std::lock_guard lock(mutex_);
        unlist(place);
    }

    // Publishes the end and hands over whom to wake. The first end counts: work that was stopped may return later.
    seats finish(result end) {
        std::lock_guard lock(mutex_);
        if (ended()) return {};
        end_ = std::move(end);
        ended_.store(true, std::memory_order_release);
        for (auto& each : seats_) each->listed = false;
        return std::exchange(seats_, {});
    }

    // Posts to each waiter's executor. The seat moves into the post, so that its timer dies on the waiter's thread.
    static void wake(seats sleeping) {
        for (auto& each : sleeping) {
            auto executor = each->timer.get_executor();
            boost::asio::post(executor, [place = std::move(each)] { place->timer.cancel(); });
        }
    }

    // Closes for good if nobody has been here for the grace. Waiters that come at the same time are let in or the room is closed.
    bool close_if_lonely() {
        std::lock_guard lock(mutex_);
        if (!lonely_ || closed_ || ended() || Clock::now() - lonely_since_ < grace_) return false;
        closed_ = true;
        return true;
    }

    // When the grace is over, if nobody is here; the earliest time if there is none.
    std::optional<time_point> lonely_until() const {
        std::lock_guard lock(mutex_);
        if (!lonely_ || closed_ || ended()) return std::nullopt;
        return grace_ > time_point::max() - lonely_since_ ? time_point::max() : lonely_since_ + grace_;
    }

    void end_grace() {
        std::lock_guard lock(mutex_);
        grace_ = duration::zero();
    }
    bool has_grace() const {
        std::lock_guard lock(mutex_);
        return grace_ > duration::zero();
    }

    bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
    const result& end() const noexcept {
        assert(ended());
        return end_;
    }

private:
    void unlist(const std::shared_ptr<seat>& place) {
        if (!place || !place->listed) return;
        seats_.erase(place->place);
        place->listed = false;
    }

    mutable std::mutex mutex_;
    std::atomic<bool> ended_ = false;
    bool closed_ = false;
    bool lonely_ = false;
    std::size_t waiters_ = 0;
    duration grace_;
    time_point lonely_since_{};
    seats seats_;
    result end_;  // Written once, under the mutex; read without it after ended_.
};

}  // namespace hearonce
