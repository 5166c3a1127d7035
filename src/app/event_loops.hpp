// The event loops: one io_context a thread, so that everything on one loop needs no lock.
//
// Holds: event_loops. Next file: gateway.hpp.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hearonce::app {

// Owns the loops and their threads. Constructed, started and destroyed by one thread.
class event_loops {
public:
    // `count` >= 1 loops, none running yet.
    explicit event_loops(std::size_t count);
    ~event_loops();
    event_loops(const event_loops&) = delete;
    event_loops& operator=(const event_loops&) = delete;

    std::size_t size() const noexcept { return loops_.size(); }
    boost::asio::io_context& at(std::size_t index) { return *loops_[index].context; }
    std::vector<boost::asio::io_context*> all();

    // Starts a thread a loop. `failed` gets the text of an exception that escaped a handler; the loop goes on.
    void start(std::function<void(std::string)> failed);
    // Ends each loop, whatever is still pending, and waits for the threads; destroys nothing. What was pending is destroyed
    // with the loops.
    void stop();

private:
    using guard = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;
    struct loop {
        std::unique_ptr<boost::asio::io_context> context;
        std::unique_ptr<guard> keep;
        std::thread thread;
    };

    std::vector<loop> loops_;
};

}  // namespace hearonce::app
