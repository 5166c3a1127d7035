// Accepts connections on the first loop and hands each to a loop, in turn, where it stays.
//
// Holds: listener. Next file: loop.hpp.
#pragma once

#include <server/loop.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <vector>

namespace hearonce::server {

// Lives on the first loop; open() and local_endpoints() before start() from elsewhere.
class listener : public std::enable_shared_from_this<listener> {
public:
    listener(std::shared_ptr<shared_state> shared, std::vector<std::shared_ptr<loop>> loops);

    // Binds and listens. Throws setup_error.
    void open(const boost::asio::ip::tcp::endpoint& address);
    std::vector<boost::asio::ip::tcp::endpoint> local_endpoints() const;

    void start();
    // Somebody's connection ended, or a drain began, which takes some more: goes on if the limit held it up.
    void room_again();
    // Accepts what the kernel has already accepted, then closes: those callers were told that they are connected. Tells
    // shared_state::ended when it has.
    void finish();
    void close();
    bool closed() const noexcept { return closed_; }

private:
    struct door {
        boost::asio::ip::tcp::acceptor acceptor;
        boost::asio::ip::tcp::endpoint address;
        bool waiting;  // A wait is pending; a second one would never go away again.
    };
    enum class outcome { emptied, more, full, no_descriptors };

    void wait(door& one);
    void ready(door& one);
    // Accepts until nobody is left in the queue, the turn is over or something forbids it.
    outcome empty_queue(door& one);
    void hand_over(boost::asio::ip::tcp::socket socket, const boost::asio::ip::tcp::endpoint& peer, loop& to);
    void pause_for_descriptors();
    void go_on();
    void shut(door& one);
    std::size_t open_max() const noexcept;

    std::shared_ptr<shared_state> shared_;
    std::vector<std::shared_ptr<loop>> loops_;
    std::list<door> doors_;  // Addresses stay: waits refer to them.
    boost::asio::steady_timer pause_;
    std::size_t next_ = 0;
    bool full_ = false;
    bool pausing_ = false;
    std::chrono::steady_clock::time_point say_again_{};
    bool finishing_ = false;
    bool closed_ = false;
};

}  // namespace hearonce::server
