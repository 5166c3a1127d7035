// What an upstream says in the body of a refusal, in whichever shape it says it. Pure.
//
// Holds: refusal, refusal_of(). Next file: backends/cloud/quoted_message.hpp.
#pragma once

#include <hearonce/error.hpp>

#include <string>
#include <string_view>

namespace hearonce::openai {

struct refusal {
    bool readable = false;  // A JSON object. Everything below is from it.
    std::string message;    // As it may be told on; empty: none was found.
    std::string param;
    errc nearest = errc::invalid_parameter;  // What comes next to it of the errors about a request.
    bool money = false;                      // Nothing but somebody's payment helps.
    bool about_model = false;                // The model is unknown, rather than the path.
};

// OpenAI's {"error":{…}}, {"error":"…"}, FastAPI's {"detail":…}, and flat {"message":…}; codes as text or number.
refusal refusal_of(std::string_view body, std::string_view key);

}  // namespace hearonce::openai
