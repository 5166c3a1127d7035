// From an upstream's refusal, or from a call that failed, to the error a caller gets and the line the operator reads. Pure.
//
// Holds: failure_terms, failed, error_of_answer(), error_of_call(). Next file: quoted_message.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <net/one_call.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace hearonce::openai {

struct failure_terms {
    bool callers_key = false;  // Whose key was refused: the caller's own, who must be told, or the operator's, who must not.
    std::string_view key;      // Never in a message.
    std::chrono::system_clock::time_point now;
};

struct failed {
    error why;
    std::string log;  // For the operator, who can mend it; empty: nothing but bad luck, or the caller's matter.
};

// Any status but 2xx. A 4xx about the request keeps its status and message; what is not JSON is never told on.
failed error_of_answer(const net::http_answer& answer, const failure_terms& terms);

// A call without an answer. What may follow depends on whether the upstream can have had the whole recording.
failed error_of_call(const net::call_failure& failure);

}  // namespace hearonce::openai
