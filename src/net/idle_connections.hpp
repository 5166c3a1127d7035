// Connections between two calls, one pool in each event loop, so that no lock is needed and it ends with its loop.
//
// Holds: origin, idle_limits, idle_connections. Next file: names.hpp (where a fresh one goes).
#pragma once

#include <hearonce/deadline.hpp>
#include <net/connection.hpp>
#include <net/tls.hpp>
#include <net/url.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hearonce::net {

// For whom a connection is good (RFC 9110 section 4.3.1), and whom it believes: two contexts may trust different authorities.
struct origin {
    bool tls = false;
    std::string host;
    std::uint16_t port = 0;
    tls_context trust;

    origin(const http_url& url, tls_context trusted);
    friend bool operator==(const origin&, const origin&) = default;
};

struct idle_limits {
    std::size_t per_origin_max = 16;
    std::size_t all_max = 64;
};

class idle_connections final : public boost::asio::execution_context::service {
public:
    static boost::asio::execution_context::id id;

    explicit idle_connections(boost::asio::execution_context& loop) : idle_connections(loop, idle_limits()) {}
    idle_connections(boost::asio::execution_context& loop, idle_limits limits);

    // The one used last, as it is the least likely to be given up by the peer; nullptr: none is fit for use.
    std::shared_ptr<connection> take(const origin& to);
    // A connection whose last answer was read as a whole. Closed when it stays longer than `idle`, when the peer closes it or
    // says anything, and as the oldest when there are too many.
    void give(origin to, std::shared_ptr<connection> link, std::chrono::milliseconds idle);
    void close_all() noexcept;
    std::size_t size() const noexcept { return kept_.size(); }

private:
    struct entry {
        std::uint64_t number;
        origin to;
        std::shared_ptr<connection> link;
        deadline until;
    };

    void shutdown() noexcept override { close_all(); }
    void make_room(const origin& to);
    void watch(const entry& one);
    void drop(std::uint64_t number) noexcept;
    void wait_for_oldest();
    void drop_old();
    void rest_when_empty() noexcept;

    idle_limits limits_;
    std::vector<entry> kept_;  // In the order they came. Few, so that looking at each is cheaper than an index.
    std::uint64_t next_number_ = 0;
    std::optional<boost::asio::steady_timer> clock_;
    bool waiting_ = false;
};

}  // namespace hearonce::net
