// One operation without a table: waiters, ends, grace, cancellation, and loops that go away.
#define BOOST_TEST_MODULE shared_operation
#include <test/flight/scripted_work.hpp>

#include <hearonce/shared_operation.hpp>

#include <boost/test/unit_test.hpp>

namespace asio = boost::asio;
using hearonce::wait_status;
using operation = hearonce::shared_operation<outcome, fake_clock>;
using milliseconds = std::chrono::milliseconds;

namespace {

constexpr auto forever = fake_clock::time_point::max();
constexpr milliseconds grace(100);

struct bed {
    bed() { fake_clock::reset(); }
    ~bed() {
        settle(loop, other);
        now.reset();
        BOOST_TEST(frame::alive == 0);
        watched.reset();
    }
    // Makes the operation and starts its scripted work; the first ticket is its leader's.
    operation::ticket lead(bool stubborn = false) {
        now = std::make_shared<operation>(loop.get_executor(), grace);
        script = std::make_shared<scripted_run>(1, loop.get_executor());
        script->stubborn = stubborn;
        watched = now;
        auto ticket = now->join();
        now->start([script = script] { return carry_out(script); });
        settle(loop);
        return std::move(*ticket);
    }
    // Waits in a coroutine of its own; what comes of it is in `ends` at the same place.
    std::size_t wait(operation::ticket ticket, fake_clock::time_point limit = forever, asio::io_context* where = nullptr) {
        const auto place = ends.size();
        ends.emplace_back();
        tickets.push_back(std::make_shared<operation::ticket>(std::move(ticket)));
        cancels.push_back(std::make_shared<asio::cancellation_signal>());
        auto body = [this, place, limit, held = tickets.back()]() -> asio::awaitable<void> {
            auto end = co_await held->wait(limit);
            ends[place] = end;
        };
        auto finished = [](const std::exception_ptr& failure) { BOOST_TEST(!failure); };
        auto& on = where ? *where : loop;
        asio::co_spawn(on, body, asio::bind_cancellation_slot(cancels.back()->slot(), finished));
        settle(loop, other);
        return place;
    }
    void pass(milliseconds time) { ::pass(time, loop, other); }
    // Nobody holds the operation any more.
    bool gone() {
        tickets.clear();
        now.reset();
        settle(loop, other);
        return watched.expired();
    }

    asio::io_context loop{1};
    asio::io_context other{1};
    std::shared_ptr<operation> now;
    std::weak_ptr<operation> watched;
    std::shared_ptr<scripted_run> script;
    std::vector<std::optional<operation::result>> ends;
    std::vector<std::shared_ptr<operation::ticket>> tickets;
    std::vector<std::shared_ptr<asio::cancellation_signal>> cancels;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(every_waiter_gets_the_same_outcome, bed) {
    wait(lead());
    wait(std::move(*now->join()));
    wait(std::move(*now->join()), forever, &other);
    BOOST_TEST(!ends[0]);
    script->end(verdict::success);
    settle(loop, other);
    for (auto& end : ends) {
        BOOST_REQUIRE(end.has_value());
        BOOST_TEST((end->status == wait_status::done));
        BOOST_TEST(end->outcome->run == 1);
        BOOST_TEST(end->outcome == ends[0]->outcome);  // The same object.
        BOOST_TEST(!end->stored);
    }
    BOOST_TEST(outcome::alive == 1);
    BOOST_TEST(!now->join().has_value());
    BOOST_TEST(gone());
}

BOOST_FIXTURE_TEST_CASE(an_exception_reaches_every_waiter, bed) {
    wait(lead());
    wait(std::move(*now->join()), forever, &other);
    script->end(verdict::thrown);
    settle(loop, other);
    for (auto& end : ends) {
        BOOST_TEST((end->status == wait_status::failed));
        BOOST_TEST(!end->outcome);
        BOOST_CHECK_EXCEPTION(std::rethrow_exception(end->failure), run_failed, [](auto& failure) { return failure.run == 1; });
    }
    BOOST_TEST(gone());
}

BOOST_FIXTURE_TEST_CASE(a_factory_that_throws_fails_the_run, bed) {
    now = std::make_shared<operation>(loop.get_executor(), grace);
    auto ticket = now->join();
    now->start([]() -> asio::awaitable<outcome> { throw run_failed(7); });
    wait(std::move(*ticket));
    BOOST_TEST((ends[0]->status == wait_status::failed));
}

BOOST_FIXTURE_TEST_CASE(work_that_never_suspends_ends_within_start_on_its_own_loop, bed) {
    now = std::make_shared<operation>(loop.get_executor(), grace);
    auto ticket = now->join();
    bool seen = false;
    asio::post(loop, [&] {
        now->start([]() -> asio::awaitable<outcome> { co_return outcome(5, true, 1); });
        seen = ticket->ready().has_value();
    });
    settle(loop);
    BOOST_TEST(seen);
    wait(std::move(*ticket));
    BOOST_TEST(ends[0]->outcome->run == 5);
}

BOOST_FIXTURE_TEST_CASE(from_elsewhere_work_starts_on_its_own_loop, bed) {
    now = std::make_shared<operation>(loop.get_executor(), grace);
    auto ticket = now->join();
    now->start([]() -> asio::awaitable<outcome> { co_return outcome(5, true, 1); });
    BOOST_TEST(!ticket->ready());
    settle(loop);
    BOOST_TEST(ticket->ready().has_value());
}

BOOST_FIXTURE_TEST_CASE(a_deadline_ends_one_wait_alone_and_the_place_remains, bed) {
    wait(lead(), fake_clock::now() + milliseconds(10));
    wait(std::move(*now->join()));
    pass(milliseconds(9));
    BOOST_TEST(!ends[0]);
    pass(milliseconds(1));
    BOOST_TEST((ends[0]->status == wait_status::timed_out));
    BOOST_TEST(!ends[1]);
    tickets[1].reset();
    pass(grace * 2);  // The first still has its place: the work goes on.
    BOOST_TEST(!script->cancelled);
    wait(std::move(*tickets[0]));
    script->end(verdict::success);
    settle(loop);
    BOOST_TEST((ends[2]->status == wait_status::done));
}

BOOST_FIXTURE_TEST_CASE(who_has_timed_out_is_not_woken_later, bed) {
    wait(lead(), fake_clock::now() + milliseconds(10), &other);
    pass(milliseconds(10));
    BOOST_TEST((ends[0]->status == wait_status::timed_out));
    script->end(verdict::success);
    settle(loop);
    other.restart();
    BOOST_TEST(other.poll() == 0u);
    BOOST_TEST((tickets[0]->ready()->status == wait_status::done));
}

BOOST_FIXTURE_TEST_CASE(a_deadline_in_the_past_does_not_hide_an_end_that_is_there, bed) {
    auto first = lead();
    auto second = now->join();
    fake_clock::advance(milliseconds(5));
    wait(std::move(first), fake_clock::time_point{});
    BOOST_TEST((ends[0]->status == wait_status::timed_out));
    script->end(verdict::success);
    settle(loop);
    wait(std::move(*second), fake_clock::time_point{});
    BOOST_TEST((ends[1]->status == wait_status::done));
}

BOOST_FIXTURE_TEST_CASE(leaving_ends_the_own_wait_only, bed) {
    wait(lead());
    wait(std::move(*now->join()));
    tickets[0]->leave();
    tickets[0]->leave();  // Twice is once.
    settle(loop);
    BOOST_TEST((ends[0]->status == wait_status::left));
    BOOST_TEST(!tickets[0]->ready());
    BOOST_TEST(!ends[1]);
    pass(grace * 2);
    BOOST_TEST(!script->cancelled);
    script->end(verdict::success);
    settle(loop);
    BOOST_TEST((ends[1]->status == wait_status::done));
    BOOST_TEST(!tickets[0]->ready());
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_coroutine_leaves, bed) {
    wait(lead());
    wait(std::move(*now->join()));
    cancels[0]->emit(asio::cancellation_type::terminal);
    settle(loop);
    BOOST_TEST((ends[0]->status == wait_status::left));
    tickets[1]->leave();
    pass(grace);
    BOOST_TEST(script->cancelled);  // Both had left, so the grace ran.
}

BOOST_FIXTURE_TEST_CASE(a_wait_begun_under_cancellation_leaves_at_once, bed) {
    auto ticket = std::make_shared<operation::ticket>(lead());
    asio::cancellation_signal cancel;
    asio::basic_waitable_timer<fake_clock> pause(loop, forever);
    std::optional<operation::result> end;
    auto body = [&]() -> asio::awaitable<void> {
        co_await asio::this_coro::throw_if_cancelled(false);
        constexpr auto use_tuple = asio::as_tuple(asio::use_awaitable);
        co_await pause.async_wait(use_tuple);
        end = co_await ticket->wait(forever);
    };
    asio::co_spawn(loop, body,
                   asio::bind_cancellation_slot(cancel.slot(), [](const std::exception_ptr& failure) { BOOST_TEST(!failure); }));
    settle(loop);
    cancel.emit(asio::cancellation_type::terminal);
    settle(loop);
    BOOST_REQUIRE(end.has_value());
    BOOST_TEST((end->status == wait_status::left));
    pass(grace);
    BOOST_TEST(script->cancelled);
}

// The end and a leave, a cancellation or a deadline in one turn of the loop: what came first is what counts.
BOOST_FIXTURE_TEST_CASE(an_end_in_the_same_turn_wins_if_it_came_first, bed) {
    wait(lead());
    wait(std::move(*now->join()), forever, &other);
    wait(std::move(*now->join()), fake_clock::now() + milliseconds(10), &other);
    wait(std::move(*now->join()), forever, &other);
    script->end(verdict::success);
    settle(loop);  // The work has ended; the other loop has not been told yet.
    BOOST_TEST(!ends[1]);
    tickets[1]->leave();
    cancels[3]->emit(asio::cancellation_type::terminal);
    ::pass(milliseconds(10), other);
    for (auto& end : ends) BOOST_TEST((end->status == wait_status::done));
    BOOST_TEST(gone());
}

BOOST_FIXTURE_TEST_CASE(a_leave_in_the_same_turn_wins_if_it_came_first, bed) {
    wait(lead(), forever, &other);
    wait(std::move(*now->join()), forever, &other);
    tickets[0]->leave();
    cancels[1]->emit(asio::cancellation_type::terminal);  // Emitted now, felt when its loop runs: after the end.
    script->end(verdict::success);
    settle(loop);
    settle(other);
    BOOST_TEST((ends[0]->status == wait_status::left));
    BOOST_TEST((ends[1]->status == wait_status::done));
}

BOOST_FIXTURE_TEST_CASE(the_last_leaver_starts_the_grace_and_its_end_cancels, bed) {
    {
        auto ticket = lead();
    }
    pass(grace - milliseconds(1));
    BOOST_TEST(!script->cancelled);
    BOOST_TEST(now->join().has_value());  // Comes and goes: the grace begins again.
    pass(grace - milliseconds(1));
    BOOST_TEST(!script->cancelled);
    pass(milliseconds(1));
    BOOST_TEST(script->cancelled);
    BOOST_TEST(script->ended);
    BOOST_TEST(!now->join().has_value());
    BOOST_TEST(gone());
}

BOOST_FIXTURE_TEST_CASE(work_that_was_given_up_cannot_be_joined_even_if_it_goes_on, bed) {
    {
        auto ticket = lead(true);
    }
    pass(grace);
    BOOST_TEST(script->cancelled);
    BOOST_TEST(!script->ended);
    BOOST_TEST(!now->join().has_value());
    script->end(verdict::success);
    settle(loop);
    BOOST_TEST(gone());
}

BOOST_FIXTURE_TEST_CASE(who_comes_back_in_the_grace_gets_the_same_run, bed) {
    {
        auto ticket = lead();
    }
    pass(grace / 2);
    wait(std::move(*now->join()));
    pass(grace * 3);
    BOOST_TEST(!script->cancelled);
    script->end(verdict::success);
    settle(loop);
    BOOST_TEST(ends[0]->outcome->run == 1);
}

BOOST_FIXTURE_TEST_CASE(an_end_within_the_grace_frees_everything, bed) {
    {
        auto ticket = lead();
    }
    pass(grace / 2);
    script->end(verdict::success);
    settle(loop);
    BOOST_TEST(gone());  // No timer holds it for the rest of the grace.
    BOOST_TEST(outcome::alive == 0);
}

BOOST_FIXTURE_TEST_CASE(abandon_now_spares_work_that_is_waited_for, bed) {
    wait(lead());
    now->abandon_now();
    settle(loop);
    BOOST_TEST(!script->cancelled);
    tickets[0]->leave();
    settle(loop);
    BOOST_TEST(script->cancelled);  // Without any grace.
}

BOOST_FIXTURE_TEST_CASE(abandon_now_ends_a_grace_that_runs, bed) {
    {
        auto ticket = lead();
    }
    settle(loop);
    now->abandon_now();
    settle(loop);
    BOOST_TEST(script->cancelled);
    BOOST_TEST(gone());
}

BOOST_FIXTURE_TEST_CASE(stop_ends_every_wait_and_the_work, bed) {
    wait(lead());
    wait(std::move(*now->join()), forever, &other);
    now->stop();
    now->stop();
    settle(loop, other);
    for (auto& end : ends) BOOST_TEST((end->status == wait_status::stopped));
    BOOST_TEST(script->cancelled);
    BOOST_TEST(!now->join().has_value());
    BOOST_TEST(gone());
}

BOOST_FIXTURE_TEST_CASE(a_late_return_of_stopped_work_changes_nothing, bed) {
    wait(lead(true));
    now->stop();
    settle(loop);
    BOOST_TEST(script->cancelled);
    BOOST_TEST(!script->ended);
    script->end(verdict::success);
    settle(loop);
    BOOST_TEST(script->ended);
    BOOST_TEST((tickets[0]->ready()->status == wait_status::stopped));
    BOOST_TEST(gone());
}

BOOST_FIXTURE_TEST_CASE(stopped_before_its_loop_began_the_work_never_starts, bed) {
    now = std::make_shared<operation>(loop.get_executor(), grace);
    auto ticket = now->join();
    now->stop();  // Its cancellation is posted first, then the start.
    bool called = false;
    now->start([&called]() -> asio::awaitable<outcome> {
        called = true;
        co_return outcome(1, true, 1);
    });
    settle(loop);
    BOOST_TEST(!called);
    BOOST_TEST((ticket->ready()->status == wait_status::stopped));
}

BOOST_FIXTURE_TEST_CASE(stopped_between_start_and_its_turn_the_work_is_cancelled_at_once, bed) {
    now = std::make_shared<operation>(loop.get_executor(), grace);
    script = std::make_shared<scripted_run>(1, loop.get_executor());
    auto ticket = now->join();
    now->start([script = script] { return carry_out(script); });
    now->stop();
    settle(loop);
    BOOST_TEST(script->ended);
    BOOST_TEST(script->cancelled);
}

BOOST_AUTO_TEST_CASE(a_loop_destroyed_under_the_work_stops_the_waiters_of_other_loops) {
    fake_clock::reset();
    asio::io_context waiters(1);
    std::optional<operation::result> end;
    {
        asio::io_context works(1);
        auto now = std::make_shared<operation>(works.get_executor(), grace);
        auto ticket = std::make_shared<operation::ticket>(std::move(*now->join()));
        auto script = std::make_shared<scripted_run>(1, works.get_executor());
        now->start([script] { return carry_out(script); });
        auto body = [&end, ticket]() -> asio::awaitable<void> { end = co_await ticket->wait(forever); };
        asio::co_spawn(waiters, body, [](const std::exception_ptr& failure) { BOOST_TEST(!failure); });
        settle(works, waiters);
        BOOST_TEST(frame::alive == 1);
        script.reset();
    }
    BOOST_TEST(frame::alive == 0);
    settle(waiters);
    BOOST_REQUIRE(end.has_value());
    BOOST_TEST((end->status == wait_status::stopped));
}

BOOST_AUTO_TEST_CASE(an_operation_whose_loop_is_gone_may_still_be_stopped_and_left) {
    std::shared_ptr<operation> now;
    std::optional<operation::ticket> ticket;
    {
        asio::io_context works(1);
        now = std::make_shared<operation>(works.get_executor(), grace);
        ticket.emplace(std::move(*now->join()));
        now->start([]() -> asio::awaitable<outcome> { co_return outcome(1, true, 1); });
        settle(works);
    }
    ticket->leave();
    now->abandon_now();
    now->stop();
    BOOST_TEST((ticket->ready()->status == wait_status::done));
}

BOOST_AUTO_TEST_CASE(a_loop_destroyed_before_the_start_had_its_turn_stops_too) {
    std::optional<operation::ticket> ticket;
    {
        asio::io_context works(1);
        auto now = std::make_shared<operation>(works.get_executor(), grace);
        ticket.emplace(std::move(*now->join()));
        now->start([]() -> asio::awaitable<outcome> { co_return outcome(1, true, 1); });
    }
    BOOST_REQUIRE(ticket->ready().has_value());
    BOOST_TEST((ticket->ready()->status == wait_status::stopped));
}

// Both orders of destruction, with waiters suspended on both loops and once with the grace running.
BOOST_AUTO_TEST_CASE(loops_may_be_destroyed_in_any_order) {
    for (const bool works_first : {true, false}) {
        for (const bool lonely : {true, false}) {
            fake_clock::reset();
            auto works = std::make_unique<asio::io_context>(1);
            auto waits = std::make_unique<asio::io_context>(1);
            std::weak_ptr<operation> watched;
            {
                auto now = std::make_shared<operation>(works->get_executor(), grace);
                watched = now;
                for (auto* loop : {works.get(), waits.get()}) {
                    auto ticket = std::make_shared<operation::ticket>(std::move(*now->join()));
                    auto body = [ticket]() -> asio::awaitable<void> { co_await ticket->wait(forever); };
                    if (!lonely) asio::co_spawn(*loop, body, [](const std::exception_ptr& failure) { BOOST_TEST(!failure); });
                }
                auto script = std::make_shared<scripted_run>(1, works->get_executor());
                now->start([script] { return carry_out(script); });
            }
            settle(*works, *waits);
            BOOST_TEST(!watched.expired());
            if (works_first) works.reset();
            waits.reset();
            works.reset();
            BOOST_TEST(watched.expired());
            BOOST_TEST(frame::alive == 0);
        }
    }
}

BOOST_FIXTURE_TEST_CASE(what_the_work_holds_is_freed_when_it_has_ended, bed) {
    struct audio : counted<audio> {};
    auto held = std::make_shared<audio>();
    now = std::make_shared<operation>(loop.get_executor(), grace);
    auto ticket = now->join();
    now->start([held]() -> asio::awaitable<outcome> {
        auto executor = co_await asio::this_coro::executor;
        co_await asio::post(executor, asio::use_awaitable);
        co_return outcome(static_cast<int>(held.use_count()), true, 1);
    });
    held.reset();
    BOOST_TEST(audio::alive == 1);
    settle(loop);
    BOOST_TEST(audio::alive == 0);
    BOOST_TEST(ticket->ready()->outcome->run == 1);
}
