// Callers who bring their own provider keys: who is called with which, and where a key never turns up.
#include "running_gateway.hpp"

#include <observe/log.hpp>

#include <spdlog/sinks/ostream_sink.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace hearonce;
using namespace hearonce::test;
using called_with = scripted_backend::called_with;
using calls = std::vector<called_with>;

namespace {

const std::string bearer_key = "sk-bearer-0123456789";
const std::string openai_key = "sk-openai-0123456789";
const std::string gemini_key = "AIza-gemini-0123456789";

std::string bearer(const std::string& key = bearer_key) {
    return "Authorization: Bearer " + key + "\r\n";
}

app::settings with_mode(app::auth_mode mode) {
    auto wanted = test_settings();
    wanted.auth.mode = mode;
    wanted.retry.pauses = {std::chrono::milliseconds(1)};
    wanted.routes = {{"both", {"openai", "gemini"}}, {"turned", {"gemini", "openai"}}, {"local", {"scripted"}}};
    return wanted;
}

struct two_clouds {
    explicit two_clouds(app::settings wanted = with_mode(app::auth_mode::own_key)) : gateway(std::move(wanted), {openai, gemini}) {
        openai->whose = provider::openai;
        gemini->whose = provider::gemini;
    }
    raw_answer ask(const std::string& model, const std::string& headers, unsigned seed = 1) const {
        return post(gateway.port, transcriptions, upload(wav(seed), {{"model", model, {}, ""}}), headers);
    }
    static void fail(scripted_backend& one) {
        one.ends = [](std::size_t, const recording&, const transcription_request&) -> result<transcript> {
            return error(errc::upstream_error);
        };
    }

    std::shared_ptr<scripted_backend> openai = std::make_shared<scripted_backend>("openai");
    std::shared_ptr<scripted_backend> gemini = std::make_shared<scripted_backend>("gemini");
    running_gateway gateway;
};

// A file with one token of the gateway's.
struct tokens_file {
    static constexpr const char* token = "hearonce-token-0123456789";

    tokens_file() : path(std::filesystem::temp_directory_path() / ("hearonce-own-key-tokens-" + std::to_string(::getpid()))) {
        std::ofstream(path) << "phone:" << sha256_hex(token) << "\n";
    }
    ~tokens_file() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
    tokens_file(const tokens_file&) = delete;
    tokens_file& operator=(const tokens_file&) = delete;

    const std::filesystem::path path;
};

// For printing, Boost.Test wants a stream: compared as a whole here.
bool same(const calls& seen, const calls& expected) {
    return seen == expected;
}

BOOST_FIXTURE_TEST_SUITE(own_key, two_clouds)

BOOST_AUTO_TEST_CASE(a_bearer_goes_to_the_first_backend_and_to_no_other) {
    BOOST_TEST(ask("both", bearer()).status == 200);
    BOOST_TEST(same(openai->calls(), {{true, bearer_key, "", ""}}));
    BOOST_TEST(ask("turned", bearer()).status == 200);
    BOOST_TEST(same(gemini->calls(), {{true, bearer_key, "", ""}}));
    fail(*openai);
    BOOST_TEST(ask("both", bearer(), 2).status == 502);
    BOOST_TEST(openai->runs() == 2u);
    BOOST_TEST(gemini->runs() == 1u);
}

BOOST_AUTO_TEST_CASE(the_fallback_gets_its_own_key) {
    fail(*openai);
    const auto answer =
        ask("both", bearer() + "x-goog-api-key: " + gemini_key + "\r\nOpenAI-Organization: org-1\r\nOpenAI-Project: proj-1\r\n");
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("x-hearonce-backend") == "gemini");
    BOOST_TEST(same(openai->calls(), {{true, bearer_key, "org-1", "proj-1"}}));
    BOOST_TEST(same(gemini->calls(), {{true, gemini_key, "", ""}}));
}

BOOST_AUTO_TEST_CASE(api_key_goes_to_openais_kind_wherever_it_stands) {
    BOOST_TEST(ask("both", "api-key: " + openai_key + "\r\n").status == 200);
    BOOST_TEST(ask("turned", "api-key: " + openai_key + "\r\n", 2).status == 200);
    BOOST_TEST(same(openai->calls(), {{true, openai_key, "", ""}, {true, openai_key, "", ""}}));
    BOOST_TEST(gemini->runs() == 0u);
}

BOOST_AUTO_TEST_CASE(keys_for_nobody_on_the_route_are_refused_before_any_call) {
    const auto answer = ask("openai", "x-goog-api-key: " + gemini_key + "\r\n");
    BOOST_TEST(answer.status == 401);
    BOOST_TEST(answer.body.find("invalid_api_key") != std::string::npos);
    BOOST_TEST(ask("both", "").status == 401);
    BOOST_TEST(ask("local", bearer()).status == 401);
    BOOST_TEST(openai->runs() + gemini->runs() + gateway.backend->runs() == 0u);
}

BOOST_AUTO_TEST_CASE(callers_with_different_keys_share_nothing_and_with_the_same_key_share_work) {
    BOOST_TEST(ask("both", bearer("sk-a")).header("cache-status").starts_with("hearonce; fwd=miss"));
    BOOST_TEST(ask("both", bearer("sk-b")).header("cache-status").starts_with("hearonce; fwd=miss"));
    BOOST_TEST(ask("both", bearer("sk-a")).header("cache-status").starts_with("hearonce; hit"));
    BOOST_TEST(ask("both", bearer("sk-a") + "OpenAI-Project: other\r\n").header("cache-status").starts_with("hearonce; fwd=miss"));
    BOOST_TEST(openai->runs() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

// What callers are told on the way from a first success to backends that are left alone, and by every other path.
std::string everything_told_by(const two_clouds& at, const std::string& headers) {
    std::string told;
    const auto keep = [&told](const raw_answer& answer) {
        for (const auto& [name, value] : answer.headers) told += name + ": " + value + "\n";
        told += answer.body;
    };
    keep(at.ask("both", headers));
    two_clouds::fail(*at.openai);
    two_clouds::fail(*at.gemini);
    for (unsigned seed = 2; seed < 9; ++seed) keep(at.ask("both", headers, seed));
    keep(at.ask("nobody's", headers));
    keep(at.ask("local", headers));
    for (const auto* path : {"/metrics", "/health/ready", "/v1/stats"}) keep(get(at.gateway.port, path));
    keep(get(at.gateway.port, "/v1/models", headers));
    return told;
}

BOOST_AUTO_TEST_SUITE(keys_and_what_is_told)

BOOST_AUTO_TEST_CASE(a_key_is_in_no_log_no_metric_and_no_answer) {
    std::ostringstream lines;
    observe::log_options options;
    options.level = observe::log_level::trace;
    options.format = observe::log_format::json;
    options.sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(lines);
    observe::open_log(options);
    std::string told;
    {
        const two_clouds at;
        told = everything_told_by(at, bearer() + "api-key: " + openai_key + "\r\nx-goog-api-key: " + gemini_key + "\r\n");
        BOOST_TEST(at.openai->calls().front().key == openai_key);
    }
    // The gateway has ended: its last line is there.
    observe::close_log();
    const auto said = lines.str();
    BOOST_TEST(said.find("left alone") != std::string::npos);
    BOOST_TEST(said.find("\"/v1/models\"") != std::string::npos);
    for (const auto& key : {bearer_key, openai_key, gemini_key}) {
        BOOST_TEST(said.find(key) == std::string::npos);
        BOOST_TEST(told.find(key) == std::string::npos);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(keys_in_other_modes)

BOOST_AUTO_TEST_CASE(the_local_engine_works_for_callers_with_keys_where_that_is_allowed) {
    auto wanted = with_mode(app::auth_mode::own_key);
    wanted.auth.own_key_local = true;
    const two_clouds at(wanted);
    BOOST_TEST(at.ask("local", bearer()).status == 200);
    BOOST_TEST(same(at.gateway.backend->calls(), {{false, "", "", ""}}));
}

// The gateway's own token and whatever else came with it.
BOOST_AUTO_TEST_CASE(in_tokens_mode_no_credential_of_a_caller_goes_anywhere) {
    const tokens_file tokens;
    auto wanted = with_mode(app::auth_mode::tokens);
    wanted.auth.tokens_file = tokens.path;
    const two_clouds at(wanted);
    const auto headers = bearer(tokens_file::token) + "api-key: " + openai_key + "\r\nx-goog-api-key: " + gemini_key +
                         "\r\nOpenAI-Organization: org-1\r\nOpenAI-Project: proj-1\r\n";
    BOOST_TEST(at.ask("both", headers).status == 200);
    BOOST_TEST(at.ask("turned", headers, 2).status == 200);
    BOOST_TEST(same(at.openai->calls(), {{false, "", "", ""}}));
    BOOST_TEST(same(at.gemini->calls(), {{false, "", "", ""}}));
}

BOOST_AUTO_TEST_CASE(a_token_sent_in_place_of_a_key_goes_to_no_provider) {
    const tokens_file tokens;
    auto wanted = with_mode(app::auth_mode::own_key);
    wanted.auth.tokens_file = tokens.path;
    const two_clouds at(wanted);
    BOOST_TEST(at.ask("both", bearer(tokens_file::token)).status == 401);
    BOOST_TEST(at.ask("both", std::string("api-key: ") + tokens_file::token + "\r\n").status == 401);
    BOOST_TEST(at.openai->runs() + at.gemini->runs() == 0u);
    BOOST_TEST(at.ask("both", bearer()).status == 200);
}

BOOST_AUTO_TEST_CASE(in_open_mode_no_credential_of_a_caller_goes_anywhere) {
    const two_clouds at(with_mode(app::auth_mode::open));
    const auto headers = bearer() + "api-key: " + openai_key + "\r\nx-goog-api-key: " + gemini_key + "\r\nOpenAI-Organization: org-1\r\n";
    BOOST_TEST(at.ask("both", headers).status == 200);
    BOOST_TEST(at.ask("turned", headers, 2).status == 200);
    BOOST_TEST(same(at.openai->calls(), {{false, "", "", ""}}));
    BOOST_TEST(same(at.gemini->calls(), {{false, "", "", ""}}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
