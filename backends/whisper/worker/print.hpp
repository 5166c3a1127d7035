// A transcript for people: text, JSON or subtitles. Holds: print(). Next file: none.
#pragma once

#include <hearonce/transcription.hpp>

#include <string>
#include <string_view>

namespace hearonce::whisper {

// `format` is text, json or srt.
std::string print(const transcript& result, std::string_view format);

}  // namespace hearonce::whisper
