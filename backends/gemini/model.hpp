// What a model's name says: where its calls go, and which of the two ways to ask it there is. Pure functions.
//
// Holds: is_transcriber(), is_live(), thinking_of(), endpoint_of(), target_of(). Next file: request_text.hpp.
#pragma once

#include <net/url.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::gemini {

// A model made for transcription: asked through `audioTranscriptionConfig`, without a prompt. All others are asked in words.
bool is_transcriber(std::string_view model) noexcept;
// Speaks over a WebSocket only.
bool is_live(std::string_view model) noexcept;

// How a model is told to think little: what it thinks counts as output and takes time. Each generation knows its own setting
// and refuses the other's.
enum class thinking : std::uint8_t { level_low, budget_none, budget_least, not_at_all };
thinking thinking_of(std::string_view model) noexcept;
// Of a call; 0: the model's own limit, for those whose limit is not known.
std::uint32_t output_tokens_max_of(std::string_view model) noexcept;

// Where the API is: `base` with a version at its end, `/v1beta` where it names none. nullopt: not an http(s) URL, or one with
// a query.
std::optional<net::http_url> endpoint_of(std::string_view base);

// Path of one call, percent-encoded. nullopt: no name of a model. A leading `models/` is taken off; no other slash is taken,
// so that nothing but a model can be reached.
std::optional<std::string> target_of(std::string_view endpoint, std::string_view model, bool stream);

}  // namespace hearonce::gemini
