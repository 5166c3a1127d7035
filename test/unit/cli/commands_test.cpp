// The program itself: help, version, usage errors, config, token and models, with their exit codes and streams.
#define BOOST_TEST_MODULE commands
#include <boost/test/unit_test.hpp>

#include <test/support/program.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <algorithm>

#include <sys/stat.h>

using namespace hearonce::test;

namespace {

struct fixture {
    scratch place;
    std::map<std::string, std::string> variables{{"HOME", (place.folder() / "home").string()},
                                                 {"HEARONCE_MEMORY__SPILL_DIRECTORY", place.folder().string()}};

    ended_program run(const std::vector<std::string>& arguments) const { return program(HEARONCE_PROGRAM, arguments, variables).wait(); }
    std::string tokens() const { return (place.folder() / "tokens").string(); }
    std::string tokens_flag() const { return "auth.tokens_file=" + tokens(); }
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

const std::vector<std::vector<std::string>> commands = {{},
                                                        {"serve"},
                                                        {"send"},
                                                        {"models"},
                                                        {"models", "list"},
                                                        {"token"},
                                                        {"token", "new"},
                                                        {"token", "list"},
                                                        {"token", "revoke"},
                                                        {"config"},
                                                        {"config", "check"},
                                                        {"config", "show"}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(asking, fixture)

BOOST_AUTO_TEST_CASE(for_help_everywhere) {
    for (auto command : commands) {
        command.push_back("--help");
        const auto told = run(command);
        BOOST_TEST(told.code == 0);
        BOOST_TEST(has(told.out, "Usage:"), told.out);
        BOOST_TEST(told.err.empty(), told.err);
    }
    for (const char* command : {"serve", "send", "config", "models", "token"}) BOOST_TEST(has(run({"--help"}).out, command));
}

BOOST_AUTO_TEST_CASE(for_the_version) {
    const auto told = run({"--version"});
    BOOST_TEST(told.code == 0);
    BOOST_TEST(told.out == "hearonce " HEARONCE_VERSION "\n");
    BOOST_TEST(told.err.empty());
}

BOOST_AUTO_TEST_CASE(wrongly_is_a_usage_error) {
    const std::vector<std::vector<std::string>> wrong = {{},
                                                         {"dance"},
                                                         {"--nonsense"},
                                                         {"serve", "--nonsense"},
                                                         {"serve", "extra"},
                                                         {"send"},
                                                         {"send", "--format", "xml", "f"},
                                                         {"token"},
                                                         {"token", "new"},
                                                         {"token", "revoke"},
                                                         {"models"},
                                                         {"config"},
                                                         {"config", "check", "--config"},
                                                         {"config", "check", "extra"}};
    for (const auto& arguments : wrong) {
        const auto told = run(arguments);
        BOOST_TEST(told.code == 2);
        BOOST_TEST(told.out.empty(), told.out);
        BOOST_TEST(told.err.starts_with("hearonce: "), told.err);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(config, fixture)

BOOST_AUTO_TEST_CASE(check_says_ok_or_what_is_wrong) {
    const auto file = place.write("c.toml", "[log]\nlevel = \"debug\"\n").string();
    auto told = run({"config", "check", "--config", file});
    BOOST_TEST(told.code == 0);
    BOOST_TEST(told.out == "ok: " + file + "\n");
    BOOST_TEST(has(told.err, "warning: backends.local: no model yet"), told.err);

    place.write("c.toml", "[log]\nlevel = \"loud\"\n[server]\nlisen = 1\n");
    told = run({"config", "check", "--config", file});
    BOOST_TEST(told.code == 2);
    BOOST_TEST(told.out.empty());
    BOOST_TEST(lines(told.err) == 2U);
    BOOST_TEST(has(told.err, "hearonce: server.lisen: unknown key in " + file + "; did you mean server.listen?\n"), told.err);
    BOOST_TEST(has(told.err, "hearonce: log.level: not \"loud\"; accepts trace | debug | info | warn | error in " + file + "\n"), told.err);

    told = run({"config", "check", "--config", (place.folder() / "none").string()});
    BOOST_TEST(told.code == 2);
    BOOST_TEST(lines(told.err) == 1U);
}

BOOST_AUTO_TEST_CASE(show_prints_values_sources_and_no_secret) {
    variables["HEARONCE_LOG__LEVEL"] = "warn";
    variables["OPENAI_API_KEY"] = "sk-from-environment";
    const auto file = place.write("c.toml", "flight.ttl = \"5m\"\n[backends.openai]\napi_key = \"sk-from-file\"\n").string();
    const auto told = run({"config", "show", "--config", file, "--set", "server.threads=1", "--set", "retry.attempts=5"});
    BOOST_TEST(told.code == 0);
    const std::pair<const char*, const char*> expected[] = {
        {"log.level = \"warn\" ", "# env\n"}, {"flight.ttl = \"5m\" ", "# file\n"},     {"server.threads = 1 ", "# flag\n"},
        {"retry.attempts = 5 ", "# flag\n"},  {"auth.mode = \"open\" ", "# default\n"}, {"backends.openai.api_key = \"***\" ", "# file\n"}};
    for (const auto& [text, source] : expected) {
        const auto at = told.out.find(text);
        BOOST_TEST_REQUIRE(at != std::string::npos, text << " in\n" << told.out);
        BOOST_TEST(told.out.substr(at, told.out.find('\n', at) - at + 1).ends_with(source), text);
    }
    BOOST_TEST(!has(told.out + told.err, "sk-from"));
    // What is shown can be given back.
    const auto again = place.write("again.toml", told.out).string();
    BOOST_TEST(run({"config", "check", "--config", again}).code == 0);
}

BOOST_AUTO_TEST_CASE(show_still_shows_what_contradicts) {
    const auto told = run({"config", "show", "--set", "server.listen=0.0.0.0:80"});
    BOOST_TEST(told.code == 2);
    BOOST_TEST(has(told.out, "server.listen = [\"0.0.0.0:80\"]"), told.out);
    BOOST_TEST(has(told.err, "hearonce: server.listen: "), told.err);
}

BOOST_AUTO_TEST_CASE(show_defaults_is_a_good_file) {
    const auto told = run({"config", "show", "--defaults"});
    BOOST_TEST(told.code == 0);
    const auto file = place.write("d.toml", told.out).string();
    BOOST_TEST(run({"config", "check", "--config", file}).code == 0);
}

BOOST_AUTO_TEST_CASE(values_that_look_like_flags_and_equals_signs_pass) {
    const auto told = run({"config", "show", "--set", "backends.openai.api_key=a=b--c", "--set=server.host_names=x"});
    BOOST_TEST(told.code == 0);
    BOOST_TEST(has(told.out, "server.host_names = [\"x\"]"), told.out);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(token, fixture)

BOOST_AUTO_TEST_CASE(new_prints_the_token_and_its_line) {
    const auto told = run({"token", "new", "phone"});
    BOOST_TEST(told.code == 0);
    BOOST_TEST(lines(told.out) == 2U);
    BOOST_TEST(told.out.starts_with("hearonce_"), told.out);
    BOOST_TEST(told.out.substr(told.out.find('\n') + 1).starts_with("phone:"), told.out);
    BOOST_TEST(!has(told.err, "hearonce_"));
}

BOOST_AUTO_TEST_CASE(new_list_and_revoke_work_on_the_file) {
    const auto first = run({"token", "new", "phone", "--set", tokens_flag()});
    BOOST_TEST(first.code == 0, first.err);
    BOOST_TEST(scratch::read(tokens()) == first.out.substr(first.out.find('\n') + 1));
    struct stat info{};
    BOOST_REQUIRE(::stat(tokens().c_str(), &info) == 0);
    BOOST_TEST((info.st_mode & 07777) == 0600U);
    BOOST_TEST(run({"token", "new", "laptop", "--set", tokens_flag()}).code == 0);
    BOOST_TEST(run({"token", "list", "--set", tokens_flag()}).out == "phone\nlaptop\n");

    const auto again = run({"token", "new", "phone", "--set", tokens_flag()});
    BOOST_TEST(again.code == 2);
    BOOST_TEST(again.out.empty(), "a token that is not in the file was shown");
    BOOST_TEST(has(again.err, "token revoke phone"));

    BOOST_TEST(run({"token", "revoke", "phone", "--set", tokens_flag()}).code == 0);
    BOOST_TEST(run({"token", "list", "--set", tokens_flag()}).out == "laptop\n");
    const auto gone = run({"token", "revoke", "phone", "--set", tokens_flag()});
    BOOST_TEST(gone.code == 2);
    BOOST_TEST(has(gone.err, "there is no token phone"));
}

BOOST_AUTO_TEST_CASE(new_works_before_the_gateway_could_start) {
    const auto file =
        place.write("c.toml", "auth.mode = \"tokens\"\nauth.tokens_file = \"" + tokens() + "\"\nserver.listen = \"0.0.0.0:80\"\n").string();
    BOOST_TEST(run({"config", "check", "--config", file}).code == 2);
    BOOST_TEST(run({"token", "new", "phone", "--config", file}).code == 0);
    BOOST_TEST(run({"config", "check", "--config", file}).code == 0);
}

BOOST_AUTO_TEST_CASE(bad_names_and_missing_files_are_usage_errors) {
    for (const char* name : {"a:b", "a b", "", "#x", "a/b"}) {
        const auto told = run({"token", "new", name});
        BOOST_TEST(told.code == 2, name);
        BOOST_TEST(told.out.empty());
    }
    BOOST_TEST(run({"token", "list"}).code == 2);
    BOOST_TEST(has(run({"token", "list"}).err, "auth.tokens_file"));
    BOOST_TEST(run({"token", "revoke", "x"}).code == 2);
    const auto folder = run({"token", "new", "x", "--set", "auth.tokens_file=" + place.folder().string()});
    BOOST_TEST(folder.code == 2);
    BOOST_TEST(folder.out.empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(models, fixture)

BOOST_AUTO_TEST_CASE(list_names_installed_and_published_ones) {
    place.write("home/.local/share/hearonce/models/ggml-mine.bin", std::string(2 * 1024 * 1024, 'x'));
    const auto told = run({"models", "list"});
    BOOST_TEST(told.code == 0);
    BOOST_TEST(has(told.out, "  mine" + std::string(24, ' ') + "2 MiB  " + place.folder().string()), told.out);
    for (const char* name : {"tiny ", "base.en ", "small-q5_1 ", "medium ", "large-v3-turbo-q5_0 "})
        BOOST_TEST(has(told.out, std::string("  ") + name), name);
    BOOST_TEST(has(told.out, (place.folder() / "home/.local/share/hearonce/models").string() + "\n"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(serve, fixture)

BOOST_AUTO_TEST_CASE(refuses_bad_settings_in_one_line_each) {
    const std::pair<std::vector<std::string>, const char*> table[] = {
        {{"serve", "--set", "server.max_audio=big"}, "server.max_audio"},
        {{"serve", "--listen", "nowhere"}, "server.listen"},
        {{"serve", "--listen", "0.0.0.0:0"}, "server.listen"},
        {{"serve", "--set", "server.tls_key=/none"}, "server.tls_certificate"},
        {{"serve", "--set", "auth.mode=tokens"}, "auth.tokens_file"},
        {{"serve", "--set", "nonsense.key=1"}, "nonsense.key"},
    };
    for (const auto& [arguments, key] : table) {
        const auto told = run(arguments);
        BOOST_TEST(told.code == 2);
        BOOST_TEST(told.out.empty());
        BOOST_TEST(told.err.starts_with("hearonce: " + std::string(key)), told.err);
    }
    BOOST_TEST(lines(run({"serve", "--set", "server.max_audio=big"}).err) == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
