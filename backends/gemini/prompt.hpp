// What a general model is told to do with a recording. Pure.
//
// Holds: prompt_of(). Next file: request_text.cpp.
#pragma once

#include <hearonce/transcription.hpp>

#include <string>

namespace hearonce::gemini {

std::string prompt_of(const transcription_request& request);

}  // namespace hearonce::gemini
