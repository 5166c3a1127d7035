// A point in time that is passed down through queue, attempts and backends, so that nobody invents a limit of his own.
//
// Holds: deadline, with_deadline(). Next file: audio.hpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>

namespace hearonce {

// When something must have ended. A value; the clock is a parameter so that policies are tested with a fake one.
template <class Clock>
class basic_deadline {
public:
    using clock = Clock;
    using time_point = typename Clock::time_point;
    using duration = typename Clock::duration;

    explicit constexpr basic_deadline(time_point at) : at_(at) {}
    static basic_deadline after(duration from_now) { return basic_deadline(Clock::now() + from_now); }
    static constexpr basic_deadline never() { return basic_deadline(time_point::max()); }

    constexpr time_point at() const noexcept { return at_; }
    constexpr bool passed(time_point now) const noexcept { return now >= at_; }
    constexpr duration left(time_point now) const noexcept { return std::max(at_ - now, duration::zero()); }
    friend constexpr auto operator<=>(const basic_deadline&, const basic_deadline&) = default;

private:
    time_point at_;
};

using deadline = basic_deadline<std::chrono::steady_clock>;

namespace deadline_detail {
// co_spawn needs a result type with a default value, which result<T> has not.
template <class T>
boost::asio::awaitable<std::optional<T>> optional_of(boost::asio::awaitable<T> operation) {
    auto value = co_await std::move(operation);
    co_return std::optional<T>(std::move(value));
}
}  // namespace deadline_detail

// Awaits `operation` on the current executor for as long as `limit` allows. nullopt: the limit passed, the operation was
// cancelled (terminal) and has ended. The operation's own exception is rethrown; an outer cancellation reaches it.
// operator|| of Asio's awaitable_operators is not used: it hides the loser's error and waits for the first *success*.
template <class T>
boost::asio::awaitable<std::optional<T>> with_deadline(boost::asio::awaitable<T> operation, deadline limit) {
    namespace asio = boost::asio;
    auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, limit.at());
    auto wrapped = deadline_detail::optional_of<T>(std::move(operation));
    auto race = asio::experimental::make_parallel_group(asio::co_spawn(executor, std::move(wrapped), asio::deferred),
                                                        timer.async_wait(asio::deferred));
    auto [order, failure, value, timer_error] = co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    if (order[0] == 1) co_return std::nullopt;
    if (failure) std::rethrow_exception(failure);
    co_return std::move(value);
}

}  // namespace hearonce
