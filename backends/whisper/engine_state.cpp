// What the engine tells the outside: whether it can take work, and if not, why and what mends it. Next file: process.cpp.
#include <backends/whisper/engine.hpp>

#include <unistd.h>

namespace hearonce::whisper {

backend_state engine::state() const {
    const std::lock_guard lock(guard_);
    return state_;
}

// What keeps the helper from being started, with the way out; empty when nothing does.
std::string engine::missing() const {
    const std::string setting = "backends." + settings_.name + ".model";
    if (settings_.model.empty()) return "No model: run `hearonce models pull base.en` or set " + setting + ".";
    std::error_code ignored;
    if (!std::filesystem::exists(settings_.model, ignored)) {
        return "The model file " + settings_.model.string() + " is not there: run `hearonce models pull base.en` or set " + setting + ".";
    }
    if (settings_.helper.empty() || ::access(settings_.helper.c_str(), X_OK) != 0) {
        return "The program hearonce-whisper is not installed" + (settings_.helper.empty() ? "" : " at " + settings_.helper.string()) +
               ": build with libwhisper (deploy/whisper-runtime.sh).";
    }
    return {};
}

error engine::trouble() const {
    if (const std::string why = missing(); !why.empty()) return {errc::upstream_error, why};
    return {errc::upstream_error, "The local engine does not start: " + supervisor_.trouble()};
}

void engine::publish() {
    waiting_ = table_.waiting();
    running_ = table_.running();
    restarts_ = supervisor_.restarts();
    if (process_ == std::nullopt) pid_ = 0;
    backend_state now{supervisor_.phase() == helper_phase::ready, {}};
    if (stopped_)
        now.reason = "The local engine is stopped.";
    else if (supervisor_.phase() == helper_phase::stopped)
        now.reason = missing();
    else if (!now.ready && !supervisor_.trouble().empty())
        now.reason = "The local engine is being started again. " + supervisor_.trouble();
    else if (!now.ready)
        now.reason = "The local engine is starting.";
    const std::lock_guard lock(guard_);
    state_ = std::move(now);
}

void engine::say(const std::string& line) const {
    if (settings_.log) settings_.log(line);
}

}  // namespace hearonce::whisper
