// From a request to the form that is sent: every field of the caller's once, ours around them, the recording last. Pure.
//
// Holds: request_form, build_request(), new_boundary(). Next file: answer.hpp.
#pragma once

#include <hearonce/audio.hpp>
#include <hearonce/transcription.hpp>

#include <string>
#include <string_view>

namespace hearonce::openai {

struct request_form {
    std::string path;          // Behind the base URL.
    std::string content_type;  // With the boundary.
    std::string prefix;        // The body's bytes before the recording ...
    std::string suffix;        // ... and after it.
};

// `boundary` must not occur in a field: take new_boundary(). One upstream format serves a class of detail, the richest: json,
// verbose_json with segments (subtitles are made of them), or diarized_json.
request_form build_request(const transcription_request& request, const recording& audio, std::string_view upstream_model, bool stream,
                           std::string_view boundary);

// 128 random bits, so that no caller can put it into a field.
std::string new_boundary();

}  // namespace hearonce::openai
