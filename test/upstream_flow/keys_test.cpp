// Whose key an upstream sees, as the requests that reach it show.
#include "clouds.hpp"

#include <support/scratch.hpp>

using namespace hearonce;
using namespace hearonce::test;

namespace {

const std::string bearer_key = "sk-bearer-0123456789";
const std::string openai_key = "sk-openai-0123456789";
const std::string gemini_key = "AIza-gemini-0123456789";

std::string bearer(const std::string& key = bearer_key) {
    return "Authorization: Bearer " + key + "\r\n";
}

// The key a request to a double carried; "none" for none.
std::string key_of(const upstream::seen_request& one) {
    const auto* authorization = one.header("authorization");
    const auto* google = one.header("x-goog-api-key");
    BOOST_TEST((authorization == nullptr || google == nullptr));
    if (google != nullptr) return "google " + *google;
    return authorization != nullptr ? *authorization : "none";
}

// Whether any header of any request holds it.
bool saw(const double_server& server, std::string_view text) {
    const auto seen = server.seen();
    for (const auto& one : seen.last) {
        if (one.query.find(text) != std::string::npos || one.path.find(text) != std::string::npos) return true;
        for (const auto& header : one.headers) {
            if (header.value.find(text) != std::string::npos) return true;
        }
    }
    return false;
}

struct keyed_clouds {
    explicit keyed_clouds(app::auth_mode mode) {
        auto one = cloud("first", api::openai, openai.url());
        auto other = cloud("second", api::gemini, gemini.url());
        one.model_alias = {{"both", "whisper-1"}, {"turned", "whisper-1"}};
        other.model_alias = {{"both", "gemini-2.5-flash"}, {"turned", "gemini-2.5-flash"}};
        wanted = quick_settings({one, other});
        wanted.routes = {{"both", {"first", "second"}}, {"turned", {"second", "first"}}};
        wanted.auth.mode = mode;
    }
    double_server openai;
    double_server gemini;
    app::settings wanted;
};

raw_answer ask(const cloud_gateway& gateway, const std::string& model_name, const std::string& headers, unsigned seed = 1) {
    return post(gateway.port, transcriptions, upload(wav(seed), model(model_name)), headers);
}

BOOST_AUTO_TEST_SUITE(keys)

BOOST_AUTO_TEST_CASE(the_operators_key_goes_out_in_each_providers_way) {
    const keyed_clouds clouds(app::auth_mode::open);
    const cloud_gateway gateway(clouds.wanted);
    text_in(ask(gateway, "both", bearer() + "x-goog-api-key: " + gemini_key + "\r\n"));
    text_in(ask(gateway, "turned", bearer() + "api-key: " + openai_key + "\r\n", 2));
    BOOST_TEST(key_of(clouds.openai.seen().last.at(0)) == "Bearer " + operators_key);
    BOOST_TEST(key_of(clouds.gemini.seen().last.at(0)) == "google " + operators_key);
    for (const auto* server : {&clouds.openai, &clouds.gemini}) {
        for (const auto& key : {bearer_key, openai_key, gemini_key}) BOOST_TEST(!saw(*server, key));
    }
}

BOOST_AUTO_TEST_CASE(each_providers_key_goes_to_it_alone) {
    keyed_clouds clouds(app::auth_mode::own_key);
    const cloud_gateway gateway(clouds.wanted);
    const auto headers = "api-key: " + openai_key + "\r\nx-goog-api-key: " + gemini_key + "\r\n";
    text_in(ask(gateway, "both", headers));
    text_in(ask(gateway, "turned", headers, 2));
    clouds.openai.always("status=503");
    text_in(ask(gateway, "both", headers, 3));
    clouds.openai.always("none");
    clouds.gemini.always("status=503");
    text_in(ask(gateway, "turned", headers, 4));
    for (const auto& one : clouds.openai.seen().last) BOOST_TEST(key_of(one) == "Bearer " + openai_key);
    for (const auto& one : clouds.gemini.seen().last) BOOST_TEST(key_of(one) == "google " + gemini_key);
    BOOST_TEST(clouds.openai.seen().calls == 5u);
    BOOST_TEST(clouds.gemini.seen().calls == 5u);
    for (const auto* server : {&clouds.openai, &clouds.gemini}) BOOST_TEST(!saw(*server, operators_key));
}

BOOST_AUTO_TEST_CASE(a_bearer_goes_to_the_first_backend_and_no_further) {
    keyed_clouds clouds(app::auth_mode::own_key);
    const cloud_gateway gateway(clouds.wanted);
    clouds.openai.always("status=503");
    clouds.gemini.always("status=503");
    BOOST_TEST(ask(gateway, "both", bearer()).status == 502);
    BOOST_TEST(clouds.gemini.seen().connections_accepted == 0u);
    BOOST_TEST(ask(gateway, "turned", bearer("AIza-bearer"), 2).status == 502);
    BOOST_TEST(!saw(clouds.openai, "AIza-bearer"));
    for (const auto& one : clouds.openai.seen().last) BOOST_TEST(key_of(one) == "Bearer " + bearer_key);
    for (const auto& one : clouds.gemini.seen().last) BOOST_TEST(key_of(one) == "google AIza-bearer");
}

BOOST_AUTO_TEST_CASE(a_key_of_the_callers_that_is_refused_is_the_callers_matter) {
    for (const auto* name : {"both", "turned"}) {
        keyed_clouds clouds(app::auth_mode::own_key);
        const cloud_gateway gateway(clouds.wanted);
        clouds.openai.always("key_invalid");
        clouds.gemini.always("key_invalid");
        const auto answer = ask(gateway, name, bearer());
        BOOST_TEST(answer.status == 401);
        BOOST_TEST(code_in(answer.body) == "invalid_api_key");
        BOOST_TEST(clouds.openai.seen().calls + clouds.gemini.seen().calls == 1u);
    }
}

BOOST_AUTO_TEST_CASE(callers_with_equal_uploads_and_different_keys_are_different_calls) {
    const keyed_clouds clouds(app::auth_mode::own_key);
    const cloud_gateway gateway(clouds.wanted);
    const auto answers = at_once(16, [&](std::size_t i) { return ask(gateway, "both", bearer("sk-caller-" + std::to_string(i % 4))); });
    for (const auto& one : answers) BOOST_TEST(text_in(one) == heard_in(wav()));
    BOOST_TEST(clouds.openai.seen().of(sha256_of(wav())) == 4u);
}

BOOST_AUTO_TEST_CASE(a_token_of_the_gateways_own_never_goes_upstream) {
    const scratch folder;
    const std::string token = "ho-token-0123456789abcdef";
    static constexpr char digits[] = "0123456789abcdef";
    std::string hex;
    for (const auto byte : sha256_of(token)) {
        hex += digits[std::to_integer<unsigned>(byte) >> 4U];
        hex += digits[std::to_integer<unsigned>(byte) & 15U];
    }
    keyed_clouds clouds(app::auth_mode::tokens);
    clouds.wanted.auth.tokens_file = folder.write("tokens", "phone:" + hex + "\n");
    const cloud_gateway gateway(clouds.wanted);
    text_in(ask(gateway, "both", bearer(token)));
    clouds.openai.always("status=503");
    text_in(ask(gateway, "both", bearer(token), 2));
    BOOST_TEST(ask(gateway, "both", bearer("ho-token-of-nobody"), 3).status == 401);
    BOOST_TEST(clouds.openai.seen().calls == 4u);
    BOOST_TEST(clouds.gemini.seen().calls == 1u);
    for (const auto* server : {&clouds.openai, &clouds.gemini}) BOOST_TEST(!saw(*server, "ho-token"));
    for (const auto& one : clouds.openai.seen().last) BOOST_TEST(key_of(one) == "Bearer " + operators_key);
}

BOOST_AUTO_TEST_CASE(no_key_is_told_to_anybody_whatever_goes_wrong) {
    captured_log log;
    std::string told;
    {
        keyed_clouds clouds(app::auth_mode::own_key);
        const cloud_gateway gateway(clouds.wanted);
        const auto headers = bearer() + "api-key: " + openai_key + "\r\nx-goog-api-key: " + gemini_key + "\r\n";
        unsigned seed = 0;
        for (const auto* fault : {"none", "status=503", "key_invalid", "status=403", "html_502", "not_json", "reset=after_body"}) {
            clouds.openai.always(fault);
            clouds.gemini.always(fault);
            for (const auto* name : {"both", "turned"}) {
                const auto answer = ask(gateway, name, headers, ++seed);
                told += answer.body;
                for (const auto& [header, value] : answer.headers) told += value;
            }
        }
        for (const auto* path : {"/metrics", "/v1/stats", "/health/ready"}) told += get(gateway.port, path).body;
    }
    told += log.text();
    BOOST_TEST(told.find("hearonce_requests_total") != std::string::npos);
    for (const auto& key : {bearer_key, openai_key, gemini_key, operators_key}) BOOST_TEST(told.find(key) == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
