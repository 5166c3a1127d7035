// When another server says it may be asked again. Pure.
//
// Holds: retry_after(). Nothing follows.
#pragma once

#include <net/one_call.hpp>

#include <chrono>
#include <optional>

namespace hearonce::net {

// `retry-after-ms` (milliseconds, as OpenAI's clients read it), else Retry-After: seconds, with or without a fraction, or an
// IMF-fixdate (RFC 9110 sections 10.2.3 and 5.6.7). In whole seconds, rounded up, at most a day; nullopt for anything else,
// negative numbers among it. A date that has passed is 0.
std::optional<std::chrono::seconds> retry_after(const http_answer& answer, std::chrono::system_clock::time_point now);

}  // namespace hearonce::net
