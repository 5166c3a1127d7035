// Whatever OpenAI's API, or what stands before it, may do: what callers are told and how often it is asked.
#include "fault_row.hpp"

using namespace hearonce::test;

namespace {

const fault_table openai{api::openai, "whisper-1", "gpt-4o-transcribe"};

constexpr auto timeout = "upstream_timeout";
constexpr auto broken = "upstream_error";

// A part of the answer came, or none came to a request that was sent whole: the work may be done, and is not asked for again.
outcome unknown_end(int status, const char* code, unsigned kept = 0) {
    return {.status = status, .code = code, .kept = kept};
}
// Refused or failed before any work: asked three times, over one connection.
outcome asked_again(int status, const char* code) {
    return {.status = status, .code = code, .calls = 3, .heard = 3};
}
outcome once(int status, const char* code) {
    return {.status = status, .code = code};
}
outcome in_mid_stream() {
    return {.code = broken, .kept = 0, .in_band = true};
}

BOOST_AUTO_TEST_SUITE(openai_faults)

BOOST_AUTO_TEST_CASE(calls_that_go_well) {
    for (const auto* fault : {"none", "delay=30ms", "pace=5ms"}) check_row(openai, {.fault = fault});
    check_row(openai, {.fault = "idle_close", .plain = {.kept = 0}});
    // Processed audio without a text is served; whether it is a fault nobody knows, so it is asked for again.
    check_row(openai, {.fault = "empty_text", .plain = {.stored = false}});
}

BOOST_AUTO_TEST_CASE(answers_that_do_not_come) {
    for (const auto* fault : {"hang", "drip=40ms"}) check_row(openai, {.fault = fault, .plain = unknown_end(504, timeout), .slow = true});
    for (const auto* fault : {"reset=after_body", "reset=after_head"})
        check_row(openai, {.fault = fault, .plain = unknown_end(502, broken)});
}

BOOST_AUTO_TEST_CASE(uploads_that_are_cut_off) {
    // Without its whole body nobody can have done the work.
    check_row(openai,
              {.fault = "reset=before_body", .plain = {.status = 502, .code = broken, .calls = 3, .heard = 0, .kept = 0}, .large = true});
    check_row(openai, {.fault = "early_401", .plain = {.status = 502, .code = broken, .heard = 0, .kept = 0}, .large = true});
}

BOOST_AUTO_TEST_CASE(answers_that_break_off) {
    for (const auto* fault : {"half_body", "cut_sse=mid_record", "cut_sse=between"})
        check_row(openai, {.fault = fault, .plain = unknown_end(502, broken), .streamed = in_mid_stream()});
    check_row(openai, {.fault = "sse_error", .plain = asked_again(502, broken), .streamed = in_mid_stream()});
    check_row(openai, {.fault = "huge_body=17", .plain = unknown_end(502, broken)});
}

BOOST_AUTO_TEST_CASE(answers_that_are_no_transcripts) {
    check_row(openai, {.fault = "html_502", .plain = asked_again(502, broken)});
    for (const auto* fault : {"html_200", "not_json"}) check_row(openai, {.fault = fault, .plain = once(502, broken)});
}

BOOST_AUTO_TEST_CASE(refusals_of_the_request_keep_their_status) {
    for (const int status : {400, 409, 415, 422})
        check_row(openai, {.fault = "status=" + std::to_string(status), .plain = once(status, "invalid_parameter")});
    check_row(openai, {.fault = "status=404", .plain = once(404, "model_not_found")});
    check_row(openai, {.fault = "status=413", .plain = once(413, "audio_too_large")});
}

BOOST_AUTO_TEST_CASE(refusals_of_the_operators_key_are_no_fault_of_the_caller) {
    for (const auto* fault : {"status=401", "status=403", "key_invalid"}) check_row(openai, {.fault = fault, .plain = once(502, broken)});
}

BOOST_AUTO_TEST_CASE(amounts) {
    check_row(openai, {.fault = "status=429", .plain = asked_again(429, "rate_limit_exceeded")});
    check_row(openai, {.fault = "status=429, retry_after=60", .plain = once(429, "rate_limit_exceeded")});
    check_row(openai, {.fault = "insufficient_quota", .plain = once(429, "insufficient_quota")});
}

BOOST_AUTO_TEST_CASE(failures_of_the_server) {
    for (const int status : {500, 502, 503})
        check_row(openai, {.fault = "status=" + std::to_string(status), .plain = asked_again(502, broken)});
    for (const int status : {501, 505, 520, 521, 523, 529})
        check_row(openai, {.fault = "status=" + std::to_string(status), .plain = once(502, broken)});
    for (const int status : {408, 504, 522, 524})
        check_row(openai, {.fault = "status=" + std::to_string(status), .plain = once(504, timeout)});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
