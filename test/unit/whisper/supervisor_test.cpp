// When the helper is started, given up and started again, with a clock that stands still.
#define BOOST_TEST_MODULE whisper_supervisor
#include "fake_clock.hpp"

#include <backends/whisper/supervisor.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using namespace hearonce::whisper;
using namespace hearonce::whisper::test;
using namespace std::chrono_literals;
using machine = basic_supervisor<fake_clock>;
using action = supervisor_action;

supervisor_settings settings() {
    return {1000ms, 200ms, 10ms, 80ms, 3};
}
constexpr std::optional<fake_clock::time_point> idle;

machine ready_at_zero() {
    machine m(settings());
    m.on_start(at(0));
    m.on_ready();
    return m;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(supervisor_machine)

BOOST_AUTO_TEST_CASE(it_starts_once_and_gets_ready) {
    machine m(settings());
    BOOST_TEST((m.phase() == helper_phase::stopped));
    BOOST_TEST(!m.next_wake(idle).has_value());
    BOOST_TEST((m.on_start(at(0)) == action{.spawn = true}));
    BOOST_TEST((m.on_start(at(1)) == action{}));
    BOOST_TEST((m.phase() == helper_phase::starting));
    BOOST_TEST((m.next_wake(idle) == at(1000)));
    m.on_ready();
    BOOST_TEST((m.phase() == helper_phase::ready));
    BOOST_TEST(!m.next_wake(idle).has_value());
    BOOST_TEST(m.restarts() == 0U);
    BOOST_TEST(!m.hopeless());
}

BOOST_AUTO_TEST_CASE(a_death_in_mid_work_drops_what_runs_and_starts_again_after_a_pause) {
    machine m = ready_at_zero();
    BOOST_TEST((m.on_ended(at(500), "It died.") == action{.drop_running = true}));
    BOOST_TEST((m.phase() == helper_phase::backing_off));
    BOOST_TEST(m.trouble() == "It died.");
    BOOST_TEST((m.next_wake(idle) == at(510)));
    BOOST_TEST((m.on_time(at(509), idle) == action{}));
    BOOST_TEST(m.restarts() == 0U);
    BOOST_TEST((m.on_time(at(510), idle) == action{.spawn = true}));
    BOOST_TEST(m.restarts() == 1U);
    BOOST_TEST((m.phase() == helper_phase::starting));
    m.on_ready();
    BOOST_TEST(m.trouble().empty());
}

BOOST_AUTO_TEST_CASE(pauses_double_up_to_a_bound_and_work_makes_them_short_again) {
    machine m = ready_at_zero();
    long now = 0;
    for (const long pause : {10, 20, 40, 80, 80, 80}) {
        m.on_ended(at(now), "died");
        BOOST_TEST((m.next_wake(idle) == at(now + pause)));
        now += pause;
        m.on_time(at(now), idle);
        m.on_ready();
    }
    m.on_job_ended();
    m.on_ended(at(now), "died");
    BOOST_TEST((m.next_wake(idle) == at(now + 10)));
    BOOST_TEST(m.restarts() == 6U);
}

BOOST_AUTO_TEST_CASE(many_ends_do_not_overflow_the_pause) {
    machine m = ready_at_zero();
    for (int i = 0; i < 200; ++i) {
        m.on_ended(at(0), "died");
        m.on_time(at(80), idle);
        m.on_ready();
    }
    m.on_ended(at(0), "died");
    BOOST_TEST((m.next_wake(idle) == at(80)));
}

BOOST_AUTO_TEST_CASE(no_progress_is_killed_at_the_limit_and_not_before) {
    machine m = ready_at_zero();
    BOOST_TEST((m.on_time(at(5000), idle) == action{}));  // Nothing runs: silence is no fault.
    BOOST_TEST((m.next_wake(at(5000)) == at(5200)));
    BOOST_TEST((m.on_time(at(5199), at(5000)) == action{}));
    BOOST_TEST((m.on_time(at(5200), at(5000)) == action{.kill = true, .drop_running = true}));
    BOOST_TEST((m.phase() == helper_phase::ending));
    BOOST_TEST(!m.next_wake(at(5000)).has_value());
    BOOST_TEST((m.on_time(at(9000), at(5000)) == action{}));  // Killed once.
    BOOST_TEST((m.on_ended(at(5201), "was ended by signal 9") == action{.drop_running = true}));
    BOOST_TEST(m.trouble() == "It made no progress.");
    BOOST_TEST((m.phase() == helper_phase::backing_off));
}

BOOST_AUTO_TEST_CASE(a_start_that_takes_too_long_is_killed) {
    machine m(settings());
    m.on_start(at(0));
    BOOST_TEST((m.on_time(at(999), idle) == action{}));
    BOOST_TEST((m.on_time(at(1000), idle) == action{.kill = true, .drop_running = true}));
    BOOST_TEST(!m.hopeless());
    m.on_ended(at(1001), "signal 9");
    BOOST_TEST(m.trouble() == "It did not get ready in time.");
}

BOOST_AUTO_TEST_CASE(failed_starts_in_a_row_make_it_hopeless_until_one_works) {
    machine m(settings());
    m.on_start(at(0));
    BOOST_TEST((m.on_ended(at(0), "first") == action{.drop_running = true}));
    m.on_time(at(100), idle);
    BOOST_TEST((m.on_ended(at(100), "second") == action{.drop_running = true}));
    BOOST_TEST(!m.hopeless());
    m.on_time(at(200), idle);
    BOOST_TEST((m.on_ended(at(200), "third") == action{.drop_running = true, .drop_waiting = true}));
    BOOST_TEST(m.hopeless());
    BOOST_TEST(m.trouble() == "third");
    // It goes on trying.
    BOOST_TEST((m.on_time(at(300), idle) == action{.spawn = true}));
    m.on_ready();
    BOOST_TEST(!m.hopeless());
    BOOST_TEST(m.restarts() == 3U);
}

BOOST_AUTO_TEST_CASE(the_same_count_with_slow_starts) {
    machine m(settings());
    m.on_start(at(0));
    long now = 0;
    for (int i = 0; i < 3; ++i) {
        now += 1000;
        const action given = m.on_time(at(now), idle);
        BOOST_TEST(given.kill);
        BOOST_TEST(given.drop_waiting == (i == 2));
        m.on_ended(at(now), "signal 9");
        now += 100;
        m.on_time(at(now), idle);
    }
    BOOST_TEST(m.hopeless());
}

BOOST_AUTO_TEST_CASE(what_it_says_of_itself_is_believed_at_once_and_kept) {
    machine m(settings());
    m.on_start(at(0));
    BOOST_TEST((m.on_broken("no such model") == action{.drop_waiting = true}));
    BOOST_TEST(m.hopeless());
    BOOST_TEST((m.on_lost("socket") == action{.kill = true, .drop_running = true}));
    BOOST_TEST((m.on_ended(at(1), "ended with status 1") == action{.drop_running = true, .drop_waiting = true}));
    BOOST_TEST(m.trouble() == "no such model");
    // Only a helper that is starting may say so.
    machine other = ready_at_zero();
    BOOST_TEST((other.on_broken("late") == action{}));
    BOOST_TEST(!other.hopeless());
}

BOOST_AUTO_TEST_CASE(a_lost_socket_ends_the_process_whose_end_then_gives_the_reason) {
    machine m = ready_at_zero();
    BOOST_TEST((m.on_lost("It closed its socket.") == action{.kill = true, .drop_running = true}));
    BOOST_TEST((m.on_lost("again") == action{}));
    m.on_ended(at(5), "It was ended by signal 11.");
    BOOST_TEST(m.trouble() == "It was ended by signal 11.");
}

BOOST_AUTO_TEST_CASE(stopping_is_final_for_the_process_and_events_after_it_do_nothing) {
    for (const bool is_ready : {false, true}) {
        machine m(settings());
        m.on_start(at(0));
        if (is_ready) m.on_ready();
        BOOST_TEST((m.on_stop() == action{.kill = true, .drop_running = true, .drop_waiting = true}));
        BOOST_TEST((m.phase() == helper_phase::stopped));
        BOOST_TEST((m.on_ended(at(1), "x") == action{}));
        BOOST_TEST((m.on_lost("x") == action{}));
        BOOST_TEST((m.on_time(at(5000), at(0)) == action{}));
        m.on_ready();
        BOOST_TEST((m.phase() == helper_phase::stopped));
        BOOST_TEST(!m.next_wake(at(0)).has_value());
    }
    machine never(settings());
    BOOST_TEST(!never.on_stop().kill);
}

BOOST_AUTO_TEST_CASE(ready_said_twice_or_too_late_changes_nothing) {
    machine m = ready_at_zero();
    m.on_ready();
    m.on_ended(at(0), "died");
    m.on_ready();
    BOOST_TEST((m.phase() == helper_phase::backing_off));
}

BOOST_AUTO_TEST_SUITE_END()
