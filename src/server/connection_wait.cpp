// A connection's reading, writing and waiting. Everything is tried first; only what would block waits, and one wait for bytes
// serves the session and the watch for a caller that leaves.
//
// Next file: http/router.hpp, which the handler calls.
#include <server/connection.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace hearonce::server {

namespace asio = boost::asio;
using kind = transport::io::kind;

namespace {

constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

// A caller that sends as fast as it is read and answered gives way to the loop's other connections after this many steps.
constexpr unsigned steps_in_a_row_max = 16;

constexpr std::size_t tls_record_bytes = 16 * 1024;
// What an idle connection keeps for the head of its next answer.
constexpr std::size_t out_bytes_kept = 2 * 1024;

}  // namespace

void connection::arm() {
    if (armed_ || closed_) return;
    armed_ = true;
    auto self = std::static_pointer_cast<connection>(shared_from_this());
    wire_.socket().async_wait(asio::ip::tcp::socket::wait_read, [self](boost::system::error_code) {
        self->armed_ = false;
        self->woken();
    });
}

void connection::woken() {
    wait_first_ = false;
    if (waiter_) {
        auto session = std::move(waiter_);
        session->resume();
    } else {
        watch();
    }
}

asio::awaitable<void> connection::readable() {
    auto start = [this](auto handler) {
        using handler_type = decltype(handler);
        struct holder final : parked {
            explicit holder(handler_type h) : session(std::move(h)) {}
            void resume() override {
                auto resumed = std::move(session);
                std::move(resumed)();
            }
            handler_type session;
        };
        assert(!waiter_);
        waiter_ = std::make_unique<holder>(std::move(handler));
        arm();
    };
    return asio::async_initiate<const asio::use_awaitable_t<>&, void()>(std::move(start), asio::use_awaitable);
}

asio::awaitable<void> connection::writable() {
    auto [failed] = co_await wire_.socket().async_wait(asio::ip::tcp::socket::wait_write, use_result);
    (void)failed;  // The next write shows what is wrong.
}

asio::awaitable<void> connection::wait_for(kind what, time_point limit) {
    limit_ = std::min(limit, patience_);
    if (what == kind::read_later) {
        co_await readable();
    } else {
        co_await writable();
    }
    limit_ = never;
}

bool connection::turn_is_over() noexcept {
    return ++steps_in_a_row_ > steps_in_a_row_max;
}

asio::awaitable<void> connection::give_way() {
    steps_in_a_row_ = 0;
    co_await asio::post(asio::use_awaitable);
}

asio::awaitable<connection::received> connection::receive(time_point limit) {
    if (turn_is_over()) co_await give_way();
    while (!closed_ && !expired_) {
        auto missing = kind::read_later;
        if (!wait_first_ || last_try_) {
            auto room = input_.prepare();
            auto step = wire_.read(room);
            if (step.is == kind::done) {
                input_.commit(step.bytes);
                wait_first_ = !wire_.tls() && step.bytes < room.size();
                co_return received::bytes;
            }
            if (step.is == kind::ended || step.is == kind::failed || last_try_) co_return received::nothing;
            missing = step.is;
        }
        input_.park();
        steps_in_a_row_ = 0;
        co_await wait_for(missing, limit);
    }
    co_return received::nothing;
}

// One TLS record and one call instead of two, when the answer is small.
void connection::join_small_pieces() {
    std::string_view body = body_ ? std::string_view(*body_) : std::string_view(piece_);
    if (!wire_.tls() || out_.size() + body.size() + tail_.size() > tls_record_bytes) return;
    out_.append(body).append(tail_);
    body_.reset();
    piece_.clear();
    tail_ = {};
}

asio::awaitable<void> connection::flush() {
    join_small_pieces();
    std::size_t sent = 0;
    while (!broken_) {
        transport::pieces rest;
        auto skip = sent;
        std::size_t slot = 0;
        for (std::string_view piece : {std::string_view(out_), body_ ? std::string_view(*body_) : std::string_view(piece_), tail_}) {
            auto gone = std::min(skip, piece.size());
            skip -= gone;
            rest[slot++] = asio::const_buffer(piece.data() + gone, piece.size() - gone);
        }
        if (asio::buffer_size(rest) == 0) break;
        auto step = wire_.write(rest);
        if (step.is == kind::done) {
            sent += step.bytes;
            continue;
        }
        broken_ = step.is == kind::ended || step.is == kind::failed;
        if (broken_) break;
        co_await wait_for(step.is, std::chrono::steady_clock::now() + how_.answer_stall_timeout);
        broken_ = expired_ || closed_;
    }
    out_.clear();
    if (out_.capacity() > out_bytes_kept) std::string().swap(out_);
    body_.reset();
    piece_.clear();
    tail_ = {};
}

asio::awaitable<void> connection::linger() {
    input_.clear();
    auto now = std::chrono::steady_clock::now;
    auto whole = now() + how_.linger_timeout;
    for (std::uint64_t dropped = 0; dropped < how_.linger_bytes_max;) {
        auto step = wire_.read_raw(input_.prepare());
        if (step.is == kind::done) {
            dropped += step.bytes;
            if (!turn_is_over()) continue;
            // Who sends without a pause never comes to the wait below, which has its own limit.
            if (closed_ || now() >= whole) break;
            co_await give_way();
            continue;
        }
        if (step.is != kind::read_later) break;
        input_.park();
        steps_in_a_row_ = 0;
        auto limit = std::min(whole, now() + how_.linger_stall_timeout);
        co_await wait_for(step.is, limit);
        if (expired_ || closed_) break;
    }
}

void connection::expire(time_point now) {
    if (now < limit_) return;
    limit_ = never;
    expired_ = true;
    boost::system::error_code ignored;
    wire_.socket().cancel(ignored);
}

void connection::begin_drain() {
    if (stage_ == stage::idle) {
        patience_ = std::chrono::steady_clock::now() + drain_patience;
        limit_ = std::min(limit_, patience_);
    } else if (!late_) {
        held_ = counted(loop_->shared_ptr(), &shared_state::held);
    }
}

void connection::last_call() {
    // Who has not asked yet keeps its moment: it was told that it is connected, perhaps with its request right behind it.
    if (stage_ != stage::idle || first_) return;
    last_try_ = true;
    boost::system::error_code ignored;
    wire_.socket().cancel(ignored);
}

void connection::close_hard() {
    closed_ = true;
    broken_ = true;
    wire_.close();
    caller_left();
    cancel_.emit(asio::cancellation_type::terminal);
}

}  // namespace hearonce::server
