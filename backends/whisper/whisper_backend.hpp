// The local engine as a backend: hearonce-whisper, a process of its own, started, fed, watched and restarted from here.
//
// Holds: whisper_settings, whisper_counts, time_allowed_for(), whisper_backend, create_whisper_backend(). Next: engine.hpp.
#pragma once

#include <hearonce/backend.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hearonce::whisper {

// One `[backends.NAME]` of kind `whisper`.
struct whisper_settings {
    std::string name = "local";
    std::filesystem::path model;                      // A ggml model file; empty: none configured.
    std::filesystem::path helper;                     // The program hearonce-whisper.
    std::vector<std::string> models = {"whisper-1"};  // Names it claims (globs), as backend::models() gives them.
    std::string default_model = "whisper-1";
    unsigned threads = 0;                                // CPU threads of one job; 0: the machine's, shared by the slots.
    unsigned slots = 1;                                  // Jobs at a time, 1..64. The weights are shared, working memory is not.
    std::size_t queue = 64;                              // Jobs that may wait for a slot; beyond: overloaded.
    bool no_context = false;                             // Do not feed a window the text of the windows before it.
    double deadline_per_audio_second = 4;                // A job may run this long for each second of audio ...
    std::chrono::milliseconds deadline_floor{60'000};    // ... and always this long.
    std::chrono::milliseconds progress_timeout{20'000};  // Without a step for this long: killed and restarted.
    // Time to load the model, and for a job to prepare (spectrum, working memory, language): both tell of no steps.
    std::chrono::milliseconds start_timeout{120'000};
    std::chrono::milliseconds back_off_first{250};  // Before the first restart; doubled up to back_off_max.
    std::chrono::milliseconds back_off_max{30'000};
    std::size_t audio_seconds_max = 2 * 3600;  // Longer recordings are refused with audio_too_large.
    // Called on the home executor with one line a human can read; may be empty.
    std::function<void(const std::string&)> log;
};

// What /metrics shows. Read from any thread.
struct whisper_counts {
    std::size_t waiting = 0;  // hearonce_whisper_queue
    std::size_t running = 0;
    std::uint64_t restarts = 0;  // hearonce_whisper_restarts_total
};

// Time a job may spend in the queue, a start of the helper included, beside the time it may run.
inline constexpr std::chrono::milliseconds queue_allowance = std::chrono::minutes(10);
inline constexpr std::size_t audio_seconds_most = 86400;  // Of audio_seconds_max: a day.

// The setting within its bounds, 1 s to a day.
std::size_t audio_seconds_max_of(const whisper_settings& settings);

// What whisper_backend::time_allowed() gives: an outer bound for a recording that is said to be this long. The precise
// limit of a run counts from its start and by the true length (job_table.hpp); this one must never come before it.
std::chrono::milliseconds time_allowed_for(const whisper_settings& settings, std::optional<std::chrono::milliseconds> audio);

class whisper_backend : public backend {
public:
    virtual whisper_counts counts() const noexcept = 0;
    // Process id of the helper, 0 when there is none. For logs and tests.
    virtual int helper_pid() const noexcept = 0;
};

// The helper is started at once, in the background; a missing model or program makes a backend that is not ready and
// looks again at each request. `home` is a single-threaded loop (or a strand) on which everything here runs; it and the
// loops of callers must outlive the backend. Destroy it on `home` or when `home` no longer runs: the destructor ends the
// helper, by force after half a second, and fails what still waits with `draining`.
std::shared_ptr<whisper_backend> create_whisper_backend(boost::asio::any_io_executor home, whisper_settings settings);

}  // namespace hearonce::whisper
