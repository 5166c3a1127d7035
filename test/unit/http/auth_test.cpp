// Credentials become principals; unknown ones are refused.
#define BOOST_TEST_MODULE auth
#include <http/auth.hpp>

#include <openssl/evp.h>
#include <boost/test/unit_test.hpp>

#include <set>

namespace {

using namespace hearonce;
using namespace hearonce::http;

request_head head_with(std::vector<header> headers) {
    request_head head;
    head.headers = std::move(headers);
    return head;
}

// Any 64 hex digits will do.
constexpr std::string_view hash_a = "2d99c3b36e3d11fd7cca1ba5ca2d2a7fff5d3d6ab3d1d4ad41d0b6e7a2a7f8ad";

std::string sha_hex(std::string_view text);

BOOST_AUTO_TEST_CASE(bearer_is_read_in_any_case_and_trimmed) {
    BOOST_TEST(bearer_of(head_with({{"Authorization", "Bearer abc"}})) == "abc");
    BOOST_TEST(bearer_of(head_with({{"authorization", "bEaReR   abc "}})) == "abc");
    BOOST_TEST(bearer_of(head_with({{"Authorization", "Basic abc"}})) == "");
    BOOST_TEST(bearer_of(head_with({{"Authorization", "Bearer"}})) == "");
    BOOST_TEST(bearer_of(head_with({{"Authorization", "Bearerabc"}})) == "");
    BOOST_TEST(bearer_of(head_with({{"Authorization", "Bearer "}})) == "");
    BOOST_TEST(bearer_of(head_with({})) == "");
}

BOOST_AUTO_TEST_CASE(token_lines_are_parsed_and_bad_ones_named) {
    const std::string line = "phone:" + std::string(hash_a);
    BOOST_TEST(token_table::parse("")->size() == 0u);
    BOOST_TEST(token_table::parse("# note\n\n" + line + "\r\n")->size() == 1u);
    BOOST_TEST(token_table::parse(line)->size() == 1u);
    for (const auto* bad : {"phone", ":abc", "phone:abc", "phone:zz99c3b36e3d11fd7cca1ba5ca2d2a7fff5d3d6ab3d1d4ad41d0b6e7a2a7f8ad"}) {
        const auto refused = token_table::parse("# one\n" + std::string(bad) + "\n");
        BOOST_REQUIRE(refused.has_error());
        BOOST_TEST(refused.error().message().find("line 2") != std::string_view::npos);
    }
    BOOST_TEST(token_table::parse(":" + std::string(hash_a)).has_error());
}

BOOST_AUTO_TEST_CASE(open_mode_reads_no_credential) {
    const authenticator open(auth_mode::open, secret("k"));
    const auto principal = open.principal_of(head_with({{"Authorization", "Bearer whatever"}}));
    BOOST_REQUIRE(principal.has_value());
    BOOST_TEST(*principal == "");
}

BOOST_AUTO_TEST_CASE(tokens_are_known_by_their_hash_and_can_be_replaced) {
    authenticator tokens(auth_mode::tokens, secret("k"));
    BOOST_TEST(tokens.principal_of(head_with({{"Authorization", "Bearer tok-a"}})).has_error());
    tokens.replace_tokens(*token_table::parse("phone:" + sha_hex("tok-a") + "\nlaptop:" + sha_hex("tok-b")));
    BOOST_TEST(*tokens.principal_of(head_with({{"Authorization", "Bearer tok-a"}})) == "token:phone");
    BOOST_TEST(*tokens.principal_of(head_with({{"Authorization", "Bearer tok-b"}})) == "token:laptop");
    for (const auto* bad : {"Bearer tok-c", "Bearer tok-", "Basic tok-a", ""}) {
        const auto refused = tokens.principal_of(head_with({{"Authorization", bad}}));
        BOOST_REQUIRE(refused.has_error());
        BOOST_TEST((refused.error().code() == errc::invalid_api_key));
    }
    // The gateway's own tokens are known in every mode: the operator's paths ask for them.
    authenticator open(auth_mode::open, secret("k"));
    BOOST_TEST(open.token_holder(head_with({{"Authorization", "Bearer tok-a"}})) == "");
    open.replace_tokens(*token_table::parse("phone:" + sha_hex("tok-a")));
    BOOST_TEST(open.token_holder(head_with({{"Authorization", "Bearer tok-a"}})) == "token:phone");
    BOOST_TEST(open.token_holder(head_with({{"Authorization", "Bearer tok-b"}})) == "");
    BOOST_TEST(open.token_holder(head_with({})) == "");
    tokens.replace_tokens(*token_table::parse("laptop:" + sha_hex("tok-b")));
    BOOST_TEST(tokens.principal_of(head_with({{"Authorization", "Bearer tok-a"}})).has_error());
}

BOOST_AUTO_TEST_CASE(own_keys_become_principals_that_do_not_show_them) {
    const authenticator own(auth_mode::own_key, secret("k"));
    const authenticator other_secret(auth_mode::own_key, secret("l"));
    BOOST_TEST(own.principal_of(head_with({})).has_error());
    std::set<std::string> all;
    const std::vector<std::vector<header>> callers = {
        {{"Authorization", "Bearer sk-1"}},
        {{"Authorization", "Bearer sk-2"}},
        {{"api-key", "sk-1"}},
        {{"x-goog-api-key", "sk-1"}},
        {{"Authorization", "Bearer sk-1"}, {"x-goog-api-key", "g"}},
        {{"Authorization", "Bearer sk-1"}, {"OpenAI-Organization", "o"}},
        {{"Authorization", "Bearer sk-1"}, {"OpenAI-Project", "o"}},
    };
    for (const auto& headers : callers) {
        const auto principal = own.principal_of(head_with(headers));
        BOOST_REQUIRE(principal.has_value());
        BOOST_TEST(principal->find("sk-") == std::string::npos);
        BOOST_TEST(*principal == *own.principal_of(head_with(headers)));
        BOOST_TEST(*principal != *other_secret.principal_of(head_with(headers)));
        all.insert(*principal);
    }
    BOOST_TEST(all.size() == callers.size());
}

BOOST_AUTO_TEST_CASE(a_token_of_the_gateways_is_nobodys_own_key) {
    authenticator own(auth_mode::own_key, secret("k"));
    own.replace_tokens(*token_table::parse("phone:" + sha_hex("tok-a")));
    const std::vector<std::vector<header>> callers = {
        {{"Authorization", "Bearer tok-a"}},
        {{"api-key", "tok-a"}},
        {{"x-goog-api-key", "tok-a"}},
        {{"Authorization", "Bearer sk-1"}, {"x-goog-api-key", "tok-a"}},
    };
    for (const auto& headers : callers) {
        const auto refused = own.principal_of(head_with(headers));
        BOOST_REQUIRE(refused.has_error());
        BOOST_TEST((refused.error().code() == errc::invalid_api_key));
        BOOST_TEST(refused.error().message().find("tok-a") == std::string_view::npos);
    }
    BOOST_TEST(own.principal_of(head_with({{"Authorization", "Bearer tok-b"}})).has_value());
}

std::string sha_hex(std::string_view text) {
    sha256_digest digest{};
    BOOST_REQUIRE(
        ::EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr, ::EVP_sha256(), nullptr) == 1);
    return hex_of(digest);
}

BOOST_AUTO_TEST_CASE(every_key_a_caller_sent_is_kept_apart) {
    const auto keys = caller_keys_of(head_with({{"Authorization", "Bearer b"},
                                                {"Api-Key", "a"},
                                                {"X-Goog-Api-Key", "g"},
                                                {"OpenAI-Organization", "org"},
                                                {"OpenAI-Project", "proj"}}));
    BOOST_TEST(keys->bearer.reveal() == "b");
    BOOST_TEST(keys->openai.reveal() == "a");
    BOOST_TEST(keys->gemini.reveal() == "g");
    BOOST_TEST(keys->organization == "org");
    BOOST_TEST(keys->project == "proj");
    const auto none = caller_keys_of(head_with({{"Authorization", "Basic b"}}));
    BOOST_TEST(none->bearer.empty());
    BOOST_TEST(none->openai.empty());
    BOOST_TEST(none->gemini.empty());
}

BOOST_AUTO_TEST_CASE(credentials_are_wiped_and_nothing_else) {
    auto head = head_with({{"AUTHORIZATION", "Bearer abc"}, {"api-key", "abc"}, {"X-Goog-Api-Key", "abc"}, {"x-device-id", "abc"}});
    wipe_credentials(head);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(head.headers[i].value.find("abc") == std::string::npos);
    BOOST_TEST(head.headers[3].value == "abc");
}

}  // namespace
