// What was heard, in every shape OpenAI's audio API answers with. Pure.
//
// Holds: answer_openai(), openai_models(), openai_model(). Next file: sending.hpp.
#pragma once

#include <bench/upstream/answer.hpp>
#include <bench/upstream/heard.hpp>
#include <bench/upstream/openai_rules.hpp>

#include <string_view>

namespace hearonce::upstream {

// One body, or the records of an event stream. `done_marker`: the stream ends with "data: [DONE]".
answer answer_openai(const openai_asked& asked, const heard& what, bool done_marker);

// GET /v1/models and /v1/models/{id}; 404 for a model nobody knows.
answer openai_models();
answer openai_model(std::string_view id);

}  // namespace hearonce::upstream
