// Next file: session.cpp.
#include <bench/upstream/peer.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace hearonce::upstream {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using kind = server::transport::io::kind;

namespace {

constexpr auto use_result = asio::as_tuple(asio::use_awaitable);
// Of a pipelined request, while the one before it waits. What is more is left in the socket.
constexpr std::size_t watched_bytes_max = 16 * 1024;
// A peer that sends as fast as it is read gives way to the loop's others after this many reads.
constexpr unsigned steps_in_a_row_max = 16;

}  // namespace

peer::peer(server::transport wire, server::block_pool& blocks, asio::io_context& loop)
    : wire_(std::move(wire)), input_(blocks), changed_(loop) {}

bool peer::turn_is_over() noexcept {
    return ++steps_in_a_row_ % steps_in_a_row_max == 0;
}

asio::awaitable<void> peer::wait_on(kind what) {
    steps_in_a_row_ = 0;
    limit_ = clock::now() + wait_max;
    // The next step shows what is wrong.
    const auto side = what == kind::write_later ? tcp::socket::wait_write : tcp::socket::wait_read;
    co_await wire_.socket().async_wait(side, use_result);
    limit_ = clock::time_point::max();
}

asio::awaitable<bool> peer::handshake() {
    for (;;) {
        const auto step = wire_.handshake();
        if (step.is == kind::done) co_return true;
        if (ended_ || step.is == kind::ended || step.is == kind::failed) co_return false;
        co_await wait_on(step.is);
    }
}

asio::awaitable<void> peer::readable() {
    if (!watching_) {
        co_await wait_on(kind::read_later);
        co_return;
    }
    changed_.expires_at(clock::now() + wait_max);
    co_await changed_.async_wait(use_result);
    ended_ = ended_ || watching_;
}

asio::awaitable<bool> peer::receive() {
    const auto had = input_.size();
    if (turn_is_over()) co_await asio::post(asio::use_awaitable);
    for (;;) {
        // look() may have read it, while watching.
        if (input_.size() > had) co_return true;
        if (ended_) co_return false;
        auto missing = kind::read_later;
        if (!watching_) {
            const auto room = input_.prepare();
            assert(!room.empty());
            const auto step = wire_.read(room);
            if (step.is == kind::done) {
                input_.commit(step.bytes);
                co_return true;
            }
            missing = step.is;
            ended_ = missing == kind::ended || missing == kind::failed;
            if (ended_) co_return false;
            input_.park();
        }
        if (missing == kind::write_later) {
            co_await wait_on(missing);
        } else {
            co_await readable();
        }
    }
}

asio::awaitable<bool> peer::send(std::string_view bytes) {
    while (!bytes.empty() && !ended_) {
        const server::transport::pieces rest = {asio::const_buffer(bytes.data(), bytes.size())};
        const auto step = wire_.write(rest);
        if (step.is == kind::done) {
            bytes.remove_prefix(step.bytes);
            continue;
        }
        ended_ = step.is == kind::ended || step.is == kind::failed;
        if (!ended_) co_await wait_on(step.is);
    }
    co_return bytes.empty();
}

void peer::watch() {
    if (watching_ || ended_ || input_.size() >= watched_bytes_max) return;
    watching_ = true;
    wire_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this()](boost::system::error_code) {
        self->watching_ = false;
        self->look();
        self->changed_.cancel();
    });
}

// Reads what there is, to see whether it is the end.
void peer::look() {
    while (!ended_ && input_.size() < watched_bytes_max) {
        const auto room = input_.prepare();
        const auto step = wire_.read(room.first(std::min(room.size(), watched_bytes_max)));
        if (step.is != kind::done) {
            ended_ = step.is == kind::ended || step.is == kind::failed;
            break;
        }
        input_.commit(step.bytes);
    }
    input_.park();
}

asio::awaitable<bool> peer::pause(clock::time_point until) {
    while (!ended_ && clock::now() < until) {
        watch();
        changed_.expires_at(until);
        co_await changed_.async_wait(use_result);
    }
    co_return !ended_;
}

asio::awaitable<void> peer::pause_for_bytes(clock::time_point until) {
    // What OpenSSL holds already wakes no wait.
    if (wire_.tls() && !watching_) look();
    while (!ended_ && input_.empty() && clock::now() < until) {
        watch();
        changed_.expires_at(until);
        co_await changed_.async_wait(use_result);
    }
}

asio::awaitable<void> peer::wait_for_end() {
    const auto until = clock::now() + wait_max;
    co_await pause(until);
}

asio::awaitable<void> peer::linger(std::chrono::milliseconds limit) {
    const auto until = clock::now() + limit;
    wire_.end_sending();
    input_.clear();
    while (!ended_ && clock::now() < until) {
        const auto step = wire_.read_raw(input_.prepare());
        if (step.is == kind::done) {
            if (turn_is_over()) co_await asio::post(asio::use_awaitable);
            continue;
        }
        if (step.is != kind::read_later) break;
        input_.park();
        limit_ = until;
        co_await wire_.socket().async_wait(tcp::socket::wait_read, use_result);
    }
    limit_ = clock::time_point::max();
}

void peer::close() noexcept {
    ended_ = true;
    wire_.close();
    changed_.cancel();
}

void peer::reset() noexcept {
    boost::system::error_code ignored;
    wire_.socket().set_option(asio::socket_base::linger(true, 0), ignored);
    close();
}

void peer::expire(clock::time_point now) noexcept {
    if (now >= limit_) close();
}

}  // namespace hearonce::upstream
