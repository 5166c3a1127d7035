// Every errc as an answer: shape, status, and the headers that tell a client what to do next.
#include "heads.hpp"

#include <http/error_response.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <set>

namespace json = boost::json;
using namespace hearonce;
using namespace hearonce::http;
using namespace std::chrono_literals;

namespace {

json::object inner(const response& answer) {
    return json::parse(*answer.body).at("error").as_object();
}

std::vector<errc> answered() {
    std::vector<errc> all;
    for (int i = 0; i <= static_cast<int>(errc::cancelled); ++i) {
        if (entry_of(static_cast<errc>(i)).status != 0) all.push_back(static_cast<errc>(i));
    }
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(golden) {
    BOOST_TEST(
        error_body(errc::missing_file) ==
        R"({"error":{"message":"The form has no part named 'file'.","type":"invalid_request_error","param":"file","code":"missing_file"}})");
    BOOST_TEST(
        error_body(errc::overloaded) ==
        R"({"error":{"message":"The gateway is overloaded, try again soon.","type":"service_unavailable_error","param":null,"code":"overloaded"}})");
}

BOOST_AUTO_TEST_CASE(all_have_openai_shape) {
    BOOST_TEST(answered().size() >= 25U);
    for (const errc code : answered()) {
        const errc_entry entry = entry_of(code);
        BOOST_TEST_CONTEXT(entry.code) {
            const response answer = error_response(code);
            BOOST_TEST(answer.status == entry.status);
            BOOST_TEST(header_of(answer, "Content-Type") == "application/json");
            BOOST_TEST(header_of(answer, "Cache-Control") == "no-store");
            const auto body = json::parse(*answer.body).as_object();
            BOOST_TEST(body.size() == 1U);
            const auto said = inner(answer);
            BOOST_TEST(said.size() == 4U);
            BOOST_TEST(said.at("message").as_string() == entry.message);
            BOOST_TEST(said.at("type").as_string() == entry.type);
            BOOST_TEST(said.at("code").as_string() == entry.code);
            BOOST_TEST((entry.param.empty() ? said.at("param").is_null() : said.at("param").as_string() == entry.param));
        }
    }
}

BOOST_AUTO_TEST_CASE(own_words_are_escaped) {
    const response answer = error_response(error(errc::invalid_parameter, "bad \"x\"\n\xff", "te\\mp"));
    BOOST_TEST(inner(answer).at("message").as_string() == "bad \"x\"\n\xef\xbf\xbd");
    BOOST_TEST(inner(answer).at("param").as_string() == "te\\mp");
}

BOOST_AUTO_TEST_CASE(retry_after) {
    BOOST_TEST(header_of(error_response(errc::upstream_error), "Retry-After") == "");
    BOOST_TEST(header_of(error_response(error(errc::rate_limit_exceeded).with_retry_after(17s)), "Retry-After") == "17");
    BOOST_TEST(header_of(error_response(error(errc::rate_limit_exceeded).with_retry_after(0s)), "Retry-After") == "1");
    BOOST_TEST(header_of(error_response(error(errc::rate_limit_exceeded).with_retry_after(-5s)), "Retry-After") == "1");
    for (const errc always : {errc::overloaded, errc::draining}) {
        BOOST_TEST(!header_of(error_response(always), "Retry-After").empty());
        BOOST_TEST(header_of(error_response(error(always).with_retry_after(9s)), "Retry-After") == "9");
    }
}

BOOST_AUTO_TEST_CASE(should_retry) {
    const std::set<errc> hopeless{errc::idempotency_conflict, errc::insufficient_quota};
    const std::set<errc> passing{errc::overloaded, errc::draining};
    for (const errc code : answered()) {
        BOOST_TEST_CONTEXT(entry_of(code).code) {
            BOOST_TEST(header_of(error_response(code, false), "x-should-retry") == (hopeless.contains(code) ? "false" : ""));
            BOOST_TEST(header_of(error_response(code, true), "x-should-retry") == (passing.contains(code) ? "" : "false"));
        }
    }
}

BOOST_AUTO_TEST_CASE(an_upstreams_status_is_kept) {
    const response answer = error_response(error(errc::unsupported_value, "no").with_status(422));
    BOOST_TEST(answer.status == 422);
    BOOST_TEST(inner(answer).at("type").as_string() == "invalid_request_error");
    BOOST_TEST(inner(error_response(error(errc::upstream_error, "no").with_status(451))).at("type").as_string() == "invalid_request_error");
    BOOST_TEST(inner(error_response(error(errc::invalid_parameter, "no").with_status(503))).at("type").as_string() == "server_error");
}

BOOST_AUTO_TEST_CASE(method_not_allowed_names_the_methods) {
    const response answer = method_not_allowed("GET, POST");
    BOOST_TEST(answer.status == 405);
    BOOST_TEST(header_of(answer, "Allow") == "GET, POST");
    BOOST_TEST(inner(answer).at("code").as_string() == "method_not_allowed");
}

BOOST_AUTO_TEST_CASE(unauthorized_says_how) {
    BOOST_TEST(header_of(error_response(errc::invalid_api_key), "WWW-Authenticate") == "Bearer");
    BOOST_TEST(header_of(error_response(errc::origin_not_allowed), "WWW-Authenticate") == "");
}

BOOST_AUTO_TEST_CASE(connections_end_where_framing_is_in_doubt) {
    const std::set<errc> ends{errc::invalid_http, errc::request_timeout, errc::header_too_large};
    for (const errc code : answered())
        BOOST_TEST_CONTEXT(entry_of(code).code) BOOST_TEST(error_response(code).close == ends.contains(code));
}

BOOST_AUTO_TEST_CASE(plain_json) {
    const response answer = json_answer(201, "{}");
    BOOST_TEST(answer.status == 201);
    BOOST_TEST(*answer.body == "{}");
    BOOST_TEST(header_of(answer, "Content-Type") == "application/json");
    BOOST_TEST(!answer.close);
}

BOOST_AUTO_TEST_SUITE_END()
