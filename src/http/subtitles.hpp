// Transcripts as subtitles: SubRip and WebVTT.
//
// Holds: srt_of(), vtt_of(). Pure; used by render.cpp alone.
#pragma once

#include <hearonce/transcription.hpp>

#include <string>
#include <string_view>

namespace hearonce::http {

// One cue a segment that says something, or one cue over everything when a backend gives no times. Starts never go back, an
// end is never before its start. Cue text is not escaped, as OpenAI does it.
std::string srt_of(const transcript& heard);
std::string vtt_of(const transcript& heard);

}  // namespace hearonce::http
