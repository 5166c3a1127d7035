// The interface every engine and upstream implements.
//
// Holds: provider, caller_keys, attempt, time_rule, backend_state, backend. Implementations: backends/whisper, backends/openai, backends/gemini, each with a create_
// function in its own header. Next file: shared_operation.hpp.
#pragma once

#include <hearonce/audio.hpp>
#include <hearonce/deadline.hpp>
#include <hearonce/delta_log.hpp>
#include <hearonce/error.hpp>
#include <hearonce/secret.hpp>
#include <hearonce/transcription.hpp>

#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce {

// Whose keys a backend is called with.
enum class provider : std::uint8_t { none, openai, gemini };

// The keys one caller brought under `auth.mode = "own-key"`, and whom it acts for. Wiped with the last flight that holds them.
struct caller_keys {
    secret bearer;             // Authorization: for the first backend of a route alone, whichever provider that has.
    secret openai;             // api-key
    secret gemini;             // x-goog-api-key
    std::string organization;  // OpenAI-Organization and OpenAI-Project, for providers of OpenAI's API.
    std::string project;
};

// On which terms a backend is asked, once.
struct attempt {
    attempt(deadline until) : limit(until) {}

    deadline limit;
    // The caller's own key, which replaces the operator's; never sent together with it. Null: the operator's.
    std::shared_ptr<const secret> key{};
    std::string organization{};  // As the caller sent them; empty: none.
    std::string project{};
    // Where to tell pieces of the transcript as they are heard; null: nobody reads along. What was told is never taken
    // back, so an attempt that fails after its first piece is the last.
    std::shared_ptr<delta_log> deltas{};
};

// How long one piece of work may take in all, by the length of the recording: `base` and so much for each second of audio, at
// most `cap`, which is also the limit for an unknown length.
struct time_rule {
    std::chrono::milliseconds base = std::chrono::seconds(30);
    double per_audio_second = 0.5;
    std::chrono::milliseconds cap = std::chrono::seconds(120);

    std::chrono::milliseconds allowed(std::optional<std::chrono::milliseconds> audio) const {
        if (!audio) return cap;
        // Counted as numbers: a length is the caller's word and may be absurd.
        const double wanted = static_cast<double>(base.count()) + per_audio_second * std::max(0.0, static_cast<double>(audio->count()));
        return wanted < static_cast<double>(cap.count()) ? std::chrono::milliseconds(static_cast<std::int64_t>(wanted)) : cap;
    }
};

struct backend_state {
    bool ready = false;
    std::string reason;  // Why it is not ready, with the command that mends it where there is one.
};

// One configured engine or upstream. Thread-safe: every function may be called from every event loop.
class backend {
public:
    virtual ~backend() = default;

    // The configured name, `[a-z][a-z0-9]*`.
    virtual std::string_view name() const noexcept = 0;
    virtual backend_state state() const = 0;
    // Model names it takes: globs of fnmatch(3) form, and the model that stands for an absent one.
    virtual std::vector<std::string> models() const = 0;
    virtual std::string default_model() const = 0;
    // "YYYY-MM-DD", the day on which the model ends; empty: none is known.
    virtual std::string_view shutdown_date(std::string_view /*model*/) const { return {}; }
    // True if this backend can give what the request asks; checked before any work is begun.
    virtual result<void> supports(const transcription_request& request) const = 0;

    // Whose key the calls carry; `none` for an engine that needs no key.
    virtual hearonce::provider provider() const noexcept { return provider::none; }
    // True: it restarts what fails and says in state() when it cannot work. Its failures are then about single recordings,
    // and a caller whose recordings crash it must not keep it from all others.
    virtual bool watches_itself() const noexcept { return false; }
    // Calls at one time over all event loops; 0: no bound. Kept by whoever dispatches.
    virtual unsigned in_flight_max() const noexcept { return 0; }
    // The limit of one piece of work, queues and further attempts included.
    virtual std::chrono::milliseconds time_allowed(std::optional<std::chrono::milliseconds> audio) const {
        return time_rule().allowed(audio);
    }

    // One piece of work. Runs on the calling coroutine's executor and ends there. Ends by the attempt's limit at the
    // latest with upstream_timeout. The error's remedy() says what may be tried next. Cancelling the coroutine (terminal) ends it promptly with errc::cancelled or operation_aborted and
    // frees what it held.
    virtual boost::asio::awaitable<result<transcript>> transcribe(std::shared_ptr<const recording> audio, transcription_request request,
                                                                  attempt terms) = 0;
};

}  // namespace hearonce
