// Who a browser may speak for: origins, hosts, preflights, and what answers say about them.
#define BOOST_TEST_MODULE callers
#include "heads.hpp"

#include <http/browser.hpp>
#include <http/error_response.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace hearonce;
using namespace hearonce::http;
namespace data = boost::unit_test::data;

namespace {

browser_rules rules(std::vector<std::string> origins = {}, std::vector<std::string> names = {}) {
    browser_rules made;
    made.cors_origins = std::move(origins);
    made.host_names = std::move(names);
    return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host)

struct host_case {
    const char* host;
    bool allowed;
};
std::ostream& operator<<(std::ostream& out, const host_case& one) {
    return out << one.host;
}

const host_case hosts[] = {
    {"localhost", true},
    {"LOCALHOST", true},
    {"localhost:8080", true},
    {"localhost.", true},
    {"LocalHost.:8080", true},
    {"localhost:", true},
    {"127.0.0.1", true},
    {"127.0.0.1:8080", true},
    {"127.0.0.1.", true},
    {"192.168.1.4:8080", true},
    {"[::1]", true},
    {"[::1]:8080", true},
    {"[2001:DB8::1]:8080", true},
    {"voice.example", true},
    {"VOICE.example.:443", true},
    {"", false},
    {".", false},
    {":8080", false},
    {"attacker.example", false},
    {"localhost.attacker.example", false},
    {"127.0.0.1.attacker.example", false},
    {"attacker.example:8080", false},
    {"sub.voice.example", false},
    {"localhost..", false},
    {"::1", false},
    {"[::1", false},
    {"[::1]x", false},
    {"[fe80::1%25eth0]", false},
    {"[localhost]", false},
    {"[]", false},
    {"localhost:port", false},
    {"localhost:99999", false},
    {"localhost:1:2", false},
    {"x@localhost", false},
    {"localhost/x", false},
    {"localhost, attacker.example", false},
    {"127.1", false},
    {"0x7f.0.0.1", false},
    {"2130706433", false},
};

BOOST_DATA_TEST_CASE(in_open_mode_on_loopback, data::make(hosts)) {
    const auto checked = check_host(head_with({{"Host", sample.host}}), rules({}, {"voice.example"}));
    BOOST_TEST(checked.has_value() == sample.allowed);
    if (!checked) BOOST_TEST((checked.error().code() == errc::host_not_allowed));
}

BOOST_AUTO_TEST_CASE(names_are_compared_in_normal_form) {
    for (const char* configured : {"Voice.Example", "voice.example.", "voice.example:8080"}) {
        BOOST_TEST(check_host(head_with({{"Host", "voice.example"}}), rules({}, {configured})).has_value());
    }
    BOOST_TEST(!check_host(head_with({{"Host", ""}}), rules({}, {""})).has_value());
}

BOOST_AUTO_TEST_CASE(no_host_or_two) {
    BOOST_TEST(!check_host(head_with({}), rules()).has_value());
    BOOST_TEST(!check_host(head_with({{"Host", "localhost"}, {"host", "localhost"}}), rules()).has_value());
}

BOOST_AUTO_TEST_CASE(only_open_mode_on_loopback_asks) {
    request_head head = head_with({{"Host", "attacker.example"}});
    browser_rules guarded = rules();
    guarded.open = false;
    BOOST_TEST(check_host(head, guarded).has_value());
    head.loopback = false;
    BOOST_TEST(check_host(head, rules()).has_value());
}

BOOST_AUTO_TEST_CASE(normal_form) {
    BOOST_TEST(host_name_of("LocalHost.:8080") == "localhost");
    BOOST_TEST(host_name_of("[::1]:80") == "[::1]");
    BOOST_TEST(host_name_of("a:b") == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(origin)

struct origin_case {
    const char* origin;
    const char* host;
    bool allowed;
};
std::ostream& operator<<(std::ostream& out, const origin_case& one) {
    return out << one.origin << " at " << one.host;
}

const origin_case origins[] = {
    // The Host's own, whatever the proxy did with the scheme.
    {"http://localhost:8080", "localhost:8080", true},
    {"http://LOCALHOST:8080", "localhost.:8080", true},
    {"https://voice.example", "voice.example", true},
    {"https://voice.example", "voice.example:443", true},
    {"http://voice.example:80", "voice.example", true},
    {"http://[::1]:8080", "[::1]:8080", true},
    // Another port, name or scheme is another origin.
    {"http://localhost:3000", "localhost:8080", false},
    {"http://localhost", "localhost:8080", false},
    {"http://127.0.0.1:8080", "localhost:8080", false},
    {"https://voice.example.attacker.example", "voice.example", false},
    {"ftp://localhost:8080", "localhost:8080", false},
    {"localhost:8080", "localhost:8080", false},
    {"://localhost:8080", "localhost:8080", false},
    {"http://localhost:8080@attacker.example", "localhost:8080", false},
    {"http://localhost:8080/path", "localhost:8080", false},
    {"", "localhost:8080", false},
    {"null", "localhost:8080", false},
    {"*", "localhost:8080", false},
    // Listed.
    {"https://app.example", "localhost:8080", true},
    {"https://APP.example:443", "localhost:8080", true},
    {"https://app.example:444", "localhost:8080", false},
    {"http://app.example", "localhost:8080", false},
    {"https://sub.app.example", "localhost:8080", false},
    {"capacitor://localhost", "localhost:8080", true},
    {"chrome-extension://abcdef", "localhost:8080", true},
    {"chrome-extension://other", "localhost:8080", false},
};

BOOST_DATA_TEST_CASE(own_or_listed, data::make(origins)) {
    const auto made = rules({"https://app.example/", "capacitor://localhost", "chrome-extension://abcdef"});
    const auto checked = check_origin(head_with({{"Host", sample.host}, {"Origin", sample.origin}}), made);
    BOOST_TEST(checked.has_value() == sample.allowed);
    if (!checked) BOOST_TEST((checked.error().code() == errc::origin_not_allowed));
}

BOOST_AUTO_TEST_CASE(none_is_no_browser) {
    BOOST_TEST(check_origin(head_with({{"Host", "x"}}), rules()).has_value());
}

BOOST_AUTO_TEST_CASE(the_browser_vouches_for_its_page) {
    const auto sent = [](const char* site) {
        return head_with({{"Host", "inner"}, {"Origin", "https://outer.example"}, {"Sec-Fetch-Site", site}});
    };
    BOOST_TEST(check_origin(sent("same-origin"), rules()).has_value());
    for (const char* site : {"same-site", "cross-site", "none", "", "Same-Origin"}) {
        BOOST_TEST_CONTEXT(site) BOOST_TEST(!check_origin(sent(site), rules()).has_value());
    }
}

BOOST_AUTO_TEST_CASE(null_and_star_are_listed_by_name) {
    const auto from_null = head_with({{"Host", "a"}, {"Origin", "null"}});
    BOOST_TEST(!check_origin(from_null, rules({"https://app.example"})).has_value());
    BOOST_TEST(check_origin(from_null, rules({"null"})).has_value());
    BOOST_TEST(check_origin(from_null, rules({"*"})).has_value());
    BOOST_TEST(check_origin(head_with({{"Host", "a"}, {"Origin", "https://any.example"}}), rules({"*"})).has_value());
}

BOOST_AUTO_TEST_CASE(a_plain_page_of_a_tls_gateway_is_foreign) {
    request_head head = head_with({{"Host", "voice.example"}, {"Origin", "http://voice.example"}});
    BOOST_TEST(check_origin(head, rules()).has_value());
    head.tls = true;
    BOOST_TEST(!check_origin(head, rules()).has_value());
}

BOOST_AUTO_TEST_CASE(two_origins_are_none) {
    const auto head = head_with({{"Host", "a"}, {"Origin", "http://a"}, {"Origin", "http://a"}});
    BOOST_TEST(!check_origin(head, rules({"*"})).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cors)

request_head preflight(std::initializer_list<header> more = {}) {
    request_head head =
        head_with({{"Host", "localhost:8080"}, {"Origin", "https://app.example"}, {"Access-Control-Request-Method", "POST"}});
    head.headers.insert(head.headers.end(), more);
    head.method = "OPTIONS";
    return head;
}

BOOST_AUTO_TEST_CASE(what_a_preflight_is) {
    BOOST_TEST(is_preflight(preflight()));
    request_head other = preflight();
    other.method = "POST";
    BOOST_TEST(!is_preflight(other));
    other = preflight();
    other.headers.pop_back();
    BOOST_TEST(!is_preflight(other));
}

BOOST_AUTO_TEST_CASE(preflight_is_answered_without_a_credential) {
    const auto made = rules({"https://app.example"});
    const response answer =
        preflight_answer(preflight({{"Access-Control-Request-Headers", "authorization,x-device-id"}}), made, "GET, POST");
    BOOST_TEST(answer.status == 204);
    BOOST_TEST(!answer.body);
    BOOST_TEST(header_of(answer, "Access-Control-Allow-Origin") == "https://app.example");
    BOOST_TEST(header_of(answer, "Access-Control-Allow-Methods") == "GET, POST");
    BOOST_TEST(header_of(answer, "Access-Control-Allow-Headers") == "authorization,x-device-id");
    BOOST_TEST(header_of(answer, "Access-Control-Allow-Credentials") == "");
    BOOST_TEST(header_of(answer, "Access-Control-Allow-Private-Network") == "");
    BOOST_TEST(header_of(answer, "Vary") == "Access-Control-Request-Method, Access-Control-Request-Headers|Origin");
}

BOOST_AUTO_TEST_CASE(preflight_details) {
    const auto made = rules({"https://app.example"});
    BOOST_TEST(header_of(preflight_answer(preflight(), made, "GET"), "Access-Control-Allow-Headers") == "");
    for (const char* odd : {"a\x01", "a: b", "\"x\"", "caf\xc3\xa9", ""}) {
        BOOST_TEST(header_of(preflight_answer(preflight({{"Access-Control-Request-Headers", odd}}), made, "GET"),
                             "Access-Control-Allow-Headers") == "");
    }
    const auto near = preflight({{"Access-Control-Request-Private-Network", "true"}});
    BOOST_TEST(header_of(preflight_answer(near, made, "GET"), "Access-Control-Allow-Private-Network") == "true");
}

BOOST_AUTO_TEST_CASE(errors_carry_cors_headers_too) {
    response answer = error_response(errc::audio_too_large);
    add_cors(answer, head_with({{"Host", "a"}, {"Origin", "https://app.example"}}), rules({"https://app.example"}));
    BOOST_TEST(header_of(answer, "Access-Control-Allow-Origin") == "https://app.example");
    BOOST_TEST(header_of(answer, "Access-Control-Expose-Headers") ==
               "X-Request-Id, X-Audio-Sha256, Cache-Status, Server-Timing, Retry-After");
    BOOST_TEST(header_of(answer, "Vary") == "Origin");
}

BOOST_AUTO_TEST_CASE(cors_headers_are_said_once) {
    const auto made = rules({"https://app.example"});
    response answer = preflight_answer(preflight(), made, "GET");
    const std::size_t headers = answer.headers.size();
    add_cors(answer, preflight(), made);
    BOOST_TEST(answer.headers.size() == headers);
}

BOOST_AUTO_TEST_CASE(foreign_origins_are_told_nothing) {
    response answer = error_response(errc::origin_not_allowed);
    add_cors(answer, head_with({{"Host", "a"}, {"Origin", "https://attacker.example"}}), rules({"https://app.example"}));
    BOOST_TEST(header_of(answer, "Access-Control-Allow-Origin") == "");
    BOOST_TEST(header_of(answer, "Access-Control-Expose-Headers") == "");
    BOOST_TEST(header_of(answer, "Vary") == "Origin");
}

BOOST_AUTO_TEST_CASE(vary_where_the_origin_could_have_mattered) {
    response plain;
    add_cors(plain, head_with({{"Host", "a"}}), rules());
    BOOST_TEST(plain.headers.empty());
    response listed;
    add_cors(listed, head_with({{"Host", "a"}}), rules({"https://app.example"}));
    BOOST_TEST(header_of(listed, "Vary") == "Origin");
    BOOST_TEST(listed.headers.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
