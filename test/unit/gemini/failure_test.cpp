// Every refusal Google is known to make, and what becomes of it.
#define BOOST_TEST_MODULE gemini_failure
#include <boost/test/unit_test.hpp>

#include <backends/gemini/failure.hpp>

#include <boost/json.hpp>

using namespace hearonce;
using namespace hearonce::gemini;
using std::chrono::seconds;

namespace {

constexpr std::string_view key = "AIzaSyA-0123456789-abcdefghijklmnop";

std::string refusal(int code, const std::string& status, const std::string& details = {}, const std::string& message = "why not") {
    return R"({"error":{"code":)" + std::to_string(code) + R"(,"message":")" + message + R"(","status":")" + status + "\"" +
           (details.empty() ? std::string() : R"(,"details":[)" + details + "]") + "}}";
}

std::string detail(const std::string& type, const std::string& members) {
    return R"({"@type":"type.googleapis.com/google.rpc.)" + type + "\"," + members + "}";
}

failed judged(std::uint16_t status, const std::string& body, bool callers = false, const std::string& retry_after = {}) {
    net::http_answer answer;
    answer.status = status;
    if (!retry_after.empty()) answer.headers.push_back({"Retry-After", retry_after});
    return failure_of_answer(answer, body, {callers, key, std::chrono::system_clock::time_point()});
}

std::string summary(const failed& of) {
    const char* remedies[] = {"none", "elsewhere", "again"};
    std::string text = std::string(entry_of(of.why.code()).code) + " " + std::to_string(of.why.status()) + " " +
                       remedies[static_cast<int>(of.why.remedy())];
    if (of.why.retry_after()) text += " " + std::to_string(of.why.retry_after()->count()) + "s";
    return text + (of.log.empty() ? "" : " logged");
}

const std::string html = "<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>";

}  // namespace

BOOST_AUTO_TEST_SUITE(answers)

BOOST_AUTO_TEST_CASE(keys) {
    const std::string invalid =
        refusal(400, "INVALID_ARGUMENT", detail("ErrorInfo", R"("reason":"API_KEY_INVALID","domain":"googleapis.com")"));
    const std::string expired = refusal(400, "INVALID_ARGUMENT", detail("ErrorInfo", R"("reason":"API_KEY_EXPIRED")"));
    for (const auto& [status, body] :
         {std::pair(400, invalid), std::pair(400, expired), std::pair(401, refusal(401, "UNAUTHENTICATED")),
          std::pair(403, refusal(403, "PERMISSION_DENIED")), std::pair(401, html), std::pair(401, std::string())}) {
        BOOST_TEST(summary(judged(static_cast<std::uint16_t>(status), body)) == "upstream_error 502 elsewhere logged");
        BOOST_TEST(summary(judged(static_cast<std::uint16_t>(status), body, true)) == "invalid_api_key 401 none");
    }
    // What a 403 lacks its owner has to know; what a wrong key is called he does not.
    BOOST_TEST(judged(403, refusal(403, "PERMISSION_DENIED"), true).why.message() == "why not");
    BOOST_TEST(judged(400, invalid, true).why.message() == "Incorrect API key provided.");
    BOOST_TEST(judged(403, refusal(403, "PERMISSION_DENIED")).why.message() != "why not");
    // A proxy's page says nothing about a key.
    BOOST_TEST(summary(judged(403, html, true)) == "upstream_error 502 elsewhere logged");
}

BOOST_AUTO_TEST_CASE(a_rate_limit_and_its_pause) {
    const auto info = [](const std::string& delay) {
        return refusal(429, "RESOURCE_EXHAUSTED", detail("RetryInfo", "\"retryDelay\":" + delay));
    };
    BOOST_TEST(summary(judged(429, info("\"17s\""))) == "rate_limit_exceeded 429 again 17s");
    BOOST_TEST(summary(judged(429, info("\"17.2s\""))) == "rate_limit_exceeded 429 again 18s");
    BOOST_TEST(summary(judged(429, info("\"0s\""))) == "rate_limit_exceeded 429 again 0s");
    BOOST_TEST(summary(judged(429, info("\"1e9s\""))) == "rate_limit_exceeded 429 again 86400s");
    for (const char* nonsense : {"\"-1s\"", "\"soon\"", "\"17m\"", "\"17ss\"", "{}", "null", "\"nan\"", "\"inf\"", "\"\""})
        BOOST_TEST(summary(judged(429, info(nonsense))) == "rate_limit_exceeded 429 again", nonsense);
    BOOST_TEST(summary(judged(429, refusal(429, "RESOURCE_EXHAUSTED"))) == "rate_limit_exceeded 429 again");
    BOOST_TEST(summary(judged(429, refusal(429, "RESOURCE_EXHAUSTED"), false, "5")) == "rate_limit_exceeded 429 again 5s");
    // Its own word counts before a proxy's.
    BOOST_TEST(summary(judged(429, info("\"17s\""), false, "5")) == "rate_limit_exceeded 429 again 17s");
    BOOST_TEST(summary(judged(429, html, false, "5")) == "rate_limit_exceeded 429 again 5s");
    BOOST_TEST(judged(429, html).why.message() == "The upstream's rate limit is reached.");
}

BOOST_AUTO_TEST_CASE(a_quota_that_does_not_come_back_soon) {
    const auto violation = [](const std::string& members) {
        return refusal(429, "RESOURCE_EXHAUSTED",
                       detail("QuotaFailure", R"("violations":[{)" + members + "}]") + "," + detail("RetryInfo", R"("retryDelay":"17s")"));
    };
    const std::string day = violation(R"("quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"50")");
    BOOST_TEST(summary(judged(429, day)) == "insufficient_quota 429 elsewhere logged");
    BOOST_TEST(summary(judged(429, day, true)) == "insufficient_quota 429 elsewhere");
    BOOST_TEST(summary(judged(429, violation(R"("quotaId":"GenerateRequestsPerMinute","quotaValue":"0")"))) ==
               "insufficient_quota 429 elsewhere logged");
    BOOST_TEST(summary(judged(429, violation(R"("quotaId":"GenerateRequestsPerMinutePerProjectPerModel","quotaValue":"10")"))) ==
               "rate_limit_exceeded 429 again 17s");
    BOOST_TEST(summary(judged(429, violation(R"("quotaId":7)"))) == "rate_limit_exceeded 429 again 17s");
}

BOOST_AUTO_TEST_CASE(about_the_request) {
    for (const auto status : {400, 415, 422, 451}) {
        const auto got = judged(static_cast<std::uint16_t>(status), refusal(status, "INVALID_ARGUMENT"));
        BOOST_TEST(summary(got) == "invalid_parameter " + std::to_string(status) + " none");
        BOOST_TEST(got.why.message() == "why not");
    }
    BOOST_TEST(summary(judged(400, refusal(400, "FAILED_PRECONDITION"))) == "invalid_parameter 400 elsewhere logged");
    BOOST_TEST(summary(judged(404, refusal(404, "NOT_FOUND"))) == "model_not_found 404 none");
    BOOST_TEST(judged(404, refusal(404, "NOT_FOUND")).why.message() == "why not");
    BOOST_TEST(summary(judged(413, html)) == "audio_too_large 413 none");
    BOOST_TEST(summary(judged(408, html)) == "upstream_timeout 504 none");
    BOOST_TEST(summary(judged(499, refusal(499, "CANCELLED"))) == "upstream_timeout 504 none");
}

BOOST_AUTO_TEST_CASE(the_upstream_s_own) {
    for (const auto status : {500, 502, 503}) {
        BOOST_TEST(summary(judged(static_cast<std::uint16_t>(status), refusal(status, "UNAVAILABLE"))) == "upstream_error 502 again");
        BOOST_TEST(summary(judged(static_cast<std::uint16_t>(status), html)) == "upstream_error 502 again");
    }
    BOOST_TEST(summary(judged(503, refusal(503, "UNAVAILABLE", detail("RetryInfo", R"("retryDelay":"2s")")))) ==
               "upstream_error 502 again 2s");
    BOOST_TEST(summary(judged(504, refusal(504, "DEADLINE_EXCEEDED"))) == "upstream_timeout 504 none");
    BOOST_TEST(summary(judged(501, refusal(501, "UNIMPLEMENTED"))) == "upstream_error 502 elsewhere");
    for (const auto status : {520, 522, 524, 599})
        BOOST_TEST(summary(judged(static_cast<std::uint16_t>(status), html)) == "upstream_error 502 none");
    for (const auto status : {204, 301, 302, 307})
        BOOST_TEST(summary(judged(static_cast<std::uint16_t>(status), html)) == "upstream_error 502 elsewhere logged");
}

BOOST_AUTO_TEST_CASE(what_is_not_json_is_never_told_on) {
    for (const std::string& body : {html, std::string(), std::string("{"), std::string("[]"), std::string("[1]"), std::string("\"x\""),
                                    std::string("{\"error\":\"text\"}"), std::string("{\"message\":\"secret page\"}"),
                                    std::string(100'000, '['), std::string("{\"error\":{\"message\":\"\xff\"}}")}) {
        for (const auto status : {400, 404}) {
            const auto got = judged(static_cast<std::uint16_t>(status), body);
            BOOST_TEST(summary(got) == "upstream_error 502 elsewhere logged");
            BOOST_TEST(std::string(got.why.message()).find("page") == std::string::npos);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_array_as_streams_give_it) {
    BOOST_TEST(summary(judged(404, "[" + refusal(404, "NOT_FOUND") + "]")) == "model_not_found 404 none");
}

BOOST_AUTO_TEST_CASE(no_key_and_no_end_in_a_message) {
    const std::string quoted = refusal(400, "INVALID_ARGUMENT", {}, "bad key '" + std::string(key) + "' in call\\r\\nX: y");
    const std::string message(judged(400, quoted).why.message());
    BOOST_TEST(message.find(key.substr(8, 10)) == std::string::npos, message);
    BOOST_TEST(message.find('\n') == std::string::npos);
    BOOST_TEST(message.find("bad key") != std::string::npos);
    std::string long_text;
    while (long_text.size() < 20'000) long_text += "é";
    const std::string cut(judged(400, refusal(400, "INVALID_ARGUMENT", {}, long_text)).why.message());
    BOOST_TEST(cut.size() <= 1024U);
    BOOST_TEST(cut.size() % 2 == 0U);
}

// Any status with any detail in any shape is an error and nothing worse.
BOOST_AUTO_TEST_CASE(details_of_any_shape) {
    for (const std::string& details : {std::string("1"), std::string("null"), std::string("\"x\""), std::string("{}"), std::string("[]"),
                                       detail("QuotaFailure", R"("violations":{})"), detail("QuotaFailure", R"("violations":[1,null])"),
                                       detail("ErrorInfo", R"("reason":7)"), detail("RetryInfo", R"("x":1)")}) {
        for (std::uint16_t status = 100; status < 600; ++status) {
            const auto got = judged(status, refusal(status, "X", details));
            BOOST_TEST(got.why.status() >= 400);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(records)

BOOST_AUTO_TEST_CASE(within_a_stream) {
    const auto judge = [](const std::string& body) {
        const auto parsed = boost::json::parse(body);
        return summary(failure_of_record(*error_in(parsed), {false, key, {}}));
    };
    BOOST_TEST(judge(refusal(429, "RESOURCE_EXHAUSTED", detail("RetryInfo", R"("retryDelay":"3s")"))) ==
               "rate_limit_exceeded 429 again 3s");
    BOOST_TEST(judge(refusal(503, "UNAVAILABLE")) == "upstream_error 502 again");
    for (const char* odd : {R"({"error":{}})", R"({"error":{"code":"503"}})", R"({"error":{"code":200}})", R"({"error":{"code":70000}})",
                            R"({"error":{"code":-1}})"})
        BOOST_TEST(judge(odd) == "upstream_error 502 none");
}

BOOST_AUTO_TEST_SUITE_END()
