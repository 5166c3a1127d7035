// Work whose end a test decides, and counters that show what is left behind.
#pragma once

#include <test/flight/fake_clock.hpp>

#include <hearonce/single_flight.hpp>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Counts what is alive of a kind; copies and moves count too.
template <class Kind>
struct counted {
    counted() { ++alive; }
    counted(const counted&) { ++alive; }
    counted(counted&&) noexcept { ++alive; }
    counted& operator=(const counted&) = default;
    counted& operator=(counted&&) noexcept = default;
    ~counted() { --alive; }
    static inline std::atomic<int> alive = 0;
};

// What a run returns: which run it was, whether it may be kept, and for how many bytes.
struct outcome : counted<outcome> {
    outcome(int which, bool is_success, std::size_t size) : run(which), success(is_success), bytes(size) {}
    int run;
    bool success;
    std::size_t bytes;
};

struct run_failed : std::runtime_error {
    explicit run_failed(int which) : std::runtime_error("run " + std::to_string(which)), run(which) {}
    int run;
};

inline std::optional<std::size_t> keep_success(const outcome& end) {
    if (!end.success) return std::nullopt;
    return end.bytes;
}

enum class verdict { pending, success, unkept, thrown };

// One run, as the test steers and sees it.
struct scripted_run {
    scripted_run(int which, const boost::asio::any_io_executor& executor) : run(which), gate(executor, fake_clock::time_point::max()) {}
    void end(verdict with) {
        decided = with;
        gate.cancel();
    }
    int run;
    boost::asio::basic_waitable_timer<fake_clock> gate;
    verdict decided = verdict::pending;
    std::size_t bytes = 10;
    bool stubborn = false;   // Ignores its cancellation.
    bool cancelled = false;  // Saw its cancellation.
    bool ended = false;
};

struct frame : counted<frame> {};

inline boost::asio::awaitable<outcome> carry_out(std::shared_ptr<scripted_run> script) {
    frame here;
    constexpr auto use_tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
    if (script->stubborn) co_await boost::asio::this_coro::throw_if_cancelled(false);
    auto cancellation = co_await boost::asio::this_coro::cancellation_state;
    while (script->decided == verdict::pending) {
        co_await script->gate.async_wait(use_tuple);
        if (cancellation.cancelled() == boost::asio::cancellation_type::none) continue;
        script->cancelled = true;
        if (!script->stubborn) break;
    }
    script->ended = true;
    if (script->decided == verdict::pending) throw boost::system::system_error(boost::asio::error::operation_aborted);
    if (script->decided == verdict::thrown) throw run_failed(script->run);
    co_return outcome(script->run, script->decided == verdict::success, script->bytes);
}
