// Whatever Gemini's API, or what stands before it, may do: what callers are told and how often it is asked.
#include "fault_row.hpp"

using namespace hearonce::test;

namespace {

const fault_table gemini{api::gemini, "gemini-2.5-flash", "gemini-2.5-flash"};

constexpr auto timeout = "upstream_timeout";
constexpr auto broken = "upstream_error";

// A part of the answer came, or none came to a request that was sent whole: the work may be done, and is not asked for again.
outcome unknown_end(int status, const char* code) {
    return {.status = status, .code = code, .kept = 0};
}
// Refused or failed before any work: asked three times, over one connection.
outcome asked_again(int status, const char* code) {
    return {.status = status, .code = code, .calls = 3, .heard = 3};
}
outcome once(int status, const char* code) {
    return {.status = status, .code = code};
}
outcome in_mid_stream(unsigned kept) {
    return {.code = broken, .kept = kept, .in_band = true};
}

BOOST_AUTO_TEST_SUITE(gemini_faults)

BOOST_AUTO_TEST_CASE(calls_that_go_well) {
    for (const auto* fault : {"none", "delay=30ms", "pace=5ms"}) check_row(gemini, {.fault = fault});
    check_row(gemini, {.fault = "idle_close", .plain = {.kept = 0}});
    // Parts with the times of words and no text of their own: the words are the text.
    check_row(gemini, {.fault = "words_only", .model = "gemini-3.5-transcribe"});
    // Processed audio without a text is served; whether it is a fault nobody knows, so it is asked for again.
    check_row(gemini, {.fault = "empty_text", .plain = {.stored = false}});
}

BOOST_AUTO_TEST_CASE(answers_that_do_not_come) {
    for (const auto* fault : {"hang", "drip=40ms"}) check_row(gemini, {.fault = fault, .plain = unknown_end(504, timeout), .slow = true});
    for (const auto* fault : {"reset=after_body", "reset=after_head"})
        check_row(gemini, {.fault = fault, .plain = unknown_end(502, broken)});
}

BOOST_AUTO_TEST_CASE(uploads_that_are_cut_off) {
    // Without its whole body nobody can have done the work.
    check_row(gemini,
              {.fault = "reset=before_body", .plain = {.status = 502, .code = broken, .calls = 3, .heard = 0, .kept = 0}, .large = true});
    check_row(gemini, {.fault = "early_401", .plain = {.status = 502, .code = broken, .heard = 0, .kept = 0}, .large = true});
}

BOOST_AUTO_TEST_CASE(answers_that_break_off) {
    for (const auto* fault : {"half_body", "cut_sse=mid_record", "cut_sse=between"})
        check_row(gemini, {.fault = fault, .plain = unknown_end(502, broken), .streamed = in_mid_stream(0)});
    check_row(gemini, {.fault = "sse_error", .plain = asked_again(502, broken), .streamed = in_mid_stream(0)});
    check_row(gemini, {.fault = "huge_body=17", .plain = unknown_end(502, broken)});
}

BOOST_AUTO_TEST_CASE(answers_that_are_no_transcripts) {
    check_row(gemini, {.fault = "html_502", .plain = asked_again(502, broken)});
    for (const auto* fault : {"html_200", "not_json", "no_parts", "recitation"})
        check_row(gemini, {.fault = fault, .plain = once(502, broken)});
    check_row(gemini, {.fault = "blocked", .plain = once(502, broken), .streamed = unknown_end(502, broken)});
    // Half a text is never passed off as a whole one.
    check_row(gemini, {.fault = "max_tokens", .plain = once(502, broken), .streamed = in_mid_stream(1)});
}

BOOST_AUTO_TEST_CASE(refusals_of_the_request_keep_their_status) {
    for (const int status : {400, 409, 415, 422})
        check_row(gemini, {.fault = "status=" + std::to_string(status), .plain = once(status, "invalid_parameter")});
    check_row(gemini, {.fault = "status=404", .plain = once(404, "model_not_found")});
    check_row(gemini, {.fault = "status=413", .plain = once(413, "audio_too_large")});
}

BOOST_AUTO_TEST_CASE(refusals_of_the_operators_key_are_no_fault_of_the_caller) {
    for (const auto* fault : {"status=401", "status=403", "key_invalid"}) check_row(gemini, {.fault = fault, .plain = once(502, broken)});
}

BOOST_AUTO_TEST_CASE(amounts) {
    check_row(gemini, {.fault = "status=429, retry_after=none", .plain = asked_again(429, "rate_limit_exceeded")});
    check_row(gemini, {.fault = "status=429, retry_after=60", .plain = once(429, "rate_limit_exceeded")});
    check_row(gemini, {.fault = "insufficient_quota", .plain = once(429, "insufficient_quota")});
}

BOOST_AUTO_TEST_CASE(failures_of_the_server) {
    for (const int status : {500, 502, 503})
        check_row(gemini, {.fault = "status=" + std::to_string(status), .plain = asked_again(502, broken)});
    for (const int status : {501, 505, 520, 521, 522, 523, 524, 529})
        check_row(gemini, {.fault = "status=" + std::to_string(status), .plain = once(502, broken)});
    for (const int status : {408, 499, 504}) check_row(gemini, {.fault = "status=" + std::to_string(status), .plain = once(504, timeout)});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
