// The interface every engine and upstream implements.
//
// Holds: backend, backend_state. Implementations: backends/whisper, backends/openai, backends/gemini, each with a create_
// function in its own header. Next file: shared_operation.hpp.
#pragma once

#include <hearonce/audio.hpp>
#include <hearonce/deadline.hpp>
#include <hearonce/error.hpp>
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
    // True if this backend can give what the request asks; checked before any work is begun.
    virtual result<void> supports(const transcription_request& request) const = 0;

    // How long one piece of work may take in all, from the length of the recording where it is known. The default is the
    // rule for upstreams: 30 s and half the note's length, at most 120 s, which is also the limit for an unknown length.
    virtual std::chrono::milliseconds time_allowed(std::optional<std::chrono::milliseconds> audio) const {
        constexpr std::chrono::milliseconds base = std::chrono::seconds(30);
        constexpr std::chrono::milliseconds cap = std::chrono::seconds(120);
        if (!audio) return cap;
        return std::min(cap, base + std::max(*audio, std::chrono::milliseconds(0)) / 2);
    }

    // One piece of work. Runs on the calling coroutine's executor and ends there. Ends by `limit` at the latest with
    // upstream_timeout. Cancelling the coroutine (terminal) ends it promptly with errc::cancelled or operation_aborted and
    // frees what it held.
    virtual boost::asio::awaitable<result<transcript>> transcribe(std::shared_ptr<const recording> audio, transcription_request request,
                                                                  deadline limit) = 0;
};

}  // namespace hearonce
