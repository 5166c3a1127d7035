// What the helper says, and how far it is believed: it reads hostile files, so its numbers are bounded and its job ids are
// checked. Next file: engine_state.cpp.
#include <backends/whisper/engine.hpp>

#include <algorithm>

namespace hearonce::whisper {
namespace {

// Of one job: a day of speech is about 1 MB.
constexpr std::size_t told_bytes_max = std::size_t{16} << 20;

}  // namespace

void engine::hear(message what) {
    // A helper that talks of jobs it does not have is not sound, and what it says of others is worth nothing.
    if (!take_in(what)) carry_out(supervisor_.on_lost("It spoke of a job that it does not have."));
    settle();
}

// False: no helper in its right mind says that now.
bool engine::take_in(message& what) {
    if (const auto* ready = std::get_if<helper_ready>(&what)) {
        supervisor_.on_ready();
        say("hearonce-whisper is ready, libwhisper " + ready->library + (ready->multilingual ? "" : ", English only"));
    } else if (auto* broken = std::get_if<helper_failed>(&what)) {
        say("hearonce-whisper cannot work: " + broken->reason);
        carry_out(supervisor_.on_broken(std::move(broken->reason)));
    } else if (const auto* step = std::get_if<job_step>(&what)) {
        const auto longest = static_cast<std::int64_t>(audio_seconds_max_of(settings_) * 1000);
        const std::chrono::milliseconds audio(std::clamp<std::int64_t>(step->audio_milliseconds, 0, longest));
        return table_.step(step->id, clock::now(), audio, step->quiet);
    } else if (auto* heard = std::get_if<job_heard>(&what)) {
        return tell(heard->id, std::move(heard->text));
    } else if (auto* done = std::get_if<job_done>(&what)) {
        done->result.backend = settings_.name;
        done->result.duration_seconds =
            std::clamp(done->result.duration_seconds, 0.0, static_cast<double>(audio_seconds_max_of(settings_)));
        return end(done->id, std::move(done->result));
    } else if (auto* failed = std::get_if<job_failed>(&what)) {
        return end(failed->id, error(failed->code, std::move(failed->message), std::move(failed->param)));
    } else if (const auto* cancelled = std::get_if<job_cancelled>(&what)) {
        // Nobody waits for a job that was told to stop; whoever still does was given up without being asked.
        return end(cancelled->id, error(errc::upstream_error, "The local engine gave the work up."));
    } else {
        return false;
    }
    return true;
}

// False: that job does not run.
bool engine::tell(std::uint64_t id, std::string text) {
    if (!table_.step(id, clock::now(), std::chrono::milliseconds(0))) return false;
    const auto found = jobs_.find(id);
    if (found == jobs_.end() || !found->second.deltas) return true;  // Nobody reads along any more.
    found->second.told_bytes += text.size();
    if (found->second.told_bytes > told_bytes_max) return false;
    found->second.deltas->append({std::move(text)});
    return true;
}

// False: that job does not run.
bool engine::end(std::uint64_t id, result<transcript> outcome) {
    if (!table_.end(id, clock::now())) return false;
    supervisor_.on_job_ended();
    finish(id, std::move(outcome));
    return true;
}

}  // namespace hearonce::whisper
