// What was heard, as Gemini's generateContent and streamGenerateContent tell it. Pure.
//
// Holds: answer_gemini(), gemini_models(), gemini_model(), filled_in(). Next file: sending.hpp.
#pragma once

#include <bench/upstream/answer.hpp>
#include <bench/upstream/fault.hpp>
#include <bench/upstream/gemini_rules.hpp>
#include <bench/upstream/heard.hpp>

#include <string>
#include <string_view>

namespace hearonce::upstream {

// One body, or with alt=sse the records of a stream, each ended by CRLF CRLF. Every answer begins with a part that is a
// thought, which is no part of the text. The faults that are Gemini's alone are done here.
answer answer_gemini(const gemini_asked& asked, const route& to, const heard& what, const fault& wrong);

// GET .../models and .../models/{id}.
answer gemini_models();
answer gemini_model(std::string_view id);

// JSON that fits a schema (Google's or JSON Schema), filled with what was heard by the names of its members: `start` and `end`
// are times (MM:SS.mmm where they are strings), `speaker` and `language` speak for themselves, `words` has an item a word, any
// other list an item a segment, any other string is the text. `{"text": ...}` without a schema.
std::string filled_in(std::string_view schema, const heard& what, std::string_view language);

}  // namespace hearonce::upstream
