// The answer for a failure, in OpenAI's shape, and plain JSON answers.
//
// Holds: json_answer(), error_body(), error_response(), method_not_allowed(). Pure. Next file: cache_status.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <http/exchange.hpp>

#include <string>
#include <string_view>

namespace hearonce::http {

// `body` as application/json that nobody on the way may store.
response json_answer(std::uint16_t status, std::string body);

// {"error":{"message":…,"type":…,"param":…|null,"code":…}}, all four keys always there.
std::string error_body(const error& why);

// The whole answer. `Retry-After` is there when the error names a time, and always for overloaded and draining.
// `already_retried`: the gateway tried again by itself, so the SDK is told not to (`x-should-retry: false`), except for
// overloaded and draining, where trying again is right. It is told so in any case for idempotency_conflict, which SDKs
// would retry as a 409, and for insufficient_quota, where no retry helps.
// An errc without a status (the caller left) must not get here; it is answered as internal_error.
response error_response(const error& why, bool already_retried = false);

// 405 with `Allow: GET, POST` (RFC 9110 section 15.5.6).
response method_not_allowed(std::string_view allow);

}  // namespace hearonce::http
