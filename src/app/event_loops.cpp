// The loops' threads. Next file: gateway.cpp.
#include <app/event_loops.hpp>

#include <pthread.h>
#include <signal.h>

#include <cassert>
#include <exception>

namespace hearonce::app {

namespace {

void run_loop(boost::asio::io_context& context, const std::function<void(std::string)>& failed) {
    for (;;) {
        try {
            context.run();
            return;
        } catch (const std::exception& why) {
            // An exception that reached the loop is a bug of one operation; the others must not pay for it.
            if (failed) failed(why.what());
        }
    }
}

// Threads inherit the mask they are started under.
class signals_blocked {
public:
    signals_blocked() {
        sigset_t all_signals;
        ::sigfillset(&all_signals);
        ::pthread_sigmask(SIG_BLOCK, &all_signals, &before_);
    }
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;

private:
    sigset_t before_;
};

}  // namespace

event_loops::event_loops(std::size_t count) {
    assert(count >= 1);
    for (std::size_t i = 0; i < count; ++i) {
        loop one;
        one.context = std::make_unique<boost::asio::io_context>(1);
        one.keep = std::make_unique<guard>(one.context->get_executor());
        loops_.push_back(std::move(one));
    }
}

event_loops::~event_loops() {
    stop();
}

std::vector<boost::asio::io_context*> event_loops::all() {
    std::vector<boost::asio::io_context*> contexts;
    for (auto& one : loops_) contexts.push_back(one.context.get());
    return contexts;
}

void event_loops::start(std::function<void(std::string)> failed) {
    // Signals are handled by the thread that called, never in the middle of a loop's work.
    const signals_blocked until_started;
    for (auto& one : loops_) {
        assert(!one.thread.joinable());
        one.thread = std::thread([context = one.context.get(), failed] { run_loop(*context, failed); });
    }
}

void event_loops::stop() {
    for (auto& one : loops_) one.context->stop();
    for (auto& one : loops_) {
        if (one.thread.joinable()) one.thread.join();
    }
}

}  // namespace hearonce::app
