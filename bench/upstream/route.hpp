// Which of the two APIs a request belongs to, and what it asks of it. Pure.
//
// Holds: ask, route, route_of(). Next file: session.hpp.
#pragma once

#include <http/exchange.hpp>

#include <cstdint>
#include <string>

namespace hearonce::upstream {

enum class ask : std::uint8_t {
    unknown,
    transcription,  // POST /v1/audio/transcriptions, /openai/deployments/{model}/audio/transcriptions
    translation,
    openai_models,
    openai_model,
    gemini_generate,  // POST /v1beta/models/{model}:generateContent, also under /v1
    gemini_stream,    // ... :streamGenerateContent
    gemini_models,
    gemini_model,
    stats,   // GET /_stats
    reset,   // POST /_reset
    faults,  // POST /_faults
};

struct route {
    ask what = ask::unknown;
    bool gemini = false;  // In which shape errors are told.
    bool sse = false;     // gemini_stream with alt=sse; without, the answer is one JSON array.
    std::string model;    // From the path.

    // What costs money at a real one: these are counted as calls.
    bool is_call() const noexcept {
        return what == ask::transcription || what == ask::translation || what == ask::gemini_generate || what == ask::gemini_stream;
    }
    bool is_form() const noexcept { return what == ask::transcription || what == ask::translation; }
    bool is_control() const noexcept { return what == ask::stats || what == ask::reset || what == ask::faults; }
};

// Both APIs may stand behind any prefix, such as "/openai"; `stats` and the like may not. GET /v1/models is in both: with an
// x-goog-api-key it is Gemini's.
route route_of(const http::request_head& head);

// Whether the query string has `name`, with that value where one is given.
bool query_has(std::string_view query, std::string_view name, std::string_view value = {});

}  // namespace hearonce::upstream
