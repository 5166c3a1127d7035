// Turns a finished transcript into the body one caller asked for.
//
// Holds: content_type_of(), render(), append_turn(), append_more(). Pure; on the path of every hit. The shapes are OpenAI's;
// next file for a reader: event_stream.hpp.
#pragma once

#include <hearonce/transcription.hpp>

#include <string>
#include <string_view>

namespace hearonce::http {

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

// Pieces that the event stream shares with the bodies: one speaker's turn, `number` from 1; members behind others.
void append_turn(std::string& out, const segment& one, std::size_t number);
void append_more(std::string& out, const std::vector<json_member>& more);

}  // namespace hearonce::http
