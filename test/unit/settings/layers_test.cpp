// Which file is read, what unknown keys are told, what variables mean, and which backends there are without being named.
#define BOOST_TEST_MODULE layers
#include <boost/test/unit_test.hpp>

#include <app/known_models.hpp>
#include <app/load_settings.hpp>
#include <app/models.hpp>
#include <app/settings_keys.hpp>
#include <app/settings_layers.hpp>
#include <test/support/scratch.hpp>

#include <sys/stat.h>
#include <unistd.h>

using namespace hearonce::app;
using hearonce::test::scratch;

namespace {

struct fixture {
    scratch place;
    settings_sources from;

    fixture() {
        from.system_directory = place.folder() / "etc";
        from.system_models = place.folder() / "models";
        from.cores = 2;
    }
    std::string complaint() const {
        const auto loaded = read_settings(from);
        return loaded ? std::string("no complaint") : loaded.error().found.front().text;
    }
    std::string file_level() const {
        const auto loaded = read_settings(from);
        return loaded ? std::string(name_of(loaded->values.log.level)) : loaded.error().found.front().text;
    }
    void complains(const std::string& part) const {
        BOOST_TEST(complaint().find(part) != std::string::npos, complaint() << "\n  lacks: " << part);
    }
    std::vector<std::string> backends() const {
        const auto loaded = read_settings(from);
        BOOST_TEST_REQUIRE(loaded.has_value(), complaint());
        std::vector<std::string> names;
        for (const auto& one : loaded->values.backends) names.push_back(one.name + ":" + std::string(name_of(one.kind)));
        return names;
    }
};

using names = std::vector<std::string>;
const auto per_element = boost::test_tools::per_element();

}  // namespace

BOOST_FIXTURE_TEST_SUITE(files, fixture)

BOOST_AUTO_TEST_CASE(the_first_of_flag_user_home_and_system) {
    BOOST_TEST(file_level() == "info");
    place.write("etc/config.toml", "log.level = \"error\"");
    BOOST_TEST(file_level() == "error");
    from.variables["HOME"] = (place.folder() / "home").string();
    BOOST_TEST(file_level() == "error");
    place.write("home/.config/hearonce/config.toml", "log.level = \"warn\"");
    BOOST_TEST(file_level() == "warn");
    from.variables["XDG_CONFIG_HOME"] = (place.folder() / "xdg").string();
    BOOST_TEST(file_level() == "error");
    place.write("xdg/hearonce/config.toml", "log.level = \"debug\"");
    BOOST_TEST(file_level() == "debug");
    from.config_file = place.write("mine.toml", "log.level = \"trace\"");
    BOOST_TEST(file_level() == "trace");
    BOOST_TEST(read_settings(from)->file->string() == from.config_file->string());
}

BOOST_AUTO_TEST_CASE(a_relative_xdg_folder_is_not_one) {
    from.variables["XDG_CONFIG_HOME"] = "relative";
    from.variables["HOME"] = (place.folder() / "home").string();
    place.write("home/.config/hearonce/config.toml", "log.level = \"warn\"");
    BOOST_TEST(file_level() == "warn");
}

BOOST_AUTO_TEST_CASE(a_named_file_must_be_there_and_be_one) {
    from.config_file = place.folder() / "none.toml";
    complains("none.toml: cannot be read: No such file");
    from.config_file = place.folder();
    complains("is a folder");
    from.config_file = place.write("broken.toml", "log.level = ");
    complains("broken.toml: line 1");
    from.config_file = place.write("twice.toml", "log.level = \"warn\"\nlog.level = \"info\"\n");
    complains("twice.toml: line 2");
    from.config_file = place.write("large.toml", std::string(4 * 1024 * 1024 + 1, '#'));
    complains("larger than 4 MiB");
    from.config_file = place.write("edge.toml", std::string(4 * 1024 * 1024, '#'));
    BOOST_TEST(complaint() == "no complaint");
}

BOOST_AUTO_TEST_CASE(sections_and_dotted_keys_are_the_same) {
    from.config_file =
        place.write("c.toml",
                    "[server]\nmax_audio = 5\n[backends.one]\nkind = \"openai\"\n[backends.one.model_alias]\n\"a.b\" = "
                    "\"c\"\n[[routes]]\nmodel = \"x\"\nbackends = [\"one\"]\n[[routes]]\nmodel = \"y\"\nbackends = [\"one\"]\n");
    const auto loaded = read_settings(from);
    BOOST_TEST_REQUIRE(loaded.has_value(), complaint());
    BOOST_TEST(loaded->values.server.max_audio_bytes == 5U);
    BOOST_TEST(loaded->values.backend("one")->model_alias.at("a.b") == "c");
    BOOST_TEST(loaded->values.routes.size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(unknown_keys, fixture)

BOOST_AUTO_TEST_CASE(suggest_the_nearest) {
    const std::pair<const char*, const char*> table[] = {
        {"server.lisen", "server.listen"},
        {"server.max_adio", "server.max_audio"},
        {"servr.listen", "server.listen"},
        {"listen", "server.listen"},
        {"sever.lsiten", "server.listen"},
        {"memory.ttl", "flight.ttl"},
        {"flight.cache_byte", "flight.cache_bytes"},
        {"auth.token_file", "auth.tokens_file"},
        {"log.levle", "log.level"},
        {"quota.request_per_day", "quota.requests_per_day"},
        {"default_backends", "default_backend"},
        {"route", "routes"},
        {"backends.local.modle", "backends.local.model"},
        {"backends.x1.apikey", "backends.x1.api_key"},
        {"backends.x.max_inflight", "backends.x.max_in_flight"},
    };
    for (const auto& [mistyped, meant] : table) {
        BOOST_TEST_CONTEXT(mistyped) {
            from.assignments = {std::string(mistyped) + "=1"};
            complains(std::string(mistyped) + ": unknown key (command line); did you mean " + meant + "?");
        }
    }
}

BOOST_AUTO_TEST_CASE(suggest_nothing_when_nothing_is_near) {
    from.assignments = {"completely.different=1"};
    BOOST_TEST(complaint() == "completely.different: unknown key (command line)");
    from.assignments = {std::string(100'000, 'x') + "=1"};
    BOOST_TEST(complaint().find("did you mean") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(are_named_with_their_place_and_all_at_once) {
    from.config_file = place.write("c.toml", "[server]\nlissten = 1\n[nonsense]\na = 1\n");
    from.variables["HEARONCE_SERVER__LISTN"] = "1";
    from.assignments = {"log.leve=x"};
    const auto loaded = read_settings(from);
    BOOST_TEST_REQUIRE(!loaded.has_value());
    names texts;
    const auto why = loaded.error();
    for (const auto& one : why.found) texts.push_back(one.text);
    const std::string file = from.config_file->string();
    BOOST_TEST(
        texts ==
            (names{
                "nonsense: unknown key in " + file, "server.lissten: unknown key in " + file + "; did you mean server.listen?",
                "HEARONCE_SERVER__LISTN: unknown key (environment variable HEARONCE_SERVER__LISTN); did you mean HEARONCE_SERVER__LISTEN?",
                "log.leve: unknown key (command line); did you mean log.level?"}),
        per_element);
}

BOOST_AUTO_TEST_CASE(a_section_is_no_key_and_a_key_no_section) {
    from.assignments = {"server=1"};
    complains("server: is a section with keys of its own");
    from.assignments = {"backends.local=1"};
    complains("backends.local: is a section");
    from.assignments = {};
    from.config_file = place.write("c.toml", "[server.listen]\na = 1\n");
    complains("server.listen: not a list or table; accepts an address");
    from.config_file = place.write("c.toml", "\"server.listen\" = \"127.0.0.1:1\"\n");
    complains("unknown key");
}

BOOST_AUTO_TEST_CASE(backend_names_are_lower_case_letters_and_digits) {
    for (const char* name : {"Local", "a-b", "a_b", "2a", ""}) {
        from.assignments = {"backends." + std::string(name) + ".kind=openai"};
        BOOST_TEST(complaint() != "no complaint", name);
    }
    from.assignments = {"backends.Local.kind=openai"};
    complains("backends.Local: a backend's name is [a-z][a-z0-9]*");
    from.assignments = {"backends.a9.kind=openai"};
    BOOST_TEST(complaint() == "no complaint");
}

BOOST_AUTO_TEST_CASE(set_takes_key_and_value) {
    for (const char* text : {"server.listen", "=1", ""}) {
        from.assignments = {text};
        complains("--set: takes KEY=VALUE");
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(variables, fixture)

BOOST_AUTO_TEST_CASE(empty_is_absent) {
    from.variables["HEARONCE_LOG__LEVEL"] = "";
    BOOST_TEST(file_level() == "info");
}

BOOST_AUTO_TEST_CASE(top_level_keys_have_no_dot) {
    from.variables["HEARONCE_DEFAULT_BACKEND"] = "x";
    from.variables["HEARONCE_ROUTES"] = "[{ model = \"m\", backends = [\"x\"] }]";
    const auto loaded = read_settings(from);
    BOOST_TEST_REQUIRE(loaded.has_value(), complaint());
    BOOST_TEST(*loaded->values.default_backend == "x");
    BOOST_TEST(loaded->values.routes.front().model == "m");
}

BOOST_AUTO_TEST_CASE(backend_keys_keep_their_underscores) {
    from.variables["HEARONCE_BACKENDS__OPENAI__API_KEY"] = "k";
    from.variables["HEARONCE_BACKENDS__OPENAI__MAX_IN_FLIGHT"] = "7";
    const auto loaded = read_settings(from);
    BOOST_TEST_REQUIRE(loaded.has_value(), complaint());
    BOOST_TEST(loaded->values.backend("openai")->api_key->reveal() == "k");
    BOOST_TEST(loaded->values.backend("openai")->max_in_flight == 7U);
}

BOOST_AUTO_TEST_CASE(of_others_are_left_alone_and_slips_are_pointed_out) {
    from.variables = {{"HEARONCE_URL", "x"},
                      {"HEARONCE_API_KEY", "x"},
                      {"HEARONCE_PORT", "tcp://10.0.0.1:80"},
                      {"HEARONCE_SERVICE_HOST", "10.0.0.1"},
                      {"OTHER__THING", "1"}};
    auto loaded = read_settings(from);
    BOOST_TEST_REQUIRE(loaded.has_value(), complaint());
    BOOST_TEST(loaded->warnings.empty());
    from.variables = {{"HEARONCE_LISTEN", "127.0.0.1:1"}};
    loaded = read_settings(from);
    BOOST_TEST(loaded->warnings == (names{"HEARONCE_LISTEN is not read; did you mean HEARONCE_SERVER__LISTEN?"}), per_element);
}

BOOST_AUTO_TEST_CASE(names_go_both_ways) {
    for (const key& one : keys()) {
        from.variables.clear();
        from.variables[variable_name_of(one.name)] = "\x01";  // Nothing takes it, so each name that is read complains.
        BOOST_TEST(complaint().starts_with(std::string(one.name) + ":"), complaint());
    }
}

BOOST_AUTO_TEST_CASE(secrets_are_never_in_a_complaint) {
    from.variables["HEARONCE_BACKENDS__OPENAI__API_KEY"] = "sk-secret with space";
    BOOST_TEST(complaint().find("sk-secret") == std::string::npos, complaint());
    from.variables.clear();
    from.assignments = {"flight.store=redis://user:hunter2@host"};
    BOOST_TEST(complaint().find("hunter2") == std::string::npos, complaint());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(implied_backends, fixture)

BOOST_AUTO_TEST_CASE(follow_from_keys_models_and_mode) {
    // With nothing there is still the local engine, which says what it lacks.
    BOOST_TEST(backends() == names{"local:whisper"}, per_element);
    from.variables["OPENAI_API_KEY"] = "k";
    BOOST_TEST(backends() == names{"openai:openai"}, per_element);
    from.variables["OPENAI_API_KEY"] = "";
    BOOST_TEST(backends() == names{"local:whisper"}, per_element);
    from.variables["GEMINI_API_KEY"] = "k";
    BOOST_TEST(backends() == names{"gemini:gemini"}, per_element);
    place.write("models/ggml-tiny.bin", "x");
    BOOST_TEST(backends() == (names{"gemini:gemini", "local:whisper"}), per_element);
    from.variables.clear();
    from.assignments = {"auth.mode=own-key"};
    BOOST_TEST(backends() == (names{"gemini:gemini", "local:whisper", "openai:openai"}), per_element);
}

BOOST_AUTO_TEST_CASE(end_where_one_is_named) {
    from.variables["OPENAI_API_KEY"] = "k";
    place.write("models/ggml-tiny.bin", "x");
    from.assignments = {"backends.mine.kind=gemini"};
    BOOST_TEST(backends() == names{"mine:gemini"}, per_element);
}

BOOST_AUTO_TEST_CASE(kinds_follow_from_well_known_names_alone) {
    from.assignments = {"backends.openai.max_in_flight=1", "backends.gemini.max_in_flight=1", "backends.local.slots=1",
                        "backends.whisper.slots=1"};
    BOOST_TEST(backends() == (names{"gemini:gemini", "local:whisper", "openai:openai", "whisper:whisper"}), per_element);
    from.assignments = {"backends.mine.max_in_flight=1"};
    complains("backends.mine.kind: is missing; accepts openai | gemini | whisper");
    from.assignments = {"backends.local.kind=openai"};
    BOOST_TEST(backends() == names{"local:openai"}, per_element);
}

BOOST_AUTO_TEST_CASE(a_key_of_another_kind_is_an_error) {
    from.assignments = {"backends.openai.slots=1"};
    complains("backends.openai.slots: means nothing to kind openai");
    from.assignments = {"backends.local.base_url=https://a"};
    complains("backends.local.base_url: means nothing to kind whisper");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(models, fixture)

BOOST_AUTO_TEST_CASE(are_found_in_the_users_folder_first) {
    from.variables["XDG_DATA_HOME"] = (place.folder() / "data").string();
    place.write("models/ggml-base.en.bin", "system");
    place.write("models/ggml-tiny.bin", "t");
    place.write("models/ggml-silero-v6.2.0.bin", "not a speech model");
    place.write("models/ggml-.bin", "no name");
    place.write("models/base.bin", "no prefix");
    place.write("models/ggml-folder.bin/x", "a folder");
    const auto user = place.write("data/hearonce/models/ggml-base.en.bin", "user's");
    const auto all = installed_models(from);
    BOOST_TEST_REQUIRE(all.size() == 2U);
    BOOST_TEST(all[0].name == "base.en");
    BOOST_TEST(all[0].file == user);
    BOOST_TEST(all[0].size_bytes == 6U);
    BOOST_TEST(all[1].name == "tiny");
    BOOST_TEST((find_model(from, "tiny") == place.folder() / "models" / "ggml-tiny.bin"));
    BOOST_TEST(!find_model(from, "small").has_value());
    BOOST_TEST((find_model(from, user.string()) == user));
    BOOST_TEST(!find_model(from, place.folder().string() + "/none.bin").has_value());
    BOOST_TEST(!find_model(from, place.folder().string()).has_value());
}

BOOST_AUTO_TEST_CASE(published_names_are_in_no_twice_and_english_ones_say_so) {
    for (const auto& one : known_models()) {
        BOOST_TEST(std::ranges::count(known_models(), one.name, &known_model::name) == 1);
        BOOST_TEST(one.english_only == (one.name.find(".en") != std::string_view::npos), one.name);
    }
}

BOOST_AUTO_TEST_CASE(the_newest_is_the_implied_one) {
    const auto old_one = place.write("models/ggml-a.bin", "x");
    const auto new_one = place.write("models/ggml-b.bin", "x");
    const auto now = std::filesystem::last_write_time(new_one);
    std::filesystem::last_write_time(old_one, now - std::chrono::hours(1));
    BOOST_TEST(*read_settings(from)->values.backend("local")->model == "b");
    std::filesystem::last_write_time(old_one, now + std::chrono::hours(1));
    BOOST_TEST(*read_settings(from)->values.backend("local")->model == "a");
}

BOOST_AUTO_TEST_SUITE_END()
