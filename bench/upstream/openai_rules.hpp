// What OpenAI's audio API takes and refuses, model by model, in its own words. Pure.
//
// Holds: model_kind, kind_of_model(), openai_asked, check_openai(). Next file: openai_answer.hpp.
#pragma once

#include <bench/upstream/answer.hpp>
#include <bench/upstream/form_reader.hpp>
#include <bench/upstream/route.hpp>

#include <hearonce/transcription.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::upstream {

// The whole request body; one byte more is refused with 413.
inline constexpr std::uint64_t openai_body_bytes_max = 26'214'400;

enum class model_kind : std::uint8_t {
    unknown,
    whisper,     // whisper-1: every format, no stream. Also Groq's whisper-large-v3(-turbo), which have no subtitles.
    gpt4o,       // gpt-4o-transcribe, gpt-4o-mini-transcribe: json and text, stream, logprobs.
    diarize,     // gpt-4o-transcribe-diarize: json, text, diarized_json.
    transcribe,  // gpt-transcribe: json and text, languages[], keywords[].
};
model_kind kind_of_model(std::string_view model) noexcept;

struct openai_asked {
    hearonce::task task = hearonce::task::transcribe;
    model_kind kind = model_kind::whisper;
    std::string model;
    response_format format = response_format::json;
    std::string language;  // As given; empty: none.
    bool stream = false;   // Only where the model streams.
    bool words = false;
    bool segments = true;
    bool logprobs = false;
    bool languages = false;  // The answer says which languages it heard.
    received_file file;
};

struct openai_checked {
    std::optional<answer> refusal;
    openai_asked asked;  // When nothing is refused.
};

// `any_model`: a model nobody knows is treated like whisper-1, as servers that imitate the API do.
openai_checked check_openai(const form_reader& form, const route& to, bool any_model);

answer openai_too_large(std::uint64_t bytes);

}  // namespace hearonce::upstream
