// One idea of progress for all that happens on a connection.
//
// Holds: watchdog. Next file: sending.hpp.
#pragma once

#include <hearonce/deadline.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace hearonce::net {

// Calls `expired` once when the time it was last given has passed. Lives on one event loop. Used instead of a timer per
// operation, so that reading and writing at one time share one idea of progress. Giving it more time costs no more than a
// look at the clock: a wait that ends too early is taken up again.
class watchdog : public std::enable_shared_from_this<watchdog> {
public:
    watchdog(const boost::asio::any_io_executor& executor, deadline all, std::function<void()> expired);
    // No later than the deadline of all, whatever is asked.
    void allow(std::chrono::milliseconds from_now);
    void stop();
    bool expired() const noexcept { return fired_; }
    deadline all() const noexcept { return all_; }

private:
    void wait();

    boost::asio::steady_timer timer_;
    deadline all_;
    deadline until_;
    std::function<void()> expired_;
    bool waiting_ = false;
    bool fired_ = false;
    bool stopped_ = false;
};

}  // namespace hearonce::net
