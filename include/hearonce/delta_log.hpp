// What a running piece of work has heard so far, piece by piece, for everyone who reads along.
//
// Holds: delta_log, delta_reader. The work writes, each waiter reads at its own speed; a late one gets all pieces so far at
// once. Next file: backend.hpp.
#pragma once

#include <hearonce/transcription.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace hearonce {

// Thread-safe. Only grows: a piece stays where it is as long as the log lives, so readers point at it. How much it may hold is
// bounded by whoever bounds the work's answer.
class delta_log {
public:
    delta_log() = default;
    delta_log(const delta_log&) = delete;
    delta_log& operator=(const delta_log&) = delete;

    void append(transcript_delta piece) {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        pieces_.push_back(std::move(piece));
        wake();
    }
    // Nothing more will come. The second time does nothing.
    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        wake();
    }
    // Who tells: the backend that is asked now. After the first piece it stays the same.
    void set_backend(std::string name) {
        const std::lock_guard lock(mutex_);
        backend_ = std::move(name);
    }
    bool empty() const {
        const std::lock_guard lock(mutex_);
        return pieces_.empty();
    }

private:
    friend class delta_reader;
    // Where a suspended reader sits; the timer is touched on the reader's executor only.
    using seat = std::shared_ptr<boost::asio::steady_timer>;

    void wake() {
        for (auto& each : std::exchange(seats_, {})) {
            auto executor = each->get_executor();
            // The seat moves into the post, so that its timer dies on the reader's thread.
            boost::asio::post(executor, [sleeping = std::move(each)] { sleeping->cancel(); });
        }
    }

    mutable std::mutex mutex_;
    std::deque<transcript_delta> pieces_;
    std::string backend_;
    std::list<seat> seats_;
    bool closed_ = false;
};

// One waiter's place in a log, used from the waiter's executor only.
class delta_reader {
public:
    explicit delta_reader(std::shared_ptr<delta_log> log) : log_(std::move(log)) {}

    // The pieces that came since the last call, in order; valid as long as this reader.
    std::vector<const transcript_delta*> take() {
        std::vector<const transcript_delta*> fresh;
        const std::lock_guard lock(log_->mutex_);
        for (; seen_ < log_->pieces_.size(); ++seen_) fresh.push_back(&log_->pieces_[seen_]);
        return fresh;
    }

    // take() begins again with the first piece.
    void rewind() noexcept { seen_ = 0; }

    std::string backend() const {
        const std::lock_guard lock(log_->mutex_);
        return log_->backend_;
    }

    // Awaits a piece that take() has not given. False: there will be none, or `limit` passed, or leave() was called.
    boost::asio::awaitable<bool> wait(std::chrono::steady_clock::time_point limit) {
        auto executor = co_await boost::asio::this_coro::executor;
        auto timer = std::make_shared<boost::asio::steady_timer>(executor, limit);
        if (const auto known = sit_down(timer)) co_return *known;
        sleeping_ = timer;
        constexpr auto use_tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
        [[maybe_unused]] auto [code] = co_await timer->async_wait(use_tuple);
        sleeping_.reset();
        co_return stand_up(timer);
    }
    // Ends a wait() in progress and every later one.
    void leave() {
        left_ = true;
        if (sleeping_) sleeping_->cancel();
    }

private:
    std::optional<bool> sit_down(const delta_log::seat& place) {
        const std::lock_guard lock(log_->mutex_);
        if (left_ || log_->pieces_.size() > seen_ || log_->closed_) return !left_ && log_->pieces_.size() > seen_;
        log_->seats_.push_back(place);
        return std::nullopt;
    }
    bool stand_up(const delta_log::seat& place) {
        const std::lock_guard lock(log_->mutex_);
        log_->seats_.remove(place);
        return !left_ && log_->pieces_.size() > seen_;
    }

    std::shared_ptr<delta_log> log_;
    delta_log::seat sleeping_;
    std::size_t seen_ = 0;
    bool left_ = false;
};

}  // namespace hearonce
