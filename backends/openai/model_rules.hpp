// What OpenAI's models can give, by their names, and until when they exist. Pure.
//
// Holds: model_rules, rules_of(), shutdown_date_of(), published_models(), check_supported(). Next file: request_form.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <hearonce/transcription.hpp>

#include <span>
#include <string_view>

namespace hearonce::openai {

struct model_rules {
    bool timed = true;     // verbose_json; srt and vtt are made from it.
    bool diarized = true;  // diarized_json
    bool streams = false;  // Sends events when `stream` is true.
    bool translates = true;
};

// Rules of the upstream's name of a model. Everything is allowed to a name that is not OpenAI's: the server behind it knows
// best. It is not asked to stream either: some refuse the field, and others send events of their own.
model_rules rules_of(std::string_view upstream_model) noexcept;

// "YYYY-MM-DD" of the day OpenAI ends a model (developers.openai.com, deprecations, notice of 2026-08-26); empty: none known.
std::string_view shutdown_date_of(std::string_view upstream_model) noexcept;

// OpenAI's models for files, for lists; the first is the one to use.
std::span<const std::string_view> published_models() noexcept;

// unsupported_value in OpenAI's words when the model cannot give what is asked.
result<void> check_supported(const transcription_request& request, std::string_view upstream_model);

}  // namespace hearonce::openai
