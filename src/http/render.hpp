// Turns a finished transcript into the body one caller asked for.
//
// Holds: content_type_of(), render(), the pieces of an event stream. Pure; on the path of every hit. The shapes are OpenAI's;
// next file for a reader: error_response.hpp.
#pragma once

#include <hearonce/transcription.hpp>

#include <string>
#include <string_view>

namespace hearonce::http {

inline constexpr std::string_view event_stream_type = "text/event-stream";

// json, verbose_json, diarized_json: application/json; text, srt, vtt: text/plain; charset=utf-8 (never text/vtt: clients
// compare).
std::string_view content_type_of(response_format format) noexcept;

// How much of a transcript a caller wants to see.
struct shape {
    response_format format = response_format::json;
    hearonce::task task = task::transcribe;
    bool words = false;    // verbose_json only: `words` is there.
    bool segments = true;  // verbose_json only: `segments` is there.
};
inline shape shape_of(const transcription_request& asked) noexcept {
    return {asked.format, asked.task, asked.word_times, asked.segment_times};
}

// The body. json: text and, when the duration is known, usage. text: the transcript and a line end. verbose_json: numbers are
// never null and never text. srt and vtt: one cue a segment, or one cue over everything when a backend gives no times;
// starts never go back, an end is never before its start. Wrong UTF-8 is replaced.
std::string render(const transcript& heard, const shape& wanted);

// The records of an event stream (`stream=true`), each complete with its blank line. Joined deltas equal the text of `done`;
// some clients show deltas only, so a `done` never comes without one, even when the text is empty.
std::string delta_event(std::string_view text);
std::string done_event(const transcript& heard);
// An error after the stream has begun: a record with `error`, on which SDKs raise. The stream ends with it.
std::string error_event(std::string_view error_json);
// The whole stream for a caller whose flight did not stream: one delta with everything, for diarized_json a record for each
// speaker's turn, then done.
std::string render_events(const transcript& heard, const shape& wanted = {});

}  // namespace hearonce::http
