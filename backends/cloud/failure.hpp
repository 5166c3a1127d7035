// What goes wrong with every provider in the same way: calls without an answer, and answers that are nobody's API.
//
// Holds: key_terms, failed, failure_of_call(), remedy_after(), operators_key_refused(), refused_unreadably(), answered_strangely().
// Pure. Used by backends/openai/failures.cpp and backends/gemini/failure.cpp. Next file: quoted_message.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <net/one_call.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearonce::cloud {

struct key_terms {
    bool callers = false;  // Whose key was refused: the caller's own, who must be told, or the operator's, who must not.
    std::string_view key;  // Never in a message.
    std::chrono::system_clock::time_point now;
};

struct failed {
    error why;
    std::string log;  // For the operator, who can mend it; empty: nothing but bad luck, or the caller's matter.
};

// A call without an answer. What may follow depends on whether the upstream can have had the whole recording.
failed failure_of_call(const net::call_failure& failure);

// After a status of 500 and more: whether the work cannot have been done, or may have been.
remedy remedy_after(std::uint16_t status) noexcept;

// 401 or 403 for the operator's key, of which the caller learns nothing. `message`: the upstream's, fit to be quoted.
failed operators_key_refused(std::uint16_t status, const std::string& message);

// 4xx with a body that is not the API's: some other server answered, and its words are told to nobody.
failed refused_unreadably(std::uint16_t status);

// 1xx to 3xx. A redirect is not followed: a key must not travel to another host.
failed answered_strangely(std::uint16_t status);

}  // namespace hearonce::cloud
