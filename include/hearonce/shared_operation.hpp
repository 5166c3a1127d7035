// One piece of work awaited by many: it runs in a coroutine of its own, so no caller's leaving can hurt another caller.
//
// Holds: wait_status, wait_result, shared_operation and its ticket. Needs Boost.Asio and the standard library, nothing else.
// Next file: single_flight.hpp, which finds the operation for a key.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

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
    timed_out,  // The waiter's deadline passed first. The work goes on and so does the waiter's place: wait again or leave.
    left,       // The waiter left first, by leave() or because its coroutine was cancelled.
    stopped,    // The work was ended from outside: the table or the work's event loop is being destroyed.
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

// Threads and lifetime. Every function may be called from every thread. The work runs on `executor`, which runs one thing at a
// time: an io_context with one thread, or a strand. Each waiter is resumed through its own coroutine's executor (same rule).
// Event loops are destroyed after their threads have been joined; in which order does not matter.
// Always owned by a shared_ptr: std::make_shared<shared_operation<int>>(executor, grace).
template <class Outcome, class Clock = std::chrono::steady_clock>
class shared_operation : public std::enable_shared_from_this<shared_operation<Outcome, Clock>> {
public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using result = wait_result<Outcome, duration>;
    class ticket;

    // abandon_grace: how long the work goes on after its last waiter has left, for another one to come back for it.
    shared_operation(boost::asio::any_io_executor executor, duration abandon_grace)
        : executor_(std::move(executor)), grace_(abandon_grace) {}
    shared_operation(const shared_operation&) = delete;
    shared_operation& operator=(const shared_operation&) = delete;
    virtual ~shared_operation() = default;

    // A place among the waiters; nothing once the work has ended or was given up.
    std::optional<ticket> join() {
        if (!add_waiter(static_cast<std::size_t>(-1))) return std::nullopt;
        return ticket(this->shared_from_this());
    }

    // Starts the work, once: `work` is a callable that returns awaitable<Outcome>. It is called on the executor, within this
    // call if the caller runs there, and lives until the coroutine it made has ended. What either throws is the run's failure.
    template <class Work>
    void start(Work work) {
        boost::asio::dispatch(executor_, [run = unfinished(this->shared_from_this()), work = std::move(work)]() mutable {
            auto& self = *run.operation_;
            if (self.cancelled_) return;  // Dropping `run` ends it as stopped.
            auto slot = self.cancel_.slot();
            // The handler keeps the signal alive for as long as the coroutine's slot points at it.
            auto ended = [alive = run.operation_](const std::exception_ptr& failure) {
                assert(!failure && "carry_out() lets nothing out");
                static_cast<void>(failure);
            };
            boost::asio::co_spawn(self.executor_, carry_out(std::move(run), std::move(work)),
                                  boost::asio::bind_cancellation_slot(slot, ended));
        });
    }

    // From now on the work is cancelled as soon as nobody waits for it, without grace.
    void abandon_now() {
        {
            std::lock_guard lock(mutex_);
            grace_ = duration::zero();
        }
        if (retire()) cancel_work();
    }

    // Ends every wait with `stopped` and cancels the work.
    void stop() {
        result end;
        end.status = wait_status::stopped;
        wake(finish(std::move(end)));
        cancel_work();
    }

protected:
    // Where a suspended waiter sits. Its timer is touched on the waiter's executor only; the list belongs to the operation.
    struct seat {
        seat(const boost::asio::any_io_executor& executor, time_point limit) : timer(executor, limit) {}
        boost::asio::basic_waitable_timer<Clock> timer;
        typename std::list<std::shared_ptr<seat>>::iterator place;
        bool listed = false;
    };
    using seats = std::list<std::shared_ptr<seat>>;
    enum class added : std::uint8_t { yes, full, ended };

    // The three steps at which an owner (a table) has its say; each is called without a lock held.
    // The work has ended: called once. Must call finish(), then wake().
    virtual void settle(result end) { wake(finish(std::move(end))); }
    // Gives the work up if its time has come; true: it was given up now and can no longer be joined.
    virtual bool retire() { return close_if_lonely(); }
    // One waiter less.
    virtual void waiter_left() noexcept {}

    bool add_waiter(std::size_t waiters_max) { return try_add_waiter(waiters_max) == added::yes; }

    added try_add_waiter(std::size_t waiters_max) {
        std::lock_guard lock(mutex_);
        if (ended_.load(std::memory_order_relaxed) || closed_) return added::ended;
        if (waiters_ >= waiters_max) return added::full;
        ++waiters_;
        lonely_ = false;
        return added::yes;
    }

    // Publishes the end and hands over whom to wake. A second end (the work of a stopped operation returning late) is dropped.
    seats finish(result end) {
        std::lock_guard lock(mutex_);
        if (ended_.load(std::memory_order_relaxed)) return {};
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

    bool close_if_lonely() {
        std::lock_guard lock(mutex_);
        if (!lonely_ || closed_ || ended_.load(std::memory_order_relaxed)) return false;
        if (Clock::now() < lonely_since_ + grace_) return false;
        closed_ = true;
        return true;
    }

private:
    // The promise that a run ends: destroyed without an end (its event loop goes away, or spawning failed), it says so.
    class unfinished {
    public:
        explicit unfinished(std::shared_ptr<shared_operation> operation) : operation_(std::move(operation)) {}
        unfinished(unfinished&&) noexcept = default;
        unfinished& operator=(unfinished&&) = delete;
        ~unfinished() {
            if (!operation_) return;
            result end;
            end.status = wait_status::stopped;
            conclude(std::move(end));
        }
        void conclude(result end) {
            auto operation = std::move(operation_);
            operation->settled_ = true;
            operation->grace_timer_.reset();  // It must not outlive the event loop it is on.
            operation->settle(std::move(end));
        }
        std::shared_ptr<shared_operation> operation_;
    };

    template <class Work>
    static boost::asio::awaitable<void> carry_out(unfinished run, Work work) {
        result end;
        try {
            auto running = work();
            auto value = co_await std::move(running);
            end.outcome = std::make_shared<const Outcome>(std::move(value));
            end.status = wait_status::done;
        } catch (...) {
            end.failure = std::current_exception();
            end.status = wait_status::failed;
        }
        run.conclude(std::move(end));
    }

    // Signals are emitted where the work runs, and never at work that has ended.
    void cancel_work() {
        boost::asio::post(executor_, [self = this->shared_from_this()] {
            self->cancelled_ = true;
            if (!self->settled_) self->cancel_.emit(boost::asio::cancellation_type::terminal);
        });
    }

    // A waiter gives its place up. True: it did so before the end.
    bool leave(const std::shared_ptr<seat>& place) {
        bool lonely = false;
        bool at_once = false;
        bool before_end = false;
        {
            std::lock_guard lock(mutex_);
            unlist(place);
            assert(waiters_ > 0);
            --waiters_;
            before_end = !ended_.load(std::memory_order_relaxed);
            lonely = waiters_ == 0 && before_end && !closed_;
            at_once = grace_ <= duration::zero();
            if (lonely) {
                lonely_ = true;
                lonely_since_ = Clock::now();
            }
        }
        waiter_left();
        if (lonely && at_once) {
            if (retire()) cancel_work();
        } else if (lonely) {
            boost::asio::post(executor_, [self = this->shared_from_this()] { self->watch_grace(); });
        }
        return before_end;
    }

    // Runs on the executor. One timer at most: if somebody came back and left again meanwhile, it is set anew when it fires.
    void watch_grace() {
        if (grace_timer_ || settled_) return;
        auto until = lonely_until();
        if (!until) return;
        grace_timer_.emplace(executor_, *until);
        grace_timer_->async_wait([self = this->shared_from_this()](const boost::system::error_code&) {
            if (self->settled_) return;
            self->grace_timer_.reset();
            if (self->retire())
                self->cancel_work();
            else
                self->watch_grace();
        });
    }

    std::optional<time_point> lonely_until() {
        std::lock_guard lock(mutex_);
        if (!lonely_ || closed_) return std::nullopt;
        return lonely_since_ + grace_;
    }

    // nullptr: the end is there already.
    std::shared_ptr<seat> sit_down(const boost::asio::any_io_executor& executor, time_point limit) {
        auto place = std::make_shared<seat>(executor, limit);
        std::lock_guard lock(mutex_);
        if (ended_.load(std::memory_order_relaxed)) return nullptr;
        place->place = seats_.insert(seats_.end(), place);
        place->listed = true;
        return place;
    }

    void stand_up(const std::shared_ptr<seat>& place) {
        std::lock_guard lock(mutex_);
        unlist(place);
    }

    void unlist(const std::shared_ptr<seat>& place) {
        if (!place || !place->listed) return;
        seats_.erase(place->place);
        place->listed = false;
    }

    bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }

    const boost::asio::any_io_executor executor_;
    // Touched on the executor only (settled_ also where spawning failed).
    boost::asio::cancellation_signal cancel_;
    std::optional<boost::asio::basic_waitable_timer<Clock>> grace_timer_;
    bool cancelled_ = false;
    std::atomic<bool> settled_ = false;
    // Guarded by the mutex; end_ is read without it once ended_ is true.
    std::mutex mutex_;
    std::atomic<bool> ended_ = false;
    bool closed_ = false;
    bool lonely_ = false;
    std::size_t waiters_ = 0;
    duration grace_;
    time_point lonely_since_{};
    seats seats_;
    result end_;
};

// A waiter's place, used from the waiter's executor only. Destroying it leaves. It outlives a wait() in progress.
template <class Outcome, class Clock>
class shared_operation<Outcome, Clock>::ticket {
public:
    ticket(ticket&&) noexcept = default;
    ticket& operator=(ticket&&) = delete;
    ~ticket() { depart(); }

    // The end, if it has come.
    std::optional<result> ready() const {
        if (!operation_) return known_;
        if (left_ || !operation_->ended()) return std::nullopt;
        return operation_->end_;
    }

    // Awaits the end until `limit`. An end that has come wins over a deadline, a leave() and a cancellation that come later.
    boost::asio::awaitable<result> wait(time_point limit) {
        assert(!seat_ && "one wait at a time");
        bool interrupted = left_;
        if (operation_ && !left_ && !operation_->ended()) {
            auto executor = co_await boost::asio::this_coro::executor;
            auto cancellation = co_await boost::asio::this_coro::cancellation_state;
            interrupted = cancellation.cancelled() != boost::asio::cancellation_type::none;
            if (!interrupted) seat_ = operation_->sit_down(executor, limit);
            if (seat_) {
                constexpr auto use_tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
                auto [code] = co_await seat_->timer.async_wait(use_tuple);
                interrupted = static_cast<bool>(code);
                operation_->stand_up(seat_);
                seat_.reset();
            }
        }
        auto end = ready();
        if (end) co_return std::move(*end);
        result none;
        none.status = interrupted ? wait_status::left : wait_status::timed_out;
        if (interrupted) depart();
        co_return none;
    }

    // Gives the place up; a wait() in progress ends with `left`.
    void leave() {
        auto place = seat_;
        depart();
        if (place) place->timer.cancel();
    }

protected:
    // Takes over a place that was counted before.
    explicit ticket(std::shared_ptr<shared_operation> operation) : operation_(std::move(operation)) {}
    // For an end that is known already.
    explicit ticket(result known) : known_(std::move(known)) {}

private:
    friend class shared_operation;

    void depart() {
        if (!operation_ || departed_) return;
        departed_ = true;
        left_ = operation_->leave(seat_);
    }

    std::shared_ptr<shared_operation> operation_;
    std::shared_ptr<seat> seat_;
    std::optional<result> known_;
    bool left_ = false;  // Before the end: there is no result for this waiter.
    bool departed_ = false;
};

}  // namespace hearonce
