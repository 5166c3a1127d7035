// What the flight costs: work led to its end, a hit, a join, on one thread and on several.
//
// Figures are per operation. The aims: a lead with its end below 2 us, a hit below 1 us, both without contention.
#include <hearonce/single_flight.hpp>

#include <benchmark/benchmark.h>
#include <boost/asio/io_context.hpp>

#include <array>
#include <cstring>
#include <vector>

namespace asio = boost::asio;

namespace {

// A key as the gateway's: 32 bytes that are a hash already.
struct work_key {
    std::array<unsigned char, 32> bytes{};
    friend bool operator==(const work_key&, const work_key&) = default;
};
struct first_bytes {
    std::size_t operator()(const work_key& key) const noexcept {
        std::size_t hash = 0;
        std::memcpy(&hash, key.bytes.data(), sizeof hash);
        return hash;
    }
};
work_key key_of(std::uint64_t number) {
    work_key key;
    const auto spread = number * 0x9E3779B97F4A7C15u;
    std::memcpy(key.bytes.data(), &spread, sizeof spread);
    return key;
}

using flights = hearonce::single_flight<work_key, int, std::chrono::steady_clock, first_bytes>;

flights::settings settings_of(bool keeps) {
    flights::settings how;
    if (keeps) how.keep = [](const int&) { return std::optional<std::size_t>(256); };
    return how;
}

void look_at(const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
}

constexpr auto forever = std::chrono::steady_clock::time_point::max();

asio::awaitable<int> no_work() {
    co_return 1;
}
asio::awaitable<int> suspending_work() {
    auto executor = co_await asio::this_coro::executor;
    co_await asio::post(executor, asio::use_awaitable);
    co_return 1;
}

// `state` counts one operation for each call of `once`, all from one coroutine on a loop of its own.
template <class Once>
void run(benchmark::State& state, Once once) {
    asio::io_context loop(1);
    auto body = [&]() -> asio::awaitable<void> {
        for (auto _ : state) co_await once();
    };
    asio::co_spawn(loop, body, look_at);
    loop.run();
}

template <class Work>
void lead_and_finish(benchmark::State& state, Work work, bool keeps) {
    static std::uint64_t offset = 0;
    flights table(settings_of(keeps));
    auto number = offset += 1u << 28;
    auto once = [&]() -> asio::awaitable<void> {
        auto executor = co_await asio::this_coro::executor;
        const auto key = key_of(++number);
        auto ticket = table.enter(key, executor, work);
        auto end = co_await ticket.wait(forever);
        benchmark::DoNotOptimize(end.outcome.get());
        // Back to the loop, as every request goes; else the frames of ended runs pile up until the benchmark's end.
        co_await asio::post(executor, asio::use_awaitable);
    };
    run(state, once);
}

void lead_no_work(benchmark::State& state) {
    lead_and_finish(state, no_work, false);
}
void lead_no_work_kept(benchmark::State& state) {
    lead_and_finish(state, no_work, true);
}
void lead_suspending_work(benchmark::State& state) {
    lead_and_finish(state, suspending_work, false);
}

// What a spawned coroutine costs by itself, to be read against the leads.
void spawn_alone(benchmark::State& state) {
    auto once = []() -> asio::awaitable<void> {
        auto executor = co_await asio::this_coro::executor;
        auto value = co_await asio::co_spawn(executor, no_work(), asio::use_awaitable);
        benchmark::DoNotOptimize(value);
    };
    run(state, once);
}

// A hit in a table with so many entries: the figure must not grow with them, but for the caches of the processor.
void hit(benchmark::State& state) {
    flights table(settings_of(true));
    const auto entries = static_cast<std::uint64_t>(state.range(0));
    asio::io_context loop(1);
    for (std::uint64_t i = 0; i != entries; ++i) {
        auto led = table.enter(key_of(i), loop.get_executor(), no_work);
        loop.poll();
        loop.restart();
    }
    std::uint64_t number = 0;
    auto once = [&]() -> asio::awaitable<void> {
        auto executor = co_await asio::this_coro::executor;
        const auto key = key_of(number++ % entries);
        auto ticket = table.enter(key, executor, no_work);
        auto end = co_await ticket.wait(forever);
        benchmark::DoNotOptimize(end.outcome.get());
    };
    run(state, once);
}

// One waiter more on work in flight, woken by its end: everything a collapsed request costs.
void join_and_wake(benchmark::State& state) {
    flights table(settings_of(false));
    const auto waiters = state.range(0);
    asio::io_context loop(1);
    const auto key = key_of(1);
    for (auto _ : state) {
        auto waiter = [&]() -> asio::awaitable<void> {
            auto executor = co_await asio::this_coro::executor;
            auto ticket = table.enter(key, executor, suspending_work);
            auto end = co_await ticket.wait(forever);
            benchmark::DoNotOptimize(end.outcome.get());
        };
        for (auto i = waiters; i != 0; --i) asio::co_spawn(loop, waiter, look_at);
        loop.run();
        loop.restart();
    }
    state.SetItemsProcessed(state.iterations() * waiters);
}

// Several loops, each with keys of its own: what the shards are for.
void hit_threads(benchmark::State& state) {
    static flights* table = nullptr;
    if (state.thread_index() == 0) {
        table = new flights(settings_of(true));
        asio::io_context loop(1);
        for (std::uint64_t i = 0; i != 4096; ++i) auto led = table->enter(key_of(i), loop.get_executor(), no_work);
        loop.run();
    }
    auto number = static_cast<std::uint64_t>(state.thread_index()) * 997;
    auto once = [&]() -> asio::awaitable<void> {
        auto executor = co_await asio::this_coro::executor;
        const auto key = key_of(number++ % 4096);
        auto ticket = table->enter(key, executor, no_work);
        auto end = co_await ticket.wait(forever);
        benchmark::DoNotOptimize(end.outcome.get());
    };
    run(state, once);
    if (state.thread_index() == 0) delete table;
}

}  // namespace

BENCHMARK(spawn_alone);
BENCHMARK(lead_no_work);
BENCHMARK(lead_no_work_kept);
BENCHMARK(lead_suspending_work);
BENCHMARK(hit)->Arg(1)->Arg(1000)->Arg(60000);
BENCHMARK(join_and_wake)->Arg(1)->Arg(2)->Arg(100);
BENCHMARK(hit_threads)->Threads(1)->Threads(2);

BENCHMARK_MAIN();
