// Events of the home loop in, actions out. Every entry ends with settle(): hand out jobs, arm the timer, publish numbers.
// Next files: engine_hear.cpp (what the helper says), engine_state.cpp (what the outside is told), then process.cpp.
#include <backends/whisper/audio_file.hpp>
#include <backends/whisper/engine.hpp>
#include <backends/whisper/utf8.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cassert>

namespace hearonce::whisper {

namespace asio = boost::asio;

namespace {

constexpr auto look_again = std::chrono::seconds(2);  // For a model or program that is not there yet.
constexpr auto end_grace = std::chrono::milliseconds(500);
// The model reads the last 224 tokens of a prompt, and knows no language of a longer name.
constexpr std::size_t prompt_bytes_max = 8UL << 10;
constexpr std::size_t language_bytes_max = 64;

supervisor_settings supervision_of(const whisper_settings& s) {
    return {s.start_timeout, s.progress_timeout, s.back_off_first, s.back_off_max};
}

job_limits limits_of(const whisper_settings& s) {
    return {std::clamp(s.slots, 1U, 64U), s.queue, s.deadline_per_audio_second, s.deadline_floor,
            std::max(s.start_timeout - s.progress_timeout, std::chrono::milliseconds(0))};
}

start_job start_of(std::uint64_t id, const transcription_request& request, bool tell) {
    return {id,
            request.language.substr(0, language_bytes_max),
            std::string(utf8_tail(request.prompt, prompt_bytes_max)),
            request.temperature,
            request.task == task::translate,
            request.word_times,
            tell};
}

std::vector<std::string> arguments_of(const whisper_settings& s) {
    std::vector<std::string> out = {"--serve-fd",
                                    std::to_string(helper_process::socket_number),
                                    "--slots",
                                    std::to_string(limits_of(s).slots),
                                    "--threads",
                                    std::to_string(std::min(s.threads, 256U)),
                                    "--audio-seconds-max",
                                    std::to_string(audio_seconds_max_of(s))};
    if (s.no_context) out.emplace_back("--no-context");
    out.emplace_back("--");
    out.push_back(s.model.string());
    return out;
}

}  // namespace

engine::engine(asio::any_io_executor home, whisper_settings settings)
    : home_(home), settings_(std::move(settings)), supervisor_(supervision_of(settings_)), table_(limits_of(settings_)), timer_(home) {
    state_ = {false, missing()};
    if (state_.reason.empty()) state_.reason = "The local engine is starting.";
}

void engine::start() {
    if (stopped_) return;
    if (missing().empty()) carry_out(supervisor_.on_start(clock::now()));
    settle();
}

void engine::submit(std::uint64_t id, job work) {
    const std::string caller = work.request.caller;
    jobs_.emplace(id, std::move(work));
    if (stopped_) return finish(id, error(errc::draining));
    if (supervisor_.phase() == helper_phase::stopped && missing().empty()) carry_out(supervisor_.on_start(clock::now()));
    if (supervisor_.phase() == helper_phase::stopped || (supervisor_.hopeless() && supervisor_.phase() != helper_phase::ready)) {
        finish(id, trouble());
    } else if (const auto no_room = table_.add(id, caller)) {
        finish(*no_room,
               error(errc::overloaded, "The local engine's queue is full, try again soon.").with_retry_after(table_.retry_after()));
    }
    settle();
}

void engine::leave(std::uint64_t id) {
    if (stopped_) return;
    jobs_.erase(id);
    if (table_.leave(id) == job_table::place::running && channel_) channel_->send(cancel_job{id});
    settle();
}

void engine::stop() {
    if (stopped_.exchange(true)) return;
    static_cast<void>(supervisor_.on_stop());
    timer_.reset();
    if (channel_) channel_->close();
    if (ended_) ended_->release();
    ended_.reset();
    channel_.reset();
    if (process_) process_->finish(end_grace);
    process_.reset();
    table_.drop_running();
    table_.drop_waiting();
    while (!jobs_.empty()) finish(jobs_.begin()->first, error(errc::draining));
    publish();
}

void engine::carry_out(const supervisor_action& action) {
    if (action.kill && process_) process_->kill();
    if (action.kill && channel_) channel_->close();
    if (action.drop_running) {
        drop(table_.drop_running(), error(errc::upstream_error, "The local engine ended in the middle of the work and is started again."));
    }
    if (action.drop_waiting) drop(table_.drop_waiting(), trouble());
    if (action.spawn) spawn();
}

void engine::spawn() {
    std::string why;
    auto started = helper_process::start(settings_.helper, arguments_of(settings_), why);
    if (!started) {
        say("hearonce-whisper cannot be started: " + why);
        return carry_out(supervisor_.on_ended(clock::now(), why));
    }
    process_.emplace(std::move(started->process));
    pid_ = process_->pid();
    channel_ = std::make_shared<channel>(
        home_, std::move(started->socket), [this](message what) { hear(std::move(what)); },
        [this](std::string reason) {
            carry_out(supervisor_.on_lost(std::move(reason)));
            settle();
        });
    channel_->start();
    watch_process();
}

// The handler may run after stop(): it holds the engine.
void engine::watch_process() {
    // Made once a process: making it again would close the descriptor that process_ owns.
    if (!ended_) ended_.emplace(home_, process_->ended_descriptor());
    ended_->async_wait(asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](boost::system::error_code ec) {
        if (!ec && !self->stopped_) self->process_ended();
    });
}

void engine::process_ended() {
    const auto how = process_->reap();
    if (!how) return watch_process();
    ended_->release();
    ended_.reset();
    process_.reset();
    pid_ = 0;
    if (channel_) channel_->close();
    channel_.reset();
    say("hearonce-whisper " + *how);
    carry_out(supervisor_.on_ended(clock::now(), "It " + *how + "."));
    settle();
}

void engine::pump() {
    while (supervisor_.phase() == helper_phase::ready) {
        const auto id = table_.take(clock::now());
        if (!id) return;
        run(*id);
    }
}

void engine::run(std::uint64_t id) {
    const auto found = jobs_.find(id);
    assert(found != jobs_.end());  // leave() takes a waiting job out of both.
    const job& work = found->second;
    owned_descriptor audio = descriptor_of(*work.audio->bytes);
    if (!audio) {
        table_.end(id, clock::now());
        return finish(id, error(errc::overloaded).with_retry_after(table_.retry_after()));
    }
    if (!channel_->send(start_of(id, work.request, work.deltas != nullptr), std::move(audio))) {
        table_.end(id, clock::now());
        finish(id, error(errc::internal_error));
    }
}

void engine::finish(std::uint64_t id, result<transcript> outcome) {
    auto node = jobs_.extract(id);
    if (!node) return;  // Nobody waits for it any more.
    auto who = node.mapped().who.lock();
    if (!who) return;
    const auto executor = who->executor;
    // From here on `who` belongs to its own loop.
    asio::post(executor, [who = std::move(who), outcome = std::move(outcome)]() mutable {
        who->outcome.emplace(std::move(outcome));
        who->changed.cancel();
    });
}

void engine::drop(const std::vector<std::uint64_t>& ids, const error& why) {
    for (const std::uint64_t id : ids) finish(id, why);
}

void engine::on_time() {
    const auto now = clock::now();
    if (supervisor_.phase() == helper_phase::stopped) return start();
    carry_out(supervisor_.on_time(now, table_.oldest_step()));
    for (const std::uint64_t id : table_.overdue(now)) {
        finish(id, error(errc::upstream_timeout, "The local engine took too long."));
        leave(id);
    }
    settle();
}

void engine::settle() {
    if (stopped_) return;
    pump();
    std::optional<clock::time_point> wake = supervisor_.next_wake(table_.oldest_step());
    if (const auto overdue = table_.next_overdue(); overdue && (!wake || *overdue < *wake)) wake = overdue;
    if (supervisor_.phase() == helper_phase::stopped) wake = clock::now() + look_again;
    // A timer that fires too early looks again; so steps, which only move the wake-up back, do not touch it.
    if (wake && (!armed_ || *wake < *armed_)) {
        armed_ = wake;
        timer_->expires_at(*wake);
        timer_->async_wait([weak = weak_from_this()](boost::system::error_code ec) {
            const auto self = weak.lock();
            if (ec || !self || self->stopped_) return;
            self->armed_.reset();
            self->on_time();
        });
    }
    publish();
}

}  // namespace hearonce::whisper
