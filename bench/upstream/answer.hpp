// What one call is answered with, before a fault changes it and before it is bytes.
//
// Holds: answer, openai_refusal(), gemini_refusal(), refusal_of_status(). Pure. Next file: openai_answer.hpp, gemini_answer.hpp.
#pragma once

#include <http/exchange.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace hearonce::upstream {

struct answer {
    int status = 200;
    std::string content_type = "application/json";
    std::vector<http::header> headers;  // Besides Content-Type and what frames the body.
    std::string body;
    std::vector<std::string> records;  // Not empty: sent one by one in place of `body`, chunked.

    bool streamed() const noexcept { return !records.empty(); }
};

// OpenAI's envelope: message, type, param and code are always there; an empty param or code is null.
answer openai_refusal(int status, std::string_view message, std::string_view type = "invalid_request_error", std::string_view param = {},
                      std::string_view code = {});

// Google's (google.rpc.Status). `details` is JSON: the members of an array, or nothing.
answer gemini_refusal(int http_status, std::string_view name, std::string_view message, std::string_view details = {});

// The error object alone, as it stands in both.
std::string openai_error(std::string_view message, std::string_view type, std::string_view param, std::string_view code);
std::string gemini_error(int http_status, std::string_view name, std::string_view message, std::string_view details = {});

// What each API says with a bare status.
answer openai_refusal_of(int status);
// `retry_delay`: of 429's RetryInfo, "2s"; empty: it has none.
answer gemini_refusal_of(int status, std::string_view retry_delay = "2s");
// "UNAVAILABLE" for 503, and so on.
std::string_view google_status_name(int http_status) noexcept;

// A fault that is misspelt or misplaced must not pass for a request that went well.
answer refused_fault(std::string_view why, bool gemini);

// Wrong or missing keys.
answer openai_key_refusal();
answer gemini_key_refusal();  // HTTP 400 with the reason API_KEY_INVALID.

}  // namespace hearonce::upstream
