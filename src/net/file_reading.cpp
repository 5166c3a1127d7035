// Next file: stored_reader.cpp.
#include <net/file_reading.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <utility>

#include <unistd.h>

namespace hearonce::net {

namespace asio = boost::asio;

namespace {

// Of one read, for whoever is still there to take it. Made and destroyed on the event loop's thread.
struct reading {
    explicit reading(const asio::any_io_executor& executor) : done(executor, asio::steady_timer::time_point::max()) {}
    asio::steady_timer done;
    std::optional<file_read> result;
};

file_read read_all(int descriptor, std::uint64_t offset, std::vector<std::byte>& into) {
    file_read result;
    while (result.bytes < into.size()) {
        const auto got =
            ::pread(descriptor, into.data() + result.bytes, into.size() - result.bytes, static_cast<off_t>(offset + result.bytes));
        if (got == 0) break;
        if (got > 0) result.bytes += static_cast<std::size_t>(got);
        if (got < 0 && errno != EINTR) {
            result.failure = errno;
            break;
        }
    }
    return result;
}

}  // namespace

asio::execution_context::id file_reading::id;

asio::thread_pool& file_reading::thread() {
    if (!thread_) thread_.emplace(1);
    return *thread_;
}

void file_reading::shutdown() noexcept {
    if (!thread_) return;
    thread_->stop();
    thread_->join();
    thread_.reset();
}

asio::awaitable<file_read> read_file(std::shared_ptr<const stored_bytes> from, std::uint64_t offset, file_bytes into) {
    auto executor = co_await asio::this_coro::executor;
    auto& service = asio::use_service<file_reading>(asio::query(executor, asio::execution::context));
    auto state = std::make_shared<reading>(executor);
    // What the thread holds goes back to the loop with the result: a timer is its loop's alone, and the last holder of a
    // recording may have a file to close.
    auto job = [executor, from = std::move(from), offset, into = std::move(into), state]() mutable {
        const file_read result = read_all(from->file_descriptor(), offset, *into);
        const auto loop = std::move(executor);
        asio::post(loop, [from = std::move(from), into = std::move(into), state = std::move(state), result] {
            state->result = result;
            state->done.cancel();
        });
    };
    asio::post(service.thread(), std::move(job));
    // Woken by the result or by a cancellation: which of the two, the state says.
    co_await state->done.async_wait(asio::as_tuple(asio::use_awaitable));
    if (state->result) co_return *state->result;
    file_read left;
    left.failure = ECANCELED;
    co_return left;
}

}  // namespace hearonce::net
