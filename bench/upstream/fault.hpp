// What may go wrong with one call, as words that a header, a prompt or a script can hold. Pure.
//
// Holds: fault, parse_fault(), fault_in_prompt(), fault_help. Next file: sending.hpp, which carries faults out.
#pragma once

#include <hearonce/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::upstream {

struct fault {
    using milliseconds = std::chrono::milliseconds;

    enum class reset_at : std::uint8_t {
        never,
        before_body,  // After the request's head, before its body is read.
        after_body,   // After the whole request, without an answer.
        after_head,   // After the answer's head.
    };
    enum class sse_cut : std::uint8_t { whole, mid_record, between };
    // In place of the right answer, with the status it says.
    enum class instead : std::uint8_t {
        nothing,
        html_502,
        html_200,
        not_json,
        empty_text,
        huge_body,
        insufficient_quota,  // OpenAI: 429 that no waiting mends. Gemini: the quota of a day.
        key_invalid,         // OpenAI: 401. Gemini: 400 with API_KEY_INVALID.
        blocked,             // Gemini: 200 without candidates.
        no_parts,            // Gemini: a candidate without content, finishReason SAFETY.
        max_tokens,          // Gemini: half of the text, finishReason MAX_TOKENS.
        recitation,          // Gemini: no text, finishReason RECITATION.
        words_only,          // Gemini: audioTranscription parts hold words and no text.
    };

    std::optional<milliseconds> delay;  // Before the answer; in place of the server's own.
    bool hang = false;                  // Reads the request and never answers.
    reset_at reset = reset_at::never;   // The connection ends with a RST.
    bool half_body = false;             // The answer's second half is missing, then FIN.
    instead answer = instead::nothing;
    int status = 0;  // 400..599: an error answer of the shape asked for; 0: none.
    // The header's value, and RetryInfo's. "date" and "date+N" stand for a date 2 or N seconds ahead, "none" for no RetryInfo.
    std::optional<std::string> retry_after;
    std::optional<double> retry_after_ms;
    std::optional<milliseconds> idle_close;  // FIN this long after the answer, which did not announce it.
    bool early_401 = false;                  // 401 before the body is read.
    sse_cut cut = sse_cut::whole;            // Of an answer that is not streamed: half_body.
    bool sse_error = false;                  // An error record in mid stream; of an answer that is not streamed: 500.
    milliseconds drip{0};                    // Between the bytes of the answer, head included.
    milliseconds pace{0};                    // Between the records of a stream.
    std::size_t huge_bytes = 64U << 20U;

    // Changes what is heard, which only a call's answer tells.
    bool of_what_is_heard() const noexcept { return answer == instead::empty_text || for_gemini_alone(); }
    bool for_gemini_alone() const noexcept { return answer >= instead::blocked; }
    // Must be known before the request's body is read to have its effect.
    bool early() const noexcept { return early_401 || reset == reset_at::before_body; }
};

// Items separated by commas, semicolons or blanks: "status=503, retry_after=2". Nothing, or "none", is no fault.
// errc::invalid_parameter names the item that is wrong: a misspelt fault must not pass for a call that went well.
result<fault> parse_fault(std::string_view text);

// What stands after "fault:" up to the end of its line, a quote or a '<' (prompts are embedded in longer ones); nullopt when the
// prompt has no such thing.
std::optional<std::string_view> fault_in_prompt(std::string_view prompt) noexcept;

// One line each, for --help.
extern const std::string_view fault_help;

}  // namespace hearonce::upstream
