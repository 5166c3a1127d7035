// A table with scripted work and callers in coroutines of their own: what the table's tests share.
#pragma once

#include <test/flight/scripted_work.hpp>

#include <hearonce/single_flight.hpp>

#include <boost/test/unit_test.hpp>

namespace asio = boost::asio;
using hearonce::enter_as;
using hearonce::flight_refusal;
using hearonce::flight_role;
using hearonce::wait_status;
using std::chrono::milliseconds;

using flights = hearonce::single_flight<int, outcome, fake_clock>;

constexpr auto forever = fake_clock::time_point::max();
constexpr milliseconds grace(100);
constexpr milliseconds ttl(1000);

inline flights::settings usual_settings() {
    flights::settings how;
    how.ttl = ttl;
    how.abandon_grace = grace;
    how.shards = 1;
    how.keep = keep_success;
    return how;
}

// One caller: what it was told when it came, and how its wait ended.
struct caller {
    std::optional<flights::ticket> ticket;
    flight_role role = flight_role::refused;
    flight_refusal refusal = flight_refusal::none;
    std::optional<flights::result> end;
    asio::cancellation_signal cancel;

    // The run whose outcome or exception it got; -1: none.
    int run() const {
        if (end && end->outcome) return end->outcome->run;
        if (!end || !end->failure) return -1;
        try {
            std::rethrow_exception(end->failure);
        } catch (const run_failed& failure) {
            return failure.run;
        } catch (...) {
            return -1;
        }
    }
    bool ended_as(wait_status status) const { return end && end->status == status; }
};

// Two event loops; a test that makes many beds makes these once.
struct two_loops {
    asio::io_context first{1};
    asio::io_context second{1};
};

struct flight_bed {
    explicit flight_bed(const flights::settings& how = usual_settings(), std::shared_ptr<two_loops> given = std::make_shared<two_loops>())
        : loops_(std::move(given)) {
        fake_clock::reset();
        table.emplace(how);
    }
    ~flight_bed() {
        callers.clear();
        table.reset();
        runs.clear();
        settle(loop, other);
        BOOST_TEST(frame::alive == 0);
        BOOST_TEST(outcome::alive == 0);
    }

    // A caller comes and waits until `limit`, then goes. Work led runs on the caller's loop.
    std::shared_ptr<caller> come(int key, enter_as how = enter_as::usual, fake_clock::time_point limit = forever,
                                 asio::io_context* where = nullptr) {
        auto one = std::make_shared<caller>();
        callers.push_back(one);
        auto body = [this, key, how, limit, one]() -> asio::awaitable<void> {
            auto executor = co_await asio::this_coro::executor;
            auto work = [this, executor] { return carry_out(new_run(executor)); };
            one->ticket.emplace(table->enter(key, executor, work, how));
            co_await waiting(one, limit);
        };
        spawn(where ? *where : loop, body, *one);
        return one;
    }
    // A caller that only asks.
    std::shared_ptr<caller> ask(int key) {
        auto one = std::make_shared<caller>();
        callers.push_back(one);
        auto body = [this, key, one]() -> asio::awaitable<void> {
            one->ticket.emplace(table->find(key));
            co_await waiting(one, forever);
        };
        spawn(loop, body, *one);
        return one;
    }
    void end(std::size_t run, verdict with, std::size_t bytes = 10) {
        runs.at(run)->bytes = bytes;
        runs.at(run)->end(with);
        settle(loop, other);
    }
    void pass(milliseconds time) { ::pass(time, loop, other); }
    void leave(caller& one) {
        one.ticket->leave();
        settle(loop, other);
    }
    void cancel(caller& one) {
        one.cancel.emit(asio::cancellation_type::terminal);
        settle(loop, other);
    }
    // One success, kept; its run's number.
    int keep(int key, std::size_t bytes = 10) {
        auto one = come(key);
        const auto run = static_cast<int>(runs.size()) - 1;
        end(runs.size() - 1, verdict::success, bytes);
        BOOST_TEST(one->run() == run);
        return run;
    }

private:
    std::shared_ptr<two_loops> loops_;

public:
    asio::io_context& loop = loops_->first;
    asio::io_context& other = loops_->second;
    std::optional<flights> table;
    std::vector<std::shared_ptr<scripted_run>> runs;
    std::vector<std::shared_ptr<caller>> callers;
    bool stubborn = false;  // Runs that start from now on ignore their cancellation.

private:
    std::shared_ptr<scripted_run> new_run(const asio::any_io_executor& executor) {
        runs.push_back(std::make_shared<scripted_run>(static_cast<int>(runs.size()), executor));
        runs.back()->stubborn = stubborn;
        return runs.back();
    }
    static asio::awaitable<void> waiting(std::shared_ptr<caller> one, fake_clock::time_point limit) {
        one->role = one->ticket->role();
        one->refusal = one->ticket->refusal();
        if (!*one->ticket) co_return;
        auto end = co_await one->ticket->wait(limit);
        one->end = end;
        one->ticket.reset();
    }
    template <class Body>
    void spawn(asio::io_context& where, Body body, caller& one) {
        auto finished = [](const std::exception_ptr& failure) { BOOST_TEST(!failure); };
        asio::co_spawn(where, body, asio::bind_cancellation_slot(one.cancel.slot(), finished));
        settle(loop, other);
    }
};
