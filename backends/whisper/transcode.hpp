// A recording of any kind as FLAC, for upstreams that do not take its container. Media files are hostile input: they are
// decoded by hearonce-whisper alone, a process of its own for each, sandboxed, bounded and gone afterwards.
//
// Holds: transcode_settings, transcoded, transcoder, create_transcoder(). Next file: transcode.cpp.
#pragma once

#include <hearonce/audio.hpp>
#include <hearonce/deadline.hpp>
#include <hearonce/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace hearonce::whisper {

struct transcode_settings {
    std::filesystem::path helper;  // The program hearonce-whisper.
    std::size_t jobs_max = 2;      // At a time, over all event loops.
    std::size_t waiting_max = 256;
    std::uint64_t flac_bytes_max = 74'000'000;                      // Of one result; a longer recording is audio_too_large.
    std::uint64_t all_bytes_max = 256ULL * 1024 * 1024;             // Of results in use, beyond which jobs wait.
    std::size_t audio_seconds_max = 4UL * 3600;                     // Of one recording.
    std::chrono::milliseconds time_max = std::chrono::seconds(60);  // Of one job once it has begun.
    // Called from any thread with one line for the operator; may be empty.
    std::function<void(const std::string&)> log;
};

// 16 kHz, one channel, 16 bits. The bytes are an anonymous file of the kernel's memory.
struct transcoded {
    std::shared_ptr<const stored_bytes> bytes;
    double seconds = 0;
};

// Thread-safe.
class transcoder {
public:
    virtual ~transcoder() = default;
    // Runs on the calling coroutine's executor. unsupported_audio, empty_audio, audio_too_short, audio_too_large: the
    // recording's matter. overloaded: no place until `limit`. upstream_timeout: it took too long. upstream_error (another
    // backend may do): the helper is missing or broken. cancelled: terminal cancellation, which kills the process.
    virtual boost::asio::awaitable<result<transcoded>> to_flac(std::shared_ptr<const recording> audio, deadline limit) = 0;
    virtual std::uint64_t bytes_in_use() const = 0;
};

std::shared_ptr<transcoder> create_transcoder(transcode_settings settings);

}  // namespace hearonce::whisper
