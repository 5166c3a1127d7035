// From what an upstream said to a transcript of the class of detail that was asked for. Pure functions.
//
// Holds: wish, transcript_of(). Calls turns.cpp or structured.cpp. Next file: failure.hpp.
#pragma once

#include <backends/gemini/heard.hpp>
#include <hearonce/error.hpp>
#include <hearonce/transcription.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::gemini {

// What the answer is held against.
struct wish {
    hearonce::task task = hearonce::task::transcribe;
    detail class_of_detail = detail::plain;
    bool structured = false;              // The text is JSON (request_text.hpp).
    std::string language;                 // The caller's word; empty: none.
    std::optional<double> audio_seconds;  // Where it is known.
};

// upstream_error: the answer is not all there, or lacks the times that were asked for.
result<transcript> transcript_of(const heard& from, const wish& wanted, bool streamed);

// Segments and words of a transcriber's turns. upstream_error: no times.
result<transcript> transcript_of_turns(const heard& from, const wish& wanted);

// Segments of a general model's JSON, fenced as Markdown or not. upstream_error: it cannot be read as a whole.
result<transcript> transcript_of_json(std::string_view text, const wish& wanted);

// The upstream's label of a speaker to "A", "B", ... in the order of their appearance.
class speakers {
public:
    std::string letter_of(std::string_view label);

private:
    std::vector<std::string> known_;
};

}  // namespace hearonce::gemini
