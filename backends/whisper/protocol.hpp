// What the gateway and hearonce-whisper say to each other: frames of JSON over a stream socket pair.
//
// A frame is four bytes of length, highest first, and that many bytes of JSON. The descriptor of a job's audio travels
// with the first byte of its `start` frame (SCM_RIGHTS); descriptors and `start` frames are paired in their order.
// Times are whole centiseconds and milliseconds: a number's text must come out on the far side as it went in.
//
// Holds: the messages, encode(), decode(), frame_reader. Compiled into both programs. Next file: worker/serve.cpp.
#pragma once

#include <hearonce/error.hpp>
#include <hearonce/transcription.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace hearonce::whisper {

// A day of words with their times is about 20 MB.
inline constexpr std::size_t frame_bytes_max = 64UL << 20;
inline constexpr std::size_t frame_head_bytes = 4;

// Gateway to helper: do this, on the audio whose descriptor comes along.
struct start_job {
    std::uint64_t id = 0;
    std::string language;  // A code, a full English name, or empty: detect.
    std::string prompt;
    double temperature = 0;
    bool translate = false;
    bool word_times = false;
    bool tell = false;  // Tell pieces as they are heard.
};

// Gateway to helper: end this job soon. Always answered by the job's own end, unless that is on its way already.
struct cancel_job {
    std::uint64_t id = 0;
};

// Helper to gateway, once: the model is loaded.
struct helper_ready {
    std::string library;  // Version of libwhisper.
    bool multilingual = false;
};

// Helper to gateway, once, before it exits: it cannot work, and a restart will not help.
struct helper_failed {
    std::string reason;
};

// Helper to gateway: the job got a step further. Not sent more often than every 100 ms.
struct job_step {
    std::uint64_t id = 0;
    std::int64_t audio_milliseconds = 0;  // Length of the decoded audio; 0 while decoding.
    bool quiet = false;                   // What comes now cannot tell of its steps and may take long. Always sent at once.
};

// Helper to gateway: a piece of the text, which goes on where the one before ended. Only when it was asked for.
struct job_heard {
    std::uint64_t id = 0;
    std::string text;
};

struct job_done {
    std::uint64_t id = 0;
    transcript result;
};

struct job_failed {
    std::uint64_t id = 0;
    errc code = errc::upstream_error;
    std::string message;
    std::string param;
};

struct job_cancelled {
    std::uint64_t id = 0;
};

using message = std::variant<start_job, cancel_job, helper_ready, helper_failed, job_step, job_heard, job_done, job_failed, job_cancelled>;

// The whole frame, head included. Text that is not valid UTF-8 is mended first. A message that would be too large comes
// out as a job_failed of the same job (helper's side) or an empty string.
std::string encode(const message& what);

// The message of one frame's JSON; nullopt for anything that is not exactly a message: the other side is then broken.
std::optional<message> decode(std::string_view payload);

// Cuts a stream into frames. Feed what arrives, then take frames until there are none.
class frame_reader {
public:
    enum class state : std::uint8_t { more, frame, broken };

    void feed(std::string_view bytes);
    // frame: `payload` is the next one, valid until the next call. broken: a frame is larger than allowed, for ever.
    state next(std::string_view& payload);

private:
    std::string bytes_;
    std::size_t taken_ = 0;  // Of bytes_, by frames already given out.
    bool broken_ = false;
};

}  // namespace hearonce::whisper
