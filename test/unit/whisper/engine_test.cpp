// The engine against a helper that misbehaves in every way it can.
#define BOOST_TEST_MODULE whisper_engine
#include "support.hpp"

#include <backends/whisper/channel.hpp>

#include <sys/socket.h>

#include <csignal>
#include <limits>

namespace {

using namespace hearonce;
using namespace hearonce::whisper;
using namespace hearonce::whisper::test;
using steady = std::chrono::steady_clock;

struct fixture {
    void script(const std::string& words) { write_file(place / "script", words); }
    void make(const std::string& words, std::chrono::milliseconds progress = 5s, std::chrono::milliseconds start = 5s,
              const std::function<void(whisper_settings&)>& change = {}) {
        script(words);
        whisper_settings s;
        s.name = "mine";
        s.model = place / "script";
        s.helper = HEARONCE_SCRIPTED_HELPER;
        s.progress_timeout = progress;
        s.start_timeout = start;
        s.back_off_first = 5ms;
        s.back_off_max = 20ms;
        s.log = [this](const std::string& line) { lines += line + "\n"; };
        if (change) change(s);
        engine = create_whisper_backend(loop.get_executor(), std::move(s));
    }
    std::shared_ptr<call> begin(deadline limit = deadline::after(20s)) {
        transcription_request request;
        return test::begin(loop, *engine, recording_of("bytes"), std::move(request), limit);
    }
    error end_of(const std::shared_ptr<call>& mine) {
        run_until(loop, [&] { return mine->over(); });
        return error_in(*mine);
    }

    const folder place;
    std::string lines;
    asio::io_context loop{1};
    std::shared_ptr<whisper_backend> engine;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(time_allowed)

BOOST_AUTO_TEST_CASE(a_run_and_its_turn_in_the_queue_fit_into_what_is_allowed) {
    whisper_settings s;
    s.deadline_floor = 60s;
    s.deadline_per_audio_second = 4;
    s.audio_seconds_max = 7200;
    const auto allowed = [&](std::chrono::milliseconds audio) { return time_allowed_for(s, audio) - queue_allowance; };
    BOOST_TEST((allowed(0ms) == 60s));
    BOOST_TEST((allowed(15s - 1ms) == 60s));
    BOOST_TEST((allowed(15s) == 60s));
    BOOST_TEST((allowed(15s + 1ms) == 60s + 4ms));
    BOOST_TEST((allowed(45s) == 180s));
    BOOST_TEST((allowed(7200s - 1ms) == 28800s - 4ms));
    BOOST_TEST((allowed(7200s) == 28800s));
    BOOST_TEST((queue_allowance >= 60s));
}

BOOST_AUTO_TEST_CASE(a_claimed_length_is_bounded_and_an_unknown_one_is_the_longest) {
    whisper_settings s;
    s.audio_seconds_max = 100;
    const auto longest = time_allowed_for(s, 100s);
    BOOST_TEST((longest == 400s + queue_allowance));
    BOOST_TEST((time_allowed_for(s, 100s + 1ms) == longest));
    BOOST_TEST((time_allowed_for(s, 168h) == longest));
    BOOST_TEST((time_allowed_for(s, std::chrono::milliseconds::max()) == longest));
    BOOST_TEST((time_allowed_for(s, std::nullopt) == longest));
    BOOST_TEST((time_allowed_for(s, std::chrono::milliseconds::min()) == s.deadline_floor + queue_allowance));
    s.audio_seconds_max = std::numeric_limits<std::size_t>::max();
    BOOST_TEST((time_allowed_for(s, std::nullopt) == 4 * 24h + queue_allowance));
}

BOOST_AUTO_TEST_CASE(the_backend_says_so_through_its_interface) {
    asio::io_context loop{1};
    whisper_settings s;
    const std::shared_ptr<backend> engine = create_whisper_backend(loop.get_executor(), s);
    // The rule for upstreams would give 120 s at most.
    BOOST_TEST((engine->time_allowed(20min) == 80min + queue_allowance));
    BOOST_TEST((engine->time_allowed(std::nullopt) == time_allowed_for(s, std::nullopt)));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(frames)

BOOST_AUTO_TEST_CASE(a_message_too_large_for_a_frame_is_not_sent_and_the_next_one_is) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    const owned_descriptor theirs(ends[1]);
    asio::io_context loop{1};
    const auto ours = std::make_shared<channel>(loop.get_executor(), owned_descriptor(ends[0]), [](message) {}, [](std::string) {});
    BOOST_TEST(!ours->send(start_job{1, {}, std::string(frame_bytes_max, 'p')}));
    BOOST_TEST(ours->send(cancel_job{2}));
    std::array<char, 1024> room{};
    const ssize_t n = ::read(theirs.get(), room.data(), room.size());
    BOOST_REQUIRE(n > 0);
    BOOST_TEST((std::string(room.data(), static_cast<std::size_t>(n)) == encode(cancel_job{2})));
    ours->close();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(engine_with_a_bad_helper, fixture)

BOOST_AUTO_TEST_CASE(a_good_one_first) {
    make("ready job step done job step failed");
    const auto first = begin();
    const auto second = begin();
    run_until(loop, [&] { return first->over() && second->over(); });
    BOOST_TEST(transcript_in(*first).backend == "mine");
    // A kind of failure that is not a helper's to report.
    BOOST_TEST((error_in(*second).code() == errc::internal_error));
    BOOST_TEST(engine->state().ready);
    BOOST_TEST(engine->state().reason.empty());
    BOOST_TEST(lines.find("libwhisper scripted") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(every_kind_of_end_in_mid_work_costs_that_job_and_the_next_one_runs) {
    for (const std::string& end : {"crash", "exit", "nonsense hang", "oversized hang", "close hang", "half exit", "half close hang"}) {
        BOOST_TEST_INFO_SCOPE(end);
        make("ready job step " + end);
        const auto mine = begin();
        const auto next = begin();
        run_until(loop, [&] { return engine->counts().running == 1; });
        script("ready job done");
        const error why = end_of(mine);
        BOOST_TEST((why.code() == errc::upstream_error));
        run_until(loop, [&] { return next->over(); });
        BOOST_TEST(next->outcome->has_value());
        BOOST_TEST(engine->counts().restarts == 1U);
        BOOST_TEST(engine->counts().running == 0U);
    }
}

BOOST_AUTO_TEST_CASE(steps_keep_a_slow_job_alive_and_silence_does_not) {
    make("ready job hang", 150ms);
    const auto began = steady::now();
    const error why = end_of(begin());
    BOOST_TEST((why.code() == errc::upstream_error));
    BOOST_TEST((steady::now() - began >= 150ms));
    run_until(loop, [&] { return lines.find("signal 9") != std::string::npos; });
}

BOOST_AUTO_TEST_CASE(a_cancel_that_is_not_obeyed_ends_the_helper) {
    make("ready job cancel hang", 200ms);
    const auto mine = begin();
    const auto next = begin();
    run_until(loop, [&] { return engine->counts().running == 1; });
    script("ready job done");
    mine->cancel.emit(asio::cancellation_type::terminal);
    run_until(loop, [&] { return mine->over() && next->over(); });
    BOOST_TEST(next->outcome->has_value());
    BOOST_TEST(engine->counts().restarts == 1U);
}

BOOST_AUTO_TEST_CASE(a_cancel_that_is_obeyed_frees_the_slot) {
    make("ready job cancel cancelled job done");
    const auto mine = begin();
    const auto next = begin();
    run_until(loop, [&] { return engine->counts().running == 1; });
    mine->cancel.emit(asio::cancellation_type::terminal);
    run_until(loop, [&] { return mine->over() && next->over(); });
    BOOST_TEST(next->outcome->has_value());
    BOOST_TEST(engine->counts().restarts == 0U);
}

BOOST_AUTO_TEST_CASE(a_result_that_crosses_the_cancel_is_dropped) {
    make("ready job cancel done job done");
    const auto mine = begin();
    const auto next = begin();
    run_until(loop, [&] { return engine->counts().running == 1; });
    mine->cancel.emit(asio::cancellation_type::terminal);
    run_until(loop, [&] { return mine->over() && next->over(); });
    BOOST_TEST((mine->thrown || mine->outcome->has_error()));
    BOOST_TEST(next->outcome->has_value());
}

// Ids are counted from 1: `next` names the job that waits behind the running one.
BOOST_AUTO_TEST_CASE(word_of_a_job_that_does_not_run_ends_the_helper_and_loses_nobody_who_waits) {
    for (const std::string& words :
         {"done-other", "next done", "next failed", "next cancelled", "next step", "next next step", "start", "cancel-me"}) {
        BOOST_TEST_INFO_SCOPE(words);
        make("ready job " + words + " hang");
        const int first_pid = engine->helper_pid();
        const auto running = begin();
        const auto waiting = begin();
        run_until(loop, [&] { return engine->counts().running == 1; });
        script("ready job done");
        BOOST_TEST((end_of(running).code() == errc::upstream_error));
        run_until(loop, [&] { return waiting->over(); });
        BOOST_TEST(waiting->outcome->has_value());
        BOOST_TEST(engine->counts().restarts == 1U);
        BOOST_TEST(engine->counts().running == 0U);
        BOOST_TEST(engine->counts().waiting == 0U);
        BOOST_TEST(engine->helper_pid() != first_pid);
    }
}

BOOST_AUTO_TEST_CASE(a_job_is_over_once) {
    make("ready job done done hang");
    const auto mine = begin();
    run_until(loop, [&] { return mine->over(); });
    BOOST_TEST(mine->outcome->has_value());
    script("ready job done");
    run_until(loop, [&] { return engine->counts().restarts == 1; });
}

BOOST_AUTO_TEST_CASE(word_of_a_job_before_any_was_given_ends_the_helper) {
    make("step hang");
    run_until(loop, [&] { return lines.find("signal 9") != std::string::npos; });
    script("ready job done");
    const auto mine = begin();
    run_until(loop, [&] { return mine->over(); });
    BOOST_TEST(mine->outcome->has_value());
    BOOST_TEST(engine->counts().restarts >= 1U);
}

BOOST_AUTO_TEST_CASE(a_job_given_up_unasked_is_the_engines_failure) {
    make("ready job cancelled job done");
    const error why = end_of(begin());
    BOOST_TEST((why.code() == errc::upstream_error));
    const auto next = begin();
    run_until(loop, [&] { return next->over(); });
    BOOST_TEST(next->outcome->has_value());
    BOOST_TEST(engine->counts().restarts == 0U);
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_longest_recording_buys_no_time) {
    make("ready job week age hang", 30s, 5s, [](whisper_settings& s) {
        s.deadline_floor = 20ms;
        s.deadline_per_audio_second = 0.1;
        s.audio_seconds_max = 2;
    });
    const auto began = steady::now();
    // A week would be 17 hours.
    BOOST_TEST((end_of(begin()).code() == errc::upstream_timeout));
    BOOST_TEST((steady::now() - began >= 200ms));
    BOOST_TEST((steady::now() - began < 15s));
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_longest_recording_is_not_passed_on) {
    make("ready job long-done");
    const auto mine = begin();
    run_until(loop, [&] { return mine->over(); });
    BOOST_TEST(transcript_in(*mine).duration_seconds == 7200);
}

BOOST_AUTO_TEST_CASE(a_quiet_step_buys_the_time_of_a_start_and_the_next_step_ends_that) {
    make("ready job quiet hang", 100ms, 700ms);
    auto began = steady::now();
    BOOST_TEST((end_of(begin()).code() == errc::upstream_error));
    BOOST_TEST((steady::now() - began >= 700ms));
    make("ready job quiet step hang", 100ms, 20s);
    began = steady::now();
    BOOST_TEST((end_of(begin()).code() == errc::upstream_error));
    BOOST_TEST((steady::now() - began < 10s));
}

BOOST_AUTO_TEST_CASE(a_huge_prompt_and_language_are_cut_before_they_are_sent) {
    make("ready job bounded done");
    transcription_request request;
    request.prompt = std::string(frame_bytes_max + 1, 'p');
    request.language = std::string(100'000, 'l');
    const auto mine = test::begin(loop, *engine, recording_of("bytes"), request);
    run_until(loop, [&] { return mine->over(); });
    BOOST_TEST(mine->outcome->has_value());
    BOOST_TEST(engine->counts().restarts == 0U);
}

BOOST_AUTO_TEST_CASE(one_that_says_it_cannot_work_is_believed_and_tried_again_later) {
    make("broken exit");
    const error why = end_of(begin());
    BOOST_TEST((why.code() == errc::upstream_error));
    BOOST_TEST(why.message().find("scripted trouble") != std::string_view::npos);
    BOOST_TEST(!engine->state().ready);
    BOOST_TEST(engine->state().reason.find("scripted trouble") != std::string::npos);
    script("ready job done");
    run_until(loop, [&] { return engine->state().ready; });
    const auto mine = begin();
    run_until(loop, [&] { return mine->over(); });
    BOOST_TEST(mine->outcome->has_value());
}

BOOST_AUTO_TEST_CASE(one_that_keeps_dying_at_its_start_does_not_keep_callers_waiting) {
    make("crash");
    const error why = end_of(begin());
    BOOST_TEST((why.code() == errc::upstream_error));
    BOOST_TEST(why.message().find("signal 6") != std::string_view::npos);
    BOOST_TEST(engine->counts().restarts >= 2U);
    const auto began = steady::now();
    const error again = end_of(begin());
    BOOST_TEST((again.code() == errc::upstream_error));
    BOOST_TEST((steady::now() - began < 2s));
}

BOOST_AUTO_TEST_CASE(one_that_never_gets_ready_is_killed) {
    make("hang", 5s, 100ms);
    const error why = end_of(begin());
    BOOST_TEST((why.code() == errc::upstream_error));
    BOOST_TEST(why.message().find("ready in time") != std::string_view::npos);
}

BOOST_AUTO_TEST_CASE(waiting_for_a_start_ends_with_the_callers_limit) {
    make("hang");
    const auto began = steady::now();
    const error why = end_of(begin(deadline::after(60ms)));
    BOOST_TEST((why.code() == errc::upstream_timeout));
    BOOST_TEST((steady::now() - began < 2s));
    run_until(loop, [&] { return engine->counts().waiting == 0; });
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_be_run_is_named) {
    script("ready");
    whisper_settings s;
    s.model = place / "script";
    s.helper = place / "nothing-here";
    engine = create_whisper_backend(loop.get_executor(), s);
    BOOST_TEST(engine->state().reason.find("nothing-here") != std::string::npos);
    const error why = end_of(begin());
    BOOST_TEST((why.code() == errc::upstream_error));
    BOOST_TEST(why.message().find("nothing-here") != std::string_view::npos);
    // Executable, but no program.
    write_file(place / "no-program", "\x01\x02");
    std::filesystem::permissions(place / "no-program", std::filesystem::perms::owner_all);
    s.helper = place / "no-program";
    s.back_off_first = 1ms;
    s.back_off_max = 1ms;
    engine = create_whisper_backend(loop.get_executor(), s);
    BOOST_TEST((end_of(begin()).code() == errc::upstream_error));
}

BOOST_AUTO_TEST_CASE(destroying_it_in_every_phase_leaves_no_process) {
    for (const std::string& words : {"hang", "ready hang", "ready job hang", "broken exit", "crash"}) {
        BOOST_TEST_INFO_SCOPE(words);
        make(words);
        const auto mine = begin();
        run_until(loop, [&] { return engine->helper_pid() != 0 || mine->over(); });
        const int pid = engine->helper_pid();
        const auto began = steady::now();
        engine.reset();
        BOOST_TEST((steady::now() - began < 3s));
        if (pid != 0) BOOST_TEST(::kill(pid, 0) == -1);
        run_until(loop, [&] { return mine->over(); });
        BOOST_TEST(mine->outcome->has_error());
    }
}

BOOST_AUTO_TEST_CASE(a_loop_that_ends_before_everything_leaves_nothing_behind) {
    auto own = std::make_unique<asio::io_context>(1);
    script("ready job hang");
    whisper_settings s;
    s.model = place / "script";
    s.helper = HEARONCE_SCRIPTED_HELPER;
    engine = create_whisper_backend(own->get_executor(), s);
    const auto mine = test::begin(*own, *engine, recording_of("bytes"));
    run_until(*own, [&] { return engine->counts().running == 1; });
    const int pid = engine->helper_pid();
    engine.reset();
    own.reset();  // With the caller's coroutine still in it.
    BOOST_TEST(!mine->over());
    BOOST_TEST(::kill(pid, 0) == -1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(pieces, fixture)

namespace {

attempt told_to(std::shared_ptr<delta_log> log) {
    attempt terms(deadline::after(20s));
    terms.deltas = std::move(log);
    return terms;
}

std::string told(const std::shared_ptr<delta_log>& log) {
    std::string text;
    delta_reader reader(log);
    for (const auto* one : reader.take()) text += one->text;
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(they_go_to_whoever_reads_along_and_are_asked_for_then_only) {
    make("ready job heard heard done job heard done");
    const auto log = std::make_shared<delta_log>();
    const auto mine = test::begin(loop, *engine, recording_of("bytes"), {}, told_to(log));
    run_until(loop, [&] { return mine->over(); });
    BOOST_TEST(told(log) == " told told");
    BOOST_TEST(mine->outcome->has_value());
    // Without a reader they are not asked for, and a helper that speaks all the same harms nobody.
    const auto plain = begin();
    run_until(loop, [&] { return plain->over(); });
    BOOST_TEST(plain->outcome->has_value());
    BOOST_TEST(told(log) == " told told");
}

BOOST_AUTO_TEST_CASE(a_helper_that_tells_without_end_or_of_other_jobs_is_not_sound) {
    for (const std::string words : {"heard-too-much", "heard-other"}) {
        make("ready job " + words + " hang");
        const auto log = std::make_shared<delta_log>();
        const auto mine = test::begin(loop, *engine, recording_of("bytes"), {}, told_to(log));
        BOOST_TEST((end_of(mine).code() == errc::upstream_error));
        BOOST_TEST(told(log).size() <= std::size_t{16} << 20);
        engine.reset();
    }
}

BOOST_AUTO_TEST_SUITE_END()
