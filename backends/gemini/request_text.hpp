// The JSON around the audio of one call. Pure.
//
// Holds: body_frame, frame_of(), structured(). Next file: base64_body.hpp, which puts the audio between the two.
#pragma once

#include <hearonce/transcription.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace hearonce::gemini {

// All bytes of a request that carries its audio inline, the JSON around it included.
inline constexpr std::uint64_t request_bytes_max = 100'000'000;
inline constexpr std::size_t vocabulary_max = 1000;

struct body_frame {
    std::string before;  // Up to the first character of the audio.
    std::string after;
};

// `model`: as it is named to the upstream. `type`: of the audio (audio_type.hpp).
body_frame frame_of(const transcription_request& request, std::string_view model, std::string_view type);

// True when a model is asked in words for times or speakers: its answer is then a text of JSON.
bool structured(const transcription_request& request, std::string_view model) noexcept;

// The values of every field of this name, with or without the brackets.
std::vector<std::string_view> values_of(const transcription_request& request, std::string_view name);

}  // namespace hearonce::gemini
