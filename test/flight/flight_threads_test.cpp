// The table under real threads: several loops, each with a thread of its own, callers that come, go, time out and are cancelled.
// Run it under ThreadSanitizer too. What is asserted holds in every interleaving; nothing waits for time to make it true.
#define BOOST_TEST_MODULE flight_threads
#include <hearonce/single_flight.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <deque>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using hearonce::enter_as;
using hearonce::flight_refusal;
using hearonce::flight_role;
using hearonce::wait_status;
using std::chrono::microseconds;
using std::chrono::steady_clock;

namespace {

std::atomic<int> frames_alive = 0;
std::atomic<int> outcomes_alive = 0;
std::atomic<int> next_run = 0;

struct outcome {
    outcome(int for_key, int which) : key(for_key), run(which) { ++outcomes_alive; }
    outcome(const outcome& other) : key(other.key), run(other.run) { ++outcomes_alive; }
    outcome& operator=(const outcome&) = delete;
    ~outcome() { --outcomes_alive; }
    int key;
    int run;
};

struct run_failed : std::runtime_error {
    run_failed(int for_key, int which) : std::runtime_error("run"), key(for_key), run(which) {}
    int key;
    int run;
};

using flights = hearonce::single_flight<int, outcome>;

// What a round does differently from the others.
struct plan {
    unsigned seed = 1;
    std::size_t loops = 3;
    int callers = 60;  // On each loop.
    int visits = 8;    // Of each caller, one after the other.
    int keys = 4;
    microseconds grace{200};
    std::size_t cache_bytes = 64;
};

struct tally {
    std::atomic<int> led = 0, joined = 0, hits = 0, refused = 0, done = 0, failed = 0, timed_out = 0, left = 0, stopped = 0, wrong = 0;
};

// Boost.Test's own macros are for the main thread only; what goes wrong elsewhere is counted.
std::atomic<int> callers_failed = 0;
void count_failure(const std::exception_ptr& failure) {
    if (failure) ++callers_failed;
}

struct frame {
    frame() { ++frames_alive; }
    frame(const frame&) = delete;
    frame& operator=(const frame&) = delete;
    ~frame() { --frames_alive; }
};

asio::awaitable<outcome> work(int key, int run, unsigned luck) {
    frame here;
    auto executor = co_await asio::this_coro::executor;
    for (unsigned hop = luck % 4; hop != 0; --hop) co_await asio::post(executor, asio::use_awaitable);
    if (luck % 3 == 0) {
        asio::steady_timer pause(executor, microseconds(luck % 500));
        co_await pause.async_wait(asio::use_awaitable);
    }
    if (luck % 7 == 0) throw run_failed(key, run);
    co_return outcome(key, run);
}

// One visit: enter, wait in some way, compare what came with what may come.
asio::awaitable<void> visit(flights& table, tally& count, const plan& how, std::mt19937& random) {
    auto executor = co_await asio::this_coro::executor;
    const int key = static_cast<int>(random() % static_cast<unsigned>(how.keys));
    const auto luck = static_cast<unsigned>(random());
    const unsigned mood = random() % 16;
    const auto mode = mood == 0 ? enter_as::refresh : mood == 1 ? enter_as::no_store : enter_as::usual;
    auto own_run = std::make_shared<int>(-1);
    auto factory = [key, luck, own_run] {
        *own_run = next_run++;
        return work(key, *own_run, luck);
    };
    auto entered = random() % 8 == 0 ? table.find(key) : table.enter(key, executor, factory, mode);
    auto ticket = std::make_shared<flights::ticket>(std::move(entered));
    if (!*ticket) {
        ++count.refused;
        co_return;
    }
    if (ticket->role() == flight_role::led) ++count.led;
    if (ticket->role() == flight_role::joined) ++count.joined;
    if (ticket->role() == flight_role::hit) ++count.hits;

    const auto patience = random() % 4 == 0 ? microseconds(random() % 300) : microseconds(std::chrono::minutes(5));
    // Somebody else on this loop makes the waiter leave, some turns later.
    asio::steady_timer leaver(executor, microseconds(random() % 200));
    if (random() % 4 == 0) {
        leaver.async_wait([watched = std::weak_ptr(ticket)](const boost::system::error_code& code) {
            auto still = watched.lock();
            if (!code && still) still->leave();
        });
    }
    auto end = co_await ticket->wait(steady_clock::now() + patience);

    switch (end.status) {
        case wait_status::done: {
            ++count.done;
            if (end.outcome->key != key) ++count.wrong;
            if (ticket->role() == flight_role::led && end.outcome->run != *own_run) ++count.wrong;
            if (ticket->role() != flight_role::led && *own_run != -1) ++count.wrong;
            if (mode == enter_as::no_store && ticket->role() == flight_role::led && end.stored) ++count.wrong;
            break;
        }
        case wait_status::failed:
            ++count.failed;
            try {
                std::rethrow_exception(end.failure);
            } catch (const run_failed& failure) {
                if (failure.key != key) ++count.wrong;
                if (ticket->role() == flight_role::led && failure.run != *own_run) ++count.wrong;
                if (ticket->role() == flight_role::hit) ++count.wrong;
            } catch (...) {
                ++count.wrong;
            }
            break;
        case wait_status::timed_out: ++count.timed_out; break;
        case wait_status::left: ++count.left; break;
        case wait_status::stopped: ++count.stopped; break;
    }
}

asio::awaitable<void> caller(flights& table, tally& count, plan how, unsigned seed) {
    frame here;
    std::mt19937 random(seed);
    for (int i = 0; i != how.visits; ++i) {
        co_await visit(table, count, how, random);
        auto executor = co_await asio::this_coro::executor;
        co_await asio::post(executor, asio::use_awaitable);
    }
}

flights::settings settings_of(const plan& how) {
    flights::settings set;
    set.abandon_grace = how.grace;
    set.ttl = std::chrono::milliseconds(1);
    set.cache_bytes_max = how.cache_bytes;
    set.shards = 2;
    set.keep = [](const outcome& end) { return end.run % 5 == 0 ? std::nullopt : std::optional<std::size_t>(10); };
    return set;
}

struct running_loops {
    explicit running_loops(std::size_t count) {
        for (std::size_t i = 0; i != count; ++i) loops.emplace_back(1);
    }
    void run() {
        for (auto& loop : loops) threads.emplace_back([&loop] { loop.run(); });
    }
    void join() {
        for (auto& thread : threads) thread.join();
        threads.clear();
        // What other threads posted to a loop that had nothing left to do.
        for (auto& loop : loops) {
            loop.restart();
            loop.poll();
        }
    }
    std::deque<asio::io_context> loops;
    std::vector<std::thread> threads;
};

// A caller that is cancelled, on its own loop, somewhere on its way; it ends by an exception then, as it should.
void spawn_cancelled(asio::io_context& loop, asio::awaitable<void> body, microseconds after) {
    struct cancellation {
        explicit cancellation(asio::io_context& on) : timer(on) {}
        asio::steady_timer timer;
        asio::cancellation_signal signal;
        bool over = false;
    };
    auto shared = std::make_shared<cancellation>(loop);
    auto finished = [shared](const std::exception_ptr&) { shared->over = true; };
    asio::co_spawn(loop, std::move(body), asio::bind_cancellation_slot(shared->signal.slot(), finished));
    shared->timer.expires_after(after);
    shared->timer.async_wait([shared](const boost::system::error_code&) {
        if (!shared->over) shared->signal.emit(asio::cancellation_type::terminal);
    });
}

// `meanwhile` is called on this thread while the loops run.
template <class Meanwhile>
void play(const plan& how, tally& count, Meanwhile meanwhile) {
    BOOST_TEST_CONTEXT("seed " << how.seed) {
        flights table(settings_of(how));
        running_loops running(how.loops);
        unsigned seed = how.seed * 100000;
        for (auto& loop : running.loops) {
            for (int i = 0; i != how.callers; ++i) {
                auto body = caller(table, count, how, ++seed);
                if (i % 8 == 0)
                    spawn_cancelled(loop, std::move(body), microseconds(seed % 2000));
                else
                    asio::co_spawn(loop, std::move(body), count_failure);
            }
        }
        running.run();
        meanwhile(table);
        running.join();
        const auto left = table.stats();
        BOOST_TEST(count.wrong == 0);
        BOOST_TEST(callers_failed == 0);
        BOOST_TEST(left.flights == 0u);
        BOOST_TEST(left.waiters == 0u);
        BOOST_TEST(left.bytes <= how.cache_bytes);
        BOOST_TEST(left.bytes == left.entries * 10);
        BOOST_TEST(frames_alive == 0);
        BOOST_TEST(static_cast<std::size_t>(outcomes_alive) == left.entries);
        table.stop();
        BOOST_TEST(outcomes_alive == 0);
    }
}

#ifdef HEARONCE_SANITIZED
constexpr unsigned rounds = 10;
#else
constexpr unsigned rounds = 40;
#endif

}  // namespace

BOOST_AUTO_TEST_CASE(many_callers_on_several_loops) {
    tally count;
    for (unsigned seed = 1; seed <= rounds; ++seed) {
        plan how;
        how.seed = seed;
        how.loops = 2 + seed % 3;
        how.keys = seed % 2 == 0 ? 2 : 16;
        how.grace = microseconds(seed % 3 == 0 ? 0 : 300);
        play(how, count, [](flights&) {});
    }
    // Every way to come and to go was taken.
    for (const auto* taken :
         {&count.led, &count.joined, &count.hits, &count.refused, &count.done, &count.failed, &count.timed_out, &count.left}) {
        BOOST_TEST(*taken > 0);
    }
    BOOST_TEST(count.stopped == 0);
}

BOOST_AUTO_TEST_CASE(a_drain_and_a_stop_from_another_thread) {
    tally count;
    for (unsigned seed = 100; seed != 100 + rounds; ++seed) {
        plan how;
        how.seed = seed;
        // Counted from before the loops run: on a busy machine they may be at their end before this thread looks again.
        const int from = count.led;
        play(how, count, [&](flights& table) {
            // In the midst of it: when a few runs have been led, whichever those are.
            while (count.led < from + static_cast<int>(seed % 50)) std::this_thread::yield();
            table.abandon_now();
            table.stats();
            table.sweep();
            if (seed % 2 == 0) table.stop();
        });
    }
    BOOST_TEST(count.stopped > 0);
}

// The loops end in the midst of everything and are destroyed with what is suspended on them, once with the table before them.
BOOST_AUTO_TEST_CASE(loops_that_are_stopped_and_destroyed_leave_nothing) {
    for (unsigned seed = 200; seed != 200 + rounds; ++seed) {
        plan how;
        how.seed = seed;
        tally count;
        {
            auto table = std::make_unique<flights>(settings_of(how));
            running_loops running(how.loops);
            unsigned caller_seed = seed * 100000;
            for (auto& loop : running.loops) {
                for (int i = 0; i != how.callers; ++i) {
                    auto body = caller(*table, count, how, ++caller_seed);
                    asio::co_spawn(loop, std::move(body), [](const std::exception_ptr&) {});
                }
            }
            running.run();
            while (count.led < 20) std::this_thread::yield();
            for (auto& loop : running.loops) loop.stop();
            for (auto& thread : running.threads) thread.join();
            if (seed % 2 == 0) table.reset();
        }
        BOOST_TEST(count.wrong == 0);
        BOOST_TEST(frames_alive == 0);
        BOOST_TEST(outcomes_alive == 0);
    }
}

// One key, one run, as many waiters as there are: they come on every loop while the run waits for the last of them.
BOOST_AUTO_TEST_CASE(all_loops_join_one_run) {
    constexpr std::size_t loops = 4;
    constexpr int callers = 50;
    flights::settings how;
    how.keep = [](const outcome&) { return std::optional<std::size_t>(1); };
    flights table(how);
    running_loops running(loops);
    std::atomic<int> led = 0, came = 0, good = 0, runs = 0;
    auto work = [&]() -> asio::awaitable<outcome> {
        ++runs;
        auto executor = co_await asio::this_coro::executor;
        while (came != static_cast<int>(loops) * callers) co_await asio::post(executor, asio::use_awaitable);
        co_return outcome(1, 77);
    };
    auto one = [&]() -> asio::awaitable<void> {
        auto executor = co_await asio::this_coro::executor;
        auto ticket = table.enter(1, executor, work);
        if (ticket.role() == flight_role::led) ++led;
        ++came;
        auto end = co_await ticket.wait(steady_clock::time_point::max());
        if (end.status == wait_status::done && end.outcome->run == 77 && end.stored) ++good;
    };
    for (auto& loop : running.loops) {
        for (int i = 0; i != callers; ++i) asio::co_spawn(loop, one, count_failure);
    }
    running.run();
    running.join();
    BOOST_TEST(callers_failed == 0);
    BOOST_TEST(led == 1);
    BOOST_TEST(runs == 1);
    BOOST_TEST(good == static_cast<int>(loops) * callers);
}
