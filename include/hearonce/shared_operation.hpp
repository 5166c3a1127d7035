// One piece of work awaited by many: it runs in a coroutine of its own, so no caller's leaving can hurt another caller.
//
// Holds: shared_operation and its ticket. Needs waiting_room.hpp, Boost.Asio and the standard library, nothing else.
// Next file: single_flight.hpp, which finds the operation for a key.
#pragma once

#include <hearonce/waiting_room.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace hearonce {

// Threads and lifetime. Every function may be called from every thread. The work runs on `executor`, which runs one thing at a
// time: an io_context with one thread, or a strand. Each waiter is resumed through its own coroutine's executor (same rule).
// Event loops are destroyed after their threads have been joined; in which order does not matter.
// Always owned by a shared_ptr: std::make_shared<shared_operation<int>>(executor, grace).
template <class Outcome, class Clock = std::chrono::steady_clock>
class shared_operation : public std::enable_shared_from_this<shared_operation<Outcome, Clock>> {
protected:
    using room = waiting_room<Outcome, Clock>;

public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using result = typename room::result;
    class ticket;

    // abandon_grace: how long the work goes on after its last waiter has left, for another one to come back for it.
    // beside: what every waiter of this run may see while it runs.
    shared_operation(boost::asio::any_io_executor executor, duration abandon_grace, std::shared_ptr<void> beside = nullptr)
        : executor_(std::move(executor)), beside_(std::move(beside)), room_(abandon_grace) {}
    shared_operation(const shared_operation&) = delete;
    shared_operation& operator=(const shared_operation&) = delete;
    virtual ~shared_operation() = default;

    // A place among the waiters; nothing once the work has ended or was given up.
    std::optional<ticket> join() {
        if (room_.enter(static_cast<std::size_t>(-1)) != room::answer::welcome) return std::nullopt;
        return ticket(this->shared_from_this());
    }

    // Starts the work, once. `work` is a callable that returns awaitable<Outcome>. It is called on the executor, within this
    // call if the caller runs there, and lives until the coroutine it made has ended. What either throws is the run's failure.
    template <class Work>
    void start(Work work) {
        boost::asio::dispatch(executor_, [run = unfinished(this->shared_from_this()), work = std::move(work)]() mutable {
            auto self = run.operation();
            if (self->cancelled_) return;  // Dropping `run` ends it as stopped.
            auto slot = self->cancel_.slot();
            // The handler keeps the signal alive for as long as the coroutine's slot points at it.
            auto ended = [self]([[maybe_unused]] const std::exception_ptr& failure) { assert(!failure && "carry_out() lets nothing out"); };
            auto carried_out = carry_out(std::move(run), std::move(work));
            boost::asio::co_spawn(self->executor_, std::move(carried_out), boost::asio::bind_cancellation_slot(slot, ended));
        });
    }

    // From now on the work is cancelled as soon as nobody waits for it, without grace.
    void abandon_now() {
        room_.end_grace();
        if (retire()) cancel_work();
    }

    // Ends every wait with `stopped` and cancels the work.
    void stop() {
        result end;
        end.status = wait_status::stopped;
        room::wake(room_.finish(std::move(end)));
        cancel_work();
    }

protected:
    // The three steps at which an owner (a table) has its say; each is called without a lock held.
    // The work has ended: called once. Finishes the room and wakes whom it hands over.
    virtual void settle(result end) { room::wake(room_.finish(std::move(end))); }
    // Gives the work up if its time has come. True: it can no longer be joined, and is cancelled next.
    virtual bool retire() { return room_.close_if_lonely(); }
    // One waiter less.
    virtual void waiter_left() noexcept {}

    room& waiters() noexcept { return room_; }

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
        std::shared_ptr<shared_operation> operation() const { return operation_; }

    private:
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

    // The signal is emitted where the work runs, and never at work that has ended.
    void cancel_work() {
        if (settled_) return;  // Its loop may be gone.
        boost::asio::post(executor_, [self = this->shared_from_this()] {
            self->cancelled_ = true;
            if (!self->settled_) self->cancel_.emit(boost::asio::cancellation_type::terminal);
        });
    }

    // A waiter gives its place up. True: before the end.
    bool leave(const std::shared_ptr<typename room::seat>& place) {
        const auto departed = room_.leave(place);
        waiter_left();
        if (departed.lonely && !room_.has_grace()) {
            if (retire()) cancel_work();
        } else if (departed.lonely) {
            boost::asio::post(executor_, [self = this->shared_from_this()] { self->watch_grace(); });
        }
        return departed.before_end;
    }

    // Runs on the executor. One timer at most: if somebody came back and left again meanwhile, it is set anew when it fires.
    void watch_grace() {
        if (grace_timer_ || settled_) return;
        const auto until = room_.lonely_until();
        if (!until) return;
        grace_timer_.emplace(executor_, *until);
        grace_timer_->async_wait([self = this->shared_from_this()](const boost::system::error_code&) {
            if (self->settled_) return;
            self->grace_timer_.reset();
            self->retire() ? self->cancel_work() : self->watch_grace();
        });
    }

    const boost::asio::any_io_executor executor_;
    const std::shared_ptr<void> beside_;
    room room_;
    // Touched on the executor only; settled_ also where spawning failed.
    boost::asio::cancellation_signal cancel_;
    std::optional<boost::asio::basic_waitable_timer<Clock>> grace_timer_;
    bool cancelled_ = false;
    std::atomic<bool> settled_ = false;
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
        if (left_ || !operation_->room_.ended()) return std::nullopt;
        return operation_->room_.end();
    }

    // Awaits the end until `limit`. An end that has come wins over a deadline, a leave() and a cancellation that come later.
    boost::asio::awaitable<result> wait(time_point limit) {
        assert(!seat_ && "one wait at a time");
        bool interrupted = left_;
        if (operation_ && !left_ && !operation_->room_.ended()) {
            auto executor = co_await boost::asio::this_coro::executor;
            auto cancellation = co_await boost::asio::this_coro::cancellation_state;
            interrupted = cancellation.cancelled() != boost::asio::cancellation_type::none;
            if (!interrupted) seat_ = operation_->room_.sit_down(executor, limit);
            if (seat_) {
                constexpr auto use_tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
                auto [code] = co_await seat_->timer.async_wait(use_tuple);
                // Woken by the end, by leave() or by a cancellation: what it was is read from the state, not from the code.
                interrupted = static_cast<bool>(code);
                operation_->room_.stand_up(seat_);
                seat_.reset();
            }
        }
        auto end = ready();
        if (end) co_return std::move(*end);
        if (interrupted) depart();
        result none;
        none.status = interrupted ? wait_status::left : wait_status::timed_out;
        co_return none;
    }

    // What stands beside the run, which must have been given as a T; null for a kept end and where nothing was given.
    template <class T>
    std::shared_ptr<T> beside() const {
        return operation_ ? std::static_pointer_cast<T>(operation_->beside_) : nullptr;
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
    std::shared_ptr<typename room::seat> seat_;
    std::optional<result> known_;
    bool left_ = false;  // Before the end: there is no result for this waiter.
    bool departed_ = false;
};

}  // namespace hearonce
