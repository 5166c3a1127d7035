// The table, one promise a test: roles, what is kept, refresh and no_store, limits, shutdown.
#define BOOST_TEST_MODULE single_flight
#include <test/flight/flight_bed.hpp>

#include <array>

BOOST_FIXTURE_TEST_CASE(the_first_leads_the_second_joins_a_later_one_hits, flight_bed) {
    auto first = come(1);
    auto second = come(1, enter_as::usual, forever, &other);
    BOOST_TEST((first->role == flight_role::led));
    BOOST_TEST((second->role == flight_role::joined));
    BOOST_TEST(runs.size() == 1u);
    BOOST_TEST(table->stats().flights == 1u);
    BOOST_TEST(table->stats().waiters == 2u);
    end(0, verdict::success);
    BOOST_TEST(first->run() == 0);
    BOOST_TEST(second->run() == 0);
    BOOST_TEST(first->end->stored);
    BOOST_TEST((first->end->ttl_left == ttl));
    BOOST_TEST((second->end->ttl_left == ttl));
    pass(milliseconds(1));
    auto third = come(1);
    BOOST_TEST((third->role == flight_role::hit));
    BOOST_TEST(third->run() == 0);
    BOOST_TEST(third->end->stored);
    BOOST_TEST((third->end->ttl_left == ttl - milliseconds(1)));
    BOOST_TEST(third->end->outcome == first->end->outcome);
    BOOST_TEST(runs.size() == 1u);
    BOOST_TEST(table->stats().flights == 0u);
    BOOST_TEST(table->stats().waiters == 0u);
    BOOST_TEST(table->stats().entries == 1u);
    BOOST_TEST(table->stats().bytes == 10u);
}

BOOST_FIXTURE_TEST_CASE(distinct_keys_are_distinct_work, flight_bed) {
    auto first = come(1);
    auto second = come(2);
    BOOST_TEST(runs.size() == 2u);
    end(1, verdict::success);
    BOOST_TEST(second->run() == 1);
    BOOST_TEST(!first->end);
    end(0, verdict::success);
    BOOST_TEST(first->run() == 0);
}

BOOST_FIXTURE_TEST_CASE(a_failure_reaches_the_waiters_of_its_run_and_frees_the_key, flight_bed) {
    auto first = come(1);
    auto second = come(1);
    end(0, verdict::thrown);
    BOOST_TEST(first->ended_as(wait_status::failed));
    BOOST_TEST(second->run() == 0);
    BOOST_TEST(!second->end->stored);
    auto third = come(1);
    BOOST_TEST((third->role == flight_role::led));
    end(1, verdict::success);
    BOOST_TEST(third->run() == 1);
}

BOOST_FIXTURE_TEST_CASE(an_outcome_that_is_no_success_is_delivered_and_not_kept, flight_bed) {
    auto first = come(1);
    end(0, verdict::unkept);
    BOOST_TEST(first->ended_as(wait_status::done));
    BOOST_TEST(!first->end->stored);
    BOOST_TEST(table->stats().entries == 0u);
    BOOST_TEST((come(1)->role == flight_role::led));
}

BOOST_AUTO_TEST_CASE(a_keep_that_throws_or_is_absent_keeps_nothing_and_hurts_nobody) {
    auto throwing = usual_settings();
    throwing.keep = [](const outcome&) -> std::optional<std::size_t> { throw std::runtime_error("keep"); };
    auto absent = usual_settings();
    absent.keep = nullptr;
    auto no_life = usual_settings();
    no_life.ttl = milliseconds(0);
    for (const auto& how : {throwing, absent, no_life}) {
        flight_bed bed(how);
        auto first = bed.come(1);
        bed.end(0, verdict::success);
        BOOST_TEST(first->ended_as(wait_status::done));
        BOOST_TEST(!first->end->stored);
        BOOST_TEST((bed.come(1)->role == flight_role::led));
    }
}

BOOST_FIXTURE_TEST_CASE(a_life_is_counted_from_the_end_and_is_over_exactly_at_ttl, flight_bed) {
    auto first = come(1);
    pass(ttl * 5);  // The time the work takes is not part of it.
    end(0, verdict::success);
    pass(ttl - milliseconds(1));
    auto last = come(1);
    BOOST_TEST((last->role == flight_role::hit));
    BOOST_TEST((last->end->ttl_left == milliseconds(1)));
    pass(milliseconds(1));
    BOOST_TEST((ask(1)->refusal == flight_refusal::unknown));
    BOOST_TEST((come(1)->role == flight_role::led));
    BOOST_TEST(table->stats().entries == 0u);
}

BOOST_FIXTURE_TEST_CASE(calls_sweep_what_is_over_two_at_a_time, flight_bed) {
    for (int key = 0; key != 5; ++key) keep(key);
    pass(ttl);
    BOOST_TEST(table->stats().entries == 5u);
    ask(99);
    BOOST_TEST(table->stats().entries == 3u);
    come(98);
    BOOST_TEST(table->stats().entries == 1u);
    table->sweep();
    BOOST_TEST(table->stats().entries == 0u);
    BOOST_TEST(table->stats().bytes == 0u);
    end(5, verdict::success);
    table->sweep();  // Leaves what is not over.
    BOOST_TEST(table->stats().entries == 1u);
}

BOOST_AUTO_TEST_CASE(the_cache_is_bounded_in_bytes_least_recently_used_out_first) {
    auto how = usual_settings();
    how.cache_bytes_max = 30;
    flight_bed bed(how);
    for (int key = 1; key <= 3; ++key) bed.keep(key);
    BOOST_TEST(bed.table->stats().bytes == 30u);
    bed.come(1);
    bed.keep(4);  // 2 is the least recently used.
    BOOST_TEST(bed.table->stats().bytes == 30u);
    BOOST_TEST((bed.ask(2)->refusal == flight_refusal::unknown));
    for (const int key : {1, 3, 4}) BOOST_TEST((bed.ask(key)->role == flight_role::hit));
}

BOOST_AUTO_TEST_CASE(an_outcome_at_the_cache_s_size_is_kept_and_one_above_is_not) {
    for (const std::size_t size : {29u, 30u, 31u}) {
        auto how = usual_settings();
        how.cache_bytes_max = 30;
        flight_bed bed(how);
        bed.keep(7, 1);
        auto one = bed.come(1);
        bed.end(1, verdict::success, size);
        BOOST_TEST(one->ended_as(wait_status::done));
        BOOST_TEST(one->end->stored == (size <= 30));
        BOOST_TEST((one->end->ttl_left == (size <= 30 ? ttl : milliseconds(0))));
        BOOST_TEST(bed.table->stats().bytes == (size == 29 ? 30 : size == 30 ? 30 : 1));
        BOOST_TEST((bed.come(1)->role == (size <= 30 ? flight_role::hit : flight_role::led)));
    }
}

BOOST_AUTO_TEST_CASE(work_in_flight_is_never_evicted) {
    auto how = usual_settings();
    how.cache_bytes_max = 10;
    how.entries_max = 1;
    flight_bed bed(how);
    auto first = bed.come(1);
    for (int key = 2; key != 9; ++key) bed.keep(key);
    BOOST_TEST(bed.table->stats().entries == 1u);
    auto second = bed.come(1);
    BOOST_TEST((second->role == flight_role::joined));
    bed.end(0, verdict::success);
    BOOST_TEST(first->run() == 0);
}

BOOST_FIXTURE_TEST_CASE(find_joins_or_hits_and_never_leads, flight_bed) {
    auto nobody = ask(1);
    BOOST_TEST((nobody->role == flight_role::refused));
    BOOST_TEST((nobody->refusal == flight_refusal::unknown));
    auto leader = come(1);
    auto asker = ask(1);
    BOOST_TEST((asker->role == flight_role::joined));
    leave(*leader);
    pass(grace * 2);  // The one that asks is a waiter as good as any.
    BOOST_TEST(!runs[0]->cancelled);
    end(0, verdict::success);
    BOOST_TEST(asker->run() == 0);
    BOOST_TEST((ask(1)->role == flight_role::hit));
}

BOOST_FIXTURE_TEST_CASE(refresh_takes_the_key_and_the_older_run_serves_its_waiters_but_is_not_kept, flight_bed) {
    auto old = come(1);
    auto fresh = come(1, enter_as::refresh);
    BOOST_TEST((fresh->role == flight_role::led));
    auto later = come(1);
    BOOST_TEST((later->role == flight_role::joined));
    auto asker = ask(1);
    end(0, verdict::success);
    BOOST_TEST(old->run() == 0);
    BOOST_TEST(!old->end->stored);
    BOOST_TEST(table->stats().entries == 0u);
    BOOST_TEST(!later->end);
    end(1, verdict::success);
    for (const auto& one : {fresh, later, asker}) BOOST_TEST(one->run() == 1);
    BOOST_TEST(fresh->end->stored);
    BOOST_TEST(come(1)->run() == 1);
}

BOOST_FIXTURE_TEST_CASE(an_older_run_that_ends_last_does_not_take_the_key_back, flight_bed) {
    auto old = come(1);
    auto fresh = come(1, enter_as::refresh);
    end(1, verdict::success);
    end(0, verdict::success);
    BOOST_TEST(old->run() == 0);
    BOOST_TEST(come(1)->run() == 1);
    BOOST_TEST(table->stats().bytes == 10u);
}

BOOST_FIXTURE_TEST_CASE(refresh_drops_what_was_kept_even_if_it_fails, flight_bed) {
    keep(1);
    auto fresh = come(1, enter_as::refresh);
    BOOST_TEST(table->stats().entries == 0u);
    end(1, verdict::thrown);
    BOOST_TEST((come(1)->role == flight_role::led));
}

BOOST_FIXTURE_TEST_CASE(a_displaced_run_without_waiters_is_abandoned_by_itself, flight_bed) {
    auto old = come(1);
    auto fresh = come(1, enter_as::refresh);
    leave(*old);
    pass(grace);
    BOOST_TEST(runs[0]->cancelled);
    BOOST_TEST(!runs[1]->cancelled);
    BOOST_TEST((come(1)->role == flight_role::joined));
}

BOOST_FIXTURE_TEST_CASE(no_store_is_private_and_leaves_the_key_as_it_is, flight_bed) {
    keep(1);
    auto alone = come(1, enter_as::no_store);
    BOOST_TEST((alone->role == flight_role::led));
    BOOST_TEST(come(1)->run() == 0);
    end(1, verdict::success);
    BOOST_TEST(alone->run() == 1);
    BOOST_TEST(!alone->end->stored);
    BOOST_TEST(come(1)->run() == 0);

    auto first = come(2, enter_as::no_store);
    auto second = come(2, enter_as::no_store);
    auto third = come(2);
    BOOST_TEST((ask(2)->role == flight_role::joined));
    BOOST_TEST(runs.size() == 5u);
    leave(*first);
    pass(grace);
    BOOST_TEST(runs[2]->cancelled);  // A private run has its grace like any other, though nobody can come back for it.
    BOOST_TEST(!runs[3]->cancelled);
    BOOST_TEST(table->stats().flights == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_resend_in_the_grace_continues_the_run, flight_bed) {
    auto first = come(1);
    cancel(*first);
    BOOST_TEST(first->ended_as(wait_status::left));
    BOOST_TEST(table->stats().waiters == 0u);
    pass(grace - milliseconds(1));
    auto second = come(1);
    BOOST_TEST((second->role == flight_role::joined));
    pass(grace * 3);
    end(0, verdict::success);
    BOOST_TEST(second->run() == 0);
}

BOOST_FIXTURE_TEST_CASE(an_abandoned_run_that_succeeds_is_kept, flight_bed) {
    auto first = come(1);
    leave(*first);
    end(0, verdict::success);
    BOOST_TEST((come(1)->role == flight_role::hit));
    BOOST_TEST(runs.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_dying_run_is_out_of_the_table_before_it_is_cancelled, flight_bed) {
    stubborn = true;
    auto first = come(1);
    leave(*first);
    pass(grace);
    BOOST_TEST(runs[0]->cancelled);
    BOOST_TEST(!runs[0]->ended);
    BOOST_TEST(table->stats().flights == 1u);  // It still runs, and counts.
    auto second = come(1);
    BOOST_TEST((second->role == flight_role::led));
    end(0, verdict::success);  // Returned in spite of its cancellation: nobody's, and not kept.
    BOOST_TEST(!second->end);
    BOOST_TEST(table->stats().entries == 0u);
    BOOST_TEST((come(1)->role == flight_role::joined));
    end(1, verdict::success);
    BOOST_TEST(second->run() == 1);
}

BOOST_FIXTURE_TEST_CASE(work_that_ends_at_once_is_led_and_kept_within_the_call, flight_bed) {
    bool done = false;
    asio::post(loop, [&] {
        auto ticket = table->enter(1, loop.get_executor(), []() -> asio::awaitable<outcome> { co_return outcome(9, true, 10); });
        BOOST_TEST((ticket.role() == flight_role::led));
        BOOST_REQUIRE(ticket.ready().has_value());
        BOOST_TEST(ticket.ready()->outcome->run == 9);
        BOOST_TEST(ticket.ready()->stored);
        BOOST_TEST(table->stats().flights == 0u);
        done = true;
    });
    settle(loop);
    BOOST_TEST(done);
    BOOST_TEST((ask(1)->role == flight_role::hit));
}

BOOST_FIXTURE_TEST_CASE(a_factory_that_throws_fails_the_run_and_frees_the_key, flight_bed) {
    auto ticket = table->enter(1, loop.get_executor(), []() -> asio::awaitable<outcome> { throw run_failed(3); });
    settle(loop);
    BOOST_REQUIRE(ticket.ready().has_value());
    BOOST_TEST((ticket.ready()->status == wait_status::failed));
    BOOST_TEST((come(1)->role == flight_role::led));
}

BOOST_FIXTURE_TEST_CASE(only_the_leader_s_work_is_used_the_joiner_s_is_freed, flight_bed) {
    struct upload : counted<upload> {};
    auto work_with = [](std::shared_ptr<upload> held) {
        return [held = std::move(held)]() -> asio::awaitable<outcome> {
            co_await asio::this_coro::executor;
            co_return outcome(static_cast<int>(held.use_count()), true, 1);
        };
    };
    auto led = table->enter(1, loop.get_executor(), work_with(std::make_shared<upload>()));
    auto joined = table->enter(1, loop.get_executor(), work_with(std::make_shared<upload>()));
    BOOST_TEST(upload::alive == 1);
    settle(loop);
    BOOST_TEST(upload::alive == 0);
}

BOOST_AUTO_TEST_CASE(flights_at_the_limit_one_below_and_one_above) {
    auto how = usual_settings();
    how.flights_max = 3;
    flight_bed bed(how);
    bed.keep(50);
    for (int key = 1; key <= 3; ++key) BOOST_TEST((bed.come(key)->role == flight_role::led));
    for (const auto mode : {enter_as::usual, enter_as::refresh, enter_as::no_store}) {
        auto refused = bed.come(4, mode);
        BOOST_TEST((refused->role == flight_role::refused));
        BOOST_TEST((refused->refusal == flight_refusal::too_many_flights));
    }
    BOOST_TEST((bed.come(1, enter_as::refresh)->refusal == flight_refusal::too_many_flights));
    BOOST_TEST((bed.come(1)->role == flight_role::joined));  // Joins, hits and the run itself are as before.
    BOOST_TEST((bed.come(50)->role == flight_role::hit));
    BOOST_TEST(bed.runs.size() == 4u);
    bed.end(1, verdict::unkept);
    BOOST_TEST((bed.come(4)->role == flight_role::led));
    BOOST_TEST((bed.come(5)->refusal == flight_refusal::too_many_flights));
    BOOST_TEST(bed.table->stats().flights == 3u);
}

BOOST_AUTO_TEST_CASE(waiters_at_the_limit_one_below_and_one_above) {
    auto how = usual_settings();
    how.waiters_max = 3;
    flight_bed bed(how);
    auto first = bed.come(1);
    bed.come(1);
    BOOST_TEST((bed.come(1)->role == flight_role::joined));
    BOOST_TEST((bed.come(1)->refusal == flight_refusal::too_many_waiters));
    BOOST_TEST((bed.ask(1)->refusal == flight_refusal::too_many_waiters));
    BOOST_TEST(bed.table->stats().waiters == 3u);
    BOOST_TEST((bed.come(2)->role == flight_role::led));
    bed.leave(*first);
    BOOST_TEST((bed.come(1)->role == flight_role::joined));
    BOOST_TEST((bed.come(1)->refusal == flight_refusal::too_many_waiters));
}

BOOST_FIXTURE_TEST_CASE(a_wait_on_a_refusal_ends_at_once, flight_bed) {
    auto refused = std::make_shared<flights::ticket>(table->find(1));
    std::optional<flights::result> end;
    auto body = [&, refused]() -> asio::awaitable<void> { end = co_await refused->wait(forever); };
    asio::co_spawn(loop, body, [](const std::exception_ptr& failure) { BOOST_TEST(!failure); });
    settle(loop);
    BOOST_TEST((end->status == wait_status::left));
}

BOOST_FIXTURE_TEST_CASE(abandon_now_ends_what_nobody_waits_for_and_grants_no_grace_from_then_on, flight_bed) {
    auto lonely = come(1);
    auto awaited = come(2);
    auto alone = come(3, enter_as::no_store);
    auto displaced = come(4);
    auto fresh = come(4, enter_as::refresh);
    for (const auto& one : {lonely, alone, displaced}) leave(*one);
    table->abandon_now();
    settle(loop);
    BOOST_TEST(runs[0]->cancelled);
    BOOST_TEST(!runs[1]->cancelled);
    BOOST_TEST(runs[2]->cancelled);
    BOOST_TEST(runs[3]->cancelled);
    BOOST_TEST(!runs[4]->cancelled);
    leave(*awaited);
    BOOST_TEST(runs[1]->cancelled);
    auto later = come(5);  // Requests begun before the drain may still lead.
    BOOST_TEST((later->role == flight_role::led));
    leave(*later);
    BOOST_TEST(runs[5]->cancelled);
    end(4, verdict::success);
    BOOST_TEST(fresh->run() == 4);
    BOOST_TEST(table->stats().flights == 0u);
}

BOOST_FIXTURE_TEST_CASE(stop_ends_every_wait_drops_what_is_kept_and_refuses, flight_bed) {
    keep(9);
    auto leader = come(1);
    auto joiner = come(1, enter_as::usual, forever, &other);
    auto alone = come(1, enter_as::no_store);
    auto fresh = come(1, enter_as::refresh);
    table->stop();
    settle(loop, other);
    for (const auto& one : {leader, joiner, alone, fresh}) BOOST_TEST(one->ended_as(wait_status::stopped));
    for (std::size_t run = 1; run != runs.size(); ++run) BOOST_TEST(runs[run]->cancelled);
    BOOST_TEST((come(1)->refusal == flight_refusal::stopped));
    BOOST_TEST((ask(9)->refusal == flight_refusal::stopped));
    const auto left = table->stats();
    BOOST_TEST(left.flights + left.waiters + left.entries + left.bytes == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_table_destroyed_under_its_waiters_stops_them_and_its_runs_end_later, flight_bed) {
    stubborn = true;
    auto leader = come(1);
    auto joiner = come(1, enter_as::usual, forever, &other);
    table.reset();
    settle(loop, other);
    BOOST_TEST(leader->ended_as(wait_status::stopped));
    BOOST_TEST(joiner->ended_as(wait_status::stopped));
    BOOST_TEST(runs[0]->cancelled);
    BOOST_TEST(frame::alive == 1);
    end(0, verdict::success);  // Long after the table.
    BOOST_TEST(frame::alive == 0);
}

BOOST_AUTO_TEST_CASE(loops_and_table_may_be_destroyed_in_any_order) {
    for (int order = 0; order != 6; ++order) {
        fake_clock::reset();
        {
            auto works = std::make_unique<asio::io_context>(1);
            auto waits = std::make_unique<asio::io_context>(1);
            auto table = std::make_unique<flights>(usual_settings());
            for (int key = 0; key != 3; ++key) {
                auto script = std::make_shared<scripted_run>(key, works->get_executor());
                for (auto* loop : {works.get(), waits.get()}) {
                    auto executor = works->get_executor();
                    auto ticket = std::make_shared<flights::ticket>(table->enter(key, executor, [script] { return carry_out(script); }));
                    auto body = [ticket]() -> asio::awaitable<void> { co_await ticket->wait(forever); };
                    if (key != 2) asio::co_spawn(*loop, body, [](const std::exception_ptr& failure) { BOOST_TEST(!failure); });
                }
            }
            settle(*works, *waits);
            const std::array<std::array<int, 3>, 6> orders{{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
            for (const int what : orders[static_cast<std::size_t>(order)]) {
                if (what == 0) works.reset();
                if (what == 1) waits.reset();
                if (what == 2) table.reset();
            }
        }
        BOOST_TEST(frame::alive == 0);
        BOOST_TEST(outcome::alive == 0);
    }
}

BOOST_AUTO_TEST_CASE(shards_share_the_cache_and_keep_their_keys_apart) {
    for (const std::size_t shards : {0u, 1u, 2u, 3u, 16u}) {
        auto how = usual_settings();
        how.shards = shards;
        how.cache_bytes_max = 1600;
        flight_bed bed(how);
        for (int key = 0; key != 60; ++key) bed.keep(key, 1);
        for (int key = 0; key != 60; ++key) BOOST_TEST(bed.come(key)->run() == key);
        BOOST_TEST(bed.table->stats().entries == 60u);
        BOOST_TEST(bed.table->stats().bytes == 60u);
        for (int key = 100; key != 400; ++key) bed.keep(key, 10);
        BOOST_TEST(bed.table->stats().bytes <= 1600u);
        BOOST_TEST(bed.table->stats().bytes >= 800u);  // No shard is left without use.
    }
}
