// Next file: transcode.cpp.
#include <backends/whisper/transcode_places.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cassert>
#include <chrono>

namespace hearonce::whisper {

namespace asio = boost::asio;

asio::awaitable<std::optional<error>> transcode_places::place::take(deadline limit) {
    assert(!seat_);
    auto executor = co_await asio::this_coro::executor;
    seat_ = std::make_shared<seat>(executor, limit);
    if (!of_->sit_down(seat_)) {
        seat_.reset();
        co_return error(errc::overloaded).with_retry_after(std::chrono::seconds(1));
    }
    for (;;) {
        {
            const std::lock_guard lock(of_->mutex_);
            if (seat_->granted) co_return std::nullopt;
        }
        auto [ec] = co_await seat_->timer.async_wait(asio::as_tuple(asio::use_awaitable));
        auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none) co_return error(errc::cancelled);
        if (!ec) co_return error(errc::overloaded).with_retry_after(std::chrono::seconds(1));
    }
}

void transcode_places::place::leave() noexcept {
    if (const auto mine = std::exchange(seat_, nullptr)) of_->stand_up(mine);
}

bool transcode_places::sit_down(const std::shared_ptr<seat>& one) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= waiting_max_) return false;
    one->listed = true;
    waiting_.push_back(one);
    serve();
    return true;
}

void transcode_places::stand_up(const std::shared_ptr<seat>& one) noexcept {
    const std::lock_guard lock(mutex_);
    if (one->listed) waiting_.remove(one);
    one->listed = false;
    if (!std::exchange(one->granted, false)) return;
    ++free_;
    serve();
}

void transcode_places::serve() {
    while (free_ > 0 && !waiting_.empty() && bytes_ < bytes_max_) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        --free_;
        next->listed = false;
        next->granted = true;
        auto executor = next->timer.get_executor();
        // The seat moves into the post, so that its timer dies on the waiter's thread.
        asio::post(executor, [woken = std::move(next)] { woken->timer.cancel(); });
    }
}

void transcode_places::add_bytes(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ += bytes;
}

void transcode_places::give_back_bytes(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    assert(bytes <= bytes_);
    bytes_ -= bytes;
    serve();
}

std::uint64_t transcode_places::bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

std::size_t transcode_places::waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
}

}  // namespace hearonce::whisper
