// From a host's name to its addresses: cached, joined, bounded. One of its kind in each event loop.
//
// Holds: names, resolve(). Next file: connection.hpp.
#pragma once

#include <hearonce/deadline.hpp>
#include <net/name_cache.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/result.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearonce::net {

using endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

// The look-ups of one event loop; used on its thread only and destroyed with it.
class names final : public boost::asio::execution_context::service {
public:
    static boost::asio::execution_context::id id;
    using finished = std::function<void(looked_up)>;
    // Looks one name up and calls back once, on the executor's thread and never at once.
    using look_up = std::function<void(boost::asio::any_io_executor, const std::string& host, finished)>;

    explicit names(boost::asio::execution_context& loop);
    names(boost::asio::execution_context& loop, name_limits limits, look_up ask);

    // Who comes while a name is being looked up waits for the same answer; who leaves at `limit` leaves the others waiting.
    boost::asio::awaitable<looked_up> addresses_of(std::string host, deadline limit);
    // After none of its addresses answered: they may have moved.
    void forget(const std::string& host) { cache_.forget(host); }
    std::size_t running() const noexcept { return running_.size(); }
    // How many wait for a name, each of them counted.
    std::size_t waiting(const std::string& host) const;

private:
    // Somebody who waits for a name; its timer is the wake-up and the deadline.
    struct waiter {
        waiter(const boost::asio::any_io_executor& executor, deadline limit) : wake(executor, limit.at()) {}
        boost::asio::steady_timer wake;
        std::optional<looked_up> found;
    };
    using waiters = std::vector<std::shared_ptr<waiter>>;

    void shutdown() noexcept override;
    void start(const boost::asio::any_io_executor& executor, const std::string& host);
    void finish(const std::string& host, looked_up found);

    name_limits limits_;
    name_cache cache_;
    look_up ask_;
    std::unordered_map<std::string, waiters> running_;
};

// getaddrinfo(3) runs on a thread of its own and cannot be interrupted: on `limit` this coroutine leaves with timed_out
// and lets it end by itself. Addresses are not looked up.
boost::asio::awaitable<boost::system::result<endpoints>> resolve(std::string host, std::uint16_t port, deadline limit);

}  // namespace hearonce::net
