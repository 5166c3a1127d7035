// From google.rpc's error model to the error a caller gets and the line the operator reads. Pure.
//
// Holds: key_terms, failed, failure_of_answer(), failure_of_record(). Calls that brought no answer fail as every upstream's
// do: backends/openai/failures.hpp. Next file: gemini_backend.cpp.
#pragma once

#include <hearonce/error.hpp>
#include <net/one_call.hpp>

#include <boost/json/object.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace hearonce::gemini {

struct key_terms {
    bool callers = false;  // Whose key was refused: the caller's own, who must be told, or the operator's, who must not.
    std::string_view key;  // Never in a message.
    std::chrono::system_clock::time_point now;
};

struct failed {
    error why;
    std::string log;  // For the operator, who can mend it; empty: nothing to mend.
};

// Any status but 200. What is not JSON is never told on.
failed failure_of_answer(const net::http_answer& answer, std::string_view body, const key_terms& terms);

// The `error` member of a record within a stream that began well.
failed failure_of_record(const boost::json::object& error, const key_terms& terms);

// The object with the error in it: {"error":{…}} or, of a stream that was not asked for as events, [{"error":{…}}].
// nullptr: neither.
const boost::json::object* error_in(const boost::json::value& body) noexcept;

}  // namespace hearonce::gemini
