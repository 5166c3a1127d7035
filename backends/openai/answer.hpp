// From an upstream's 200 to a transcript, whichever server's dialect it is in. Pure.
//
// Holds: answer_terms, parse_response(). Next file: json_reading.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <hearonce/transcription.hpp>

#include <boost/json/object.hpp>

#include <string_view>

namespace hearonce::openai {

// What was asked, and what is known beside the answer.
struct answer_terms {
    hearonce::detail detail = detail::plain;
    double recording_seconds = 0;  // By the recording's own head; 0: unknown.
    bool whisper_server = false;   // The answer names whisper.cpp's server as its maker.
};

// upstream_error for what is no JSON object with a `text`: such a body is never told on. The text is trimmed; numbers come
// out of strings, missing ones are 0; languages are names; words are found inside segments; the duration is the answer's,
// else what it bills, else the recording's.
result<transcript> parse_response(std::string_view body, const answer_terms& terms);

// The same of an object that was parsed already, for a stream's last record; `text` is the transcript's.
transcript transcript_of(const boost::json::object& from, std::string text, const answer_terms& terms);

}  // namespace hearonce::openai
