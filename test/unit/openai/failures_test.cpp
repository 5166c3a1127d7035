// Every row of the table of refusals, every stage at which a call can fail, and that no key is ever quoted.
#define BOOST_TEST_MODULE openai_failures
#include <boost/test/unit_test.hpp>

#include <backends/cloud/quoted_message.hpp>
#include <backends/openai/failures.hpp>
#include <backends/openai/refusal.hpp>
#include <net/retry_after.hpp>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

using namespace hearonce;
using namespace hearonce::cloud;
using namespace hearonce::openai;
using hearonce::net::call_stage;
using std::chrono::seconds;

namespace {

using statuses = std::initializer_list<std::uint16_t>;
const std::string key = "sk-proj-0123456789abcdefghij";
const std::chrono::system_clock::time_point now{seconds(784111777)};  // Sun, 06 Nov 1994 08:49:37 GMT

net::http_answer answer(std::uint16_t status, std::string body, std::vector<net::http_header> headers = {}) {
    net::http_answer made;
    made.status = status;
    made.headers = std::move(headers);
    made.body = std::move(body);
    return made;
}

std::string said(const std::string& message, const std::string& type = "invalid_request_error", const std::string& param = {},
                 const std::string& code = {}) {
    boost::json::object inner{{"message", message}, {"type", type}, {"param", nullptr}, {"code", nullptr}};
    if (!param.empty()) inner["param"] = param;
    if (!code.empty()) inner["code"] = code;
    return boost::json::serialize(boost::json::object{{"error", inner}});
}

failed failed_with(const net::http_answer& got, bool callers_key = false) {
    failed made = error_of_answer(got, {callers_key, key, now});
    BOOST_TEST(made.why.upstream_status() == got.status);
    BOOST_TEST(std::string(made.why.message()).find("0123456789") == std::string::npos);
    BOOST_TEST(std::string(made.why.param()).find("0123456789") == std::string::npos);
    BOOST_TEST(made.log.find("0123456789") == std::string::npos);
    return made;
}

error why(std::uint16_t status, const std::string& body, bool callers_key = false) {
    return failed_with(answer(status, body), callers_key).why;
}

net::call_failure broken(call_stage stage) {
    net::call_failure made;
    made.stage = stage;
    made.message = "internal: 10.0.0.7:443";
    return made;
}

std::optional<seconds> pause(std::vector<net::http_header> headers) {
    return net::retry_after(answer(429, "", std::move(headers)), now);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(about_the_request)

// Bodies as users have quoted them.
BOOST_AUTO_TEST_CASE(keeps_status_message_and_param) {
    struct row {
        std::uint16_t status;
        std::string body;
        errc code;
        std::string message;
        std::string param;
    };
    const row rows[] = {
        {400, said("Audio file is too short. Minimum audio length is 0.1 seconds.", "invalid_request_error", "file", "audio_too_short"),
         errc::audio_too_short, "Audio file is too short. Minimum audio length is 0.1 seconds.", "file"},
        {400,
         said("response_format 'srt' is not compatible with model 'gpt-4o-transcribe-api-ev3'. Use 'json' or 'text' instead.",
              "invalid_request_error", "response_format", "unsupported_value"),
         errc::unsupported_value,
         "response_format 'srt' is not compatible with model 'gpt-4o-transcribe-api-ev3'. Use 'json' or 'text' instead.",
         "response_format"},
        {400, said("Invalid file format. Supported formats: ['flac', 'm4a']"), errc::unsupported_audio,
         "Invalid file format. Supported formats: ['flac', 'm4a']", ""},
        {400, said("The audio file could not be decoded or its format is not supported."), errc::unsupported_audio,
         "The audio file could not be decoded or its format is not supported.", ""},
        {400, said("Audio file might be corrupted or unsupported"), errc::unsupported_audio, "Audio file might be corrupted or unsupported",
         ""},
        {400, said("This model does not support the format you provided.", "invalid_request_error", "messages", "unsupported_format"),
         errc::unsupported_audio, "This model does not support the format you provided.", "messages"},
        {400,
         said("audio duration 1830.53 seconds is longer than 1400 seconds which is the maximum for this model", "invalid_request_error", "",
              "invalid_value"),
         errc::invalid_parameter, "audio duration 1830.53 seconds is longer than 1400 seconds which is the maximum for this model", ""},
        {422, R"({"detail":[{"loc":["body","file"],"msg":"field required","type":"x"}]})", errc::invalid_parameter, "field required", ""},
        {400, R"({"detail":"bad file"})", errc::invalid_parameter, "bad file", ""},
        {400, R"({"error":"bad file"})", errc::invalid_parameter, "bad file", ""},
        {400, R"({"object":"error","message":"bad file","type":"BadRequestError","param":null,"code":400})", errc::invalid_parameter,
         "bad file", ""},
        {415, said("no such type"), errc::invalid_parameter, "no such type", ""},
        {409, said("locked"), errc::invalid_parameter, "locked", ""},
        {400, "{}", errc::invalid_parameter, "A field or header has an invalid value.", ""},
        {400, R"({"error":{"message":5,"param":["x"],"code":{}}})", errc::invalid_parameter, "A field or header has an invalid value.",
         ""}};
    for (const auto& [status, body, code, message, param] : rows) {
        BOOST_TEST_CONTEXT(body) {
            const auto got = why(status, body);
            BOOST_TEST(got.status() == status);
            BOOST_TEST((got.code() == code));
            BOOST_TEST(got.message() == message);
            if (!param.empty()) BOOST_TEST(got.param() == param);
            BOOST_TEST((got.remedy() == remedy::none));
        }
    }
}

BOOST_AUTO_TEST_CASE(unknown_models) {
    const auto openai =
        why(404, said("The model `x` does not exist or you do not have access to it.", "invalid_request_error", "", "model_not_found"));
    BOOST_TEST((openai.code() == errc::model_not_found));
    BOOST_TEST(openai.message() == "The model `x` does not exist or you do not have access to it.");
    BOOST_TEST(openai.param() == "model");
    BOOST_TEST((why(404, R"({"detail":"Model 'x' is not installed locally."})").code() == errc::model_not_found));
}

BOOST_AUTO_TEST_CASE(a_path_that_is_not_there_is_the_operators_matter) {
    const std::string bodies[] = {R"({"detail":"Not Found"})", said("Invalid URL (POST /v1/v1/audio/transcriptions)")};
    for (const std::string& body : bodies) {
        const auto got = failed_with(answer(404, body));
        BOOST_TEST(got.why.status() == 502);
        BOOST_TEST((got.why.remedy() == remedy::elsewhere));
        BOOST_TEST(got.log.find("base_url") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(too_large) {
    const auto got = why(413, said("Maximum content size limit (26214400) exceeded (222592852 bytes read)", "server_error"));
    BOOST_TEST(got.status() == 413);
    BOOST_TEST((got.code() == errc::audio_too_large));
    BOOST_TEST(got.message() == "Maximum content size limit (26214400) exceeded (222592852 bytes read)");
    const auto proxy = why(413, "<html>nginx</html>");
    BOOST_TEST(proxy.status() == 413);
    BOOST_TEST(proxy.message() == entry_of(errc::audio_too_large).message);
}

BOOST_AUTO_TEST_CASE(what_is_not_json_is_never_told) {
    for (const std::uint16_t status : statuses{400, 404, 405, 422}) {
        for (const std::string body : {"<html><b>Bad</b></html>", "Invalid request", "", "[]", "\"x\"", "{\"error\":"}) {
            const auto got = failed_with(answer(status, body));
            BOOST_TEST(got.why.status() == 502);
            BOOST_TEST(got.why.message() == "The backend refused the request without a readable reason.");
            BOOST_TEST((got.why.remedy() == remedy::elsewhere));
            BOOST_TEST(got.log.find("Bad") == std::string::npos);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(about_whoever_pays)

BOOST_AUTO_TEST_CASE(refused_keys) {
    for (const std::uint16_t status : statuses{401, 403}) {
        for (const std::string& body : {said("Incorrect API key provided: " + key + "."), std::string("<html>"), std::string()}) {
            const auto operators = failed_with(answer(status, body));
            BOOST_TEST(operators.why.status() == 502);
            BOOST_TEST((operators.why.code() == errc::upstream_error));
            BOOST_TEST((operators.why.remedy() == remedy::elsewhere));
            BOOST_TEST(operators.log.find("refuses the configured key (status " + std::to_string(status) + ")") == 13U, operators.log);
            const auto callers = failed_with(answer(status, body), true);
            BOOST_TEST(callers.why.status() == 401);
            BOOST_TEST((callers.why.code() == errc::invalid_api_key));
            BOOST_TEST((callers.why.remedy() == remedy::none));
            BOOST_TEST(callers.log.empty());
        }
    }
    BOOST_TEST(why(403, said("Country, region, or territory not supported"), true).message() ==
               "Country, region, or territory not supported");
    BOOST_TEST(why(401, said("whatever it says"), true).message() == "Incorrect API key provided.");
}

BOOST_AUTO_TEST_CASE(rate_limits) {
    const auto got = failed_with(answer(
        429,
        said("Rate limit reached for whisper-1 in organization org-abcdefgh on requests per min.", "requests", "", "rate_limit_exceeded"),
        {{"Retry-After", "20"}}));
    BOOST_TEST(got.why.status() == 429);
    BOOST_TEST((got.why.code() == errc::rate_limit_exceeded));
    BOOST_TEST(got.why.message() == "Rate limit reached for whisper-1 in organization *** on requests per min.");
    BOOST_TEST((got.why.retry_after() == seconds(20)));
    BOOST_TEST((got.why.remedy() == remedy::again));
    const auto bare = why(429, "<html>");
    BOOST_TEST((bare.code() == errc::rate_limit_exceeded));
    BOOST_TEST(bare.message() == entry_of(errc::rate_limit_exceeded).message);
    BOOST_TEST(!bare.retry_after().has_value());
}

BOOST_AUTO_TEST_CASE(money) {
    for (const std::string code :
         {"insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
          "organization_usage_limit_exceeded", "billing_hard_limit_reached", "billing_not_active"}) {
        for (const auto& body : {said("pay", "insufficient_quota", "", code), said("pay", code), said("pay", "x", "", code)}) {
            for (const std::uint16_t status : statuses{429, 400}) {
                const auto got = failed_with(answer(status, body, {{"Retry-After", "20"}}));
                BOOST_TEST(got.why.status() == 429);
                BOOST_TEST((got.why.code() == errc::insufficient_quota));
                BOOST_TEST((got.why.remedy() == remedy::elsewhere));
                BOOST_TEST(!got.why.retry_after().has_value(), "no waiting helps");
                BOOST_TEST(!got.log.empty());
                BOOST_TEST(failed_with(answer(status, body), true).log.empty());
            }
        }
    }
    BOOST_TEST((why(402, said("pay")).code() == errc::insufficient_quota));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(about_the_upstream)

BOOST_AUTO_TEST_CASE(each_status) {
    struct row {
        std::uint16_t status, given;
        remedy after;
    };
    const row rows[] = {{500, 502, remedy::again},     {502, 502, remedy::again},     {503, 502, remedy::again},
                        {408, 504, remedy::none},      {504, 504, remedy::none},      {520, 502, remedy::none},
                        {521, 502, remedy::none},      {522, 504, remedy::none},      {523, 502, remedy::none},
                        {524, 504, remedy::none},      {501, 502, remedy::elsewhere}, {505, 502, remedy::elsewhere},
                        {525, 502, remedy::elsewhere}, {526, 502, remedy::elsewhere}, {529, 502, remedy::elsewhere},
                        {530, 502, remedy::elsewhere}, {507, 502, remedy::none},      {599, 502, remedy::none},
                        {301, 502, remedy::elsewhere}, {307, 502, remedy::elsewhere}, {304, 502, remedy::elsewhere}};
    for (const auto& [status, given, after] : rows) {
        BOOST_TEST_CONTEXT(status) {
            for (const std::string& body :
                 {std::string("<html>secret host</html>"), said("internal matters", "server_error"), std::string()}) {
                const auto got = why(status, body);
                BOOST_TEST(got.status() == given);
                BOOST_TEST((got.remedy() == after));
                BOOST_TEST(std::string(got.message()).find("secret") == std::string::npos);
                BOOST_TEST(std::string(got.message()).find("internal") == std::string::npos);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(overloaded_says_when) {
    const auto got =
        failed_with(answer(503, said("busy", "service_unavailable_error", "", "server_is_overloaded"), {{"Retry-After", "3"}}));
    BOOST_TEST((got.why.retry_after() == seconds(3)));
    BOOST_TEST(got.why.message() == "The backend failed with status 503.");
}

BOOST_AUTO_TEST_CASE(calls_that_broke) {
    struct row {
        call_stage stage;
        bool timed_out;
        errc code;
        remedy after;
    };
    const row rows[] = {{call_stage::connecting, false, errc::upstream_error, remedy::again},
                        {call_stage::connecting, true, errc::upstream_timeout, remedy::again},
                        {call_stage::sending, false, errc::upstream_error, remedy::again},
                        {call_stage::sending, true, errc::upstream_timeout, remedy::none},
                        {call_stage::waiting, false, errc::upstream_error, remedy::none},
                        {call_stage::waiting, true, errc::upstream_timeout, remedy::none},
                        {call_stage::receiving, false, errc::upstream_error, remedy::none},
                        {call_stage::receiving, true, errc::upstream_timeout, remedy::none}};
    for (const auto& [stage, timed_out, code, after] : rows) {
        auto failure = broken(stage);
        failure.timed_out = timed_out;
        const auto got = failure_of_call(failure);
        BOOST_TEST((got.why.code() == code));
        BOOST_TEST((got.why.remedy() == after));
        BOOST_TEST(std::string(got.why.message()).find("10.0.0.7") == std::string::npos);
        BOOST_TEST(got.log.find("10.0.0.7") != std::string::npos);
    }
    auto distrusted = broken(call_stage::connecting);
    distrusted.distrusted = true;
    BOOST_TEST((failure_of_call(distrusted).why.remedy() == remedy::elsewhere));
    auto cancelled = broken(call_stage::waiting);
    cancelled.cancelled = true;
    BOOST_TEST((failure_of_call(cancelled).why.code() == errc::cancelled));
    BOOST_TEST(failure_of_call(cancelled).log.empty());
    for (bool net::call_failure::* flag : {&net::call_failure::body_failed, &net::call_failure::unsendable}) {
        auto own = broken(call_stage::sending);
        own.*flag = true;
        BOOST_TEST((failure_of_call(own).why.code() == errc::internal_error));
        BOOST_TEST((failure_of_call(own).why.remedy() == remedy::none));
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(pauses)

BOOST_AUTO_TEST_CASE(both_headers) {
    BOOST_TEST(!pause({}).has_value());
    const std::pair<std::string, int> texts[] = {{"0", 0},
                                                 {"7", 7},
                                                 {"1.2", 2},
                                                 {"86400", 86400},
                                                 {"86401", 86400},
                                                 {"1e300", 86400},
                                                 {"-1", -1},
                                                 {"", -1},
                                                 {"x", -1},
                                                 {"7 s", -1},
                                                 {"nan", -1},
                                                 {"inf", 86400},
                                                 {"Sun, 06 Nov 1994 08:50:07 GMT", 30},
                                                 {"Sun, 06 Nov 1994 08:49:37 GMT", 0},
                                                 {"Sat, 05 Nov 1994 08:49:37 GMT", 0},
                                                 {"Sun, 06 Nov 2094 08:49:37 GMT", 86400},
                                                 {"Fri, 31 Dec 9999 23:59:59 GMT", 86400},
                                                 {"Sat, 01 Jan 0000 00:00:00 GMT", 0},
                                                 {"Sun, 31 Feb 1995 08:49:37 GMT", -1},
                                                 {"Sun, 06 Nox 1994 08:50:07 GMT", -1},
                                                 {"Sun, 06 Nov 1994 24:50:07 GMT", -1},
                                                 {"Sun, 06 Nov 1994 08:60:07 GMT", -1},
                                                 {"Sun, 06 Nov 1994 08:50:61 GMT", -1},
                                                 {"Sun, 06 Nov 1994 08:50:07 CET", -1},
                                                 {"Sunday, 06-Nov-94 08:49:37 GMT", -1},
                                                 {"Sun, -6 Nov 1994 08:50:07 GMT", -1}};
    for (const auto& [text, expected] : texts) {
        const auto got = pause({{"retry-after", text}});
        BOOST_TEST(got.value_or(seconds(-1)).count() == expected, text);
    }
    BOOST_TEST((pause({{"Retry-After", "7"}, {"Retry-After-Ms", "1500"}}) == seconds(2)));
    BOOST_TEST((pause({{"Retry-After", "7"}, {"Retry-After-Ms", "x"}}) == seconds(7)));
    BOOST_TEST((pause({{"retry-after-ms", "1000"}}) == seconds(1)));
    // A fraction of a second goes on.
    auto between =
        net::retry_after(answer(429, "", {{"Retry-After", "Sun, 06 Nov 1994 08:49:38 GMT"}}), now + std::chrono::milliseconds(400));
    BOOST_TEST((between == seconds(1)));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(quoting)

BOOST_AUTO_TEST_CASE(nothing_of_a_key) {
    const std::pair<std::string, std::string> rows[] = {
        {"fine words, (all) of 'them'", "fine words, (all) of 'them'"},
        {"key=" + key + ".", "key=***"},
        {"'" + key + "'", "'***'"},
        {"ends with ...cdefghij", "ends with ***"},
        {"ends with ...defghij", "ends with ...defghij"},
        {"sk-proj-****************ghij is wrong", "*** is wrong"},
        {"sk-another1 org-12345678 proj_1234567 gsk_1234567 AIza1234567", "*** *** *** *** ***"},
        {"sk-a org- user", "sk-a org- user"},
        {"****", "***"},
        {"two\r\nlines\tand\x7f", "two  lines and "},
        {"", ""}};
    for (const auto& [given, told] : rows) BOOST_TEST(quoted_message(given, key) == told);
    BOOST_TEST(quoted_message("a short abc key", "abc") == "a short *** key");
    BOOST_TEST(quoted_message("no key", "") == "no key");
}

BOOST_AUTO_TEST_CASE(bounded_between_characters) {
    BOOST_TEST(quoted_message(std::string(message_bytes_max, 'a'), key).size() == message_bytes_max);
    BOOST_TEST(quoted_message(std::string(message_bytes_max + 1, 'a'), key).size() == message_bytes_max);
    std::string umlauts;
    for (std::size_t i = 0; i < message_bytes_max; ++i) umlauts += "\xC3\xA4";
    BOOST_TEST(quoted_message(umlauts, key) == umlauts.substr(0, message_bytes_max));
    BOOST_TEST(quoted_message("x" + umlauts, key) == ("x" + umlauts).substr(0, message_bytes_max - 1));
    // A key across the bound is gone as well.
    for (std::size_t before = message_bytes_max - key.size(); before < message_bytes_max + 4; ++before) {
        const auto told = quoted_message(std::string(before, 'a') + " " + key, key);
        BOOST_TEST(told.find("01234567") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(a_key_anywhere_in_a_long_body_is_gone) {
    for (std::size_t before : {std::size_t(0), 4 * message_bytes_max - 20, 4 * message_bytes_max - 1, 4 * message_bytes_max}) {
        BOOST_TEST(quoted_message(std::string(before, ' ') + key, key).find("0123") == std::string::npos);
    }
    BOOST_TEST(refusal_of(said("x", "x", "the param " + key), key).param == "the param ***");
    BOOST_TEST(refusal_of(said("x", "x", std::string(65, 'p')), key).param.empty());
    BOOST_TEST(refusal_of(said("x", "x", std::string(64, 'p')), key).param.size() == 64U);
}

BOOST_AUTO_TEST_SUITE_END()
