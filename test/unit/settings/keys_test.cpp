// Each key by itself: its default, its value from file, variable and flag, which of them wins, what it refuses.
#define BOOST_TEST_MODULE keys
#include <boost/test/unit_test.hpp>

#include <app/load_settings.hpp>
#include <app/settings_keys.hpp>
#include <test/support/scratch.hpp>

#include <map>
#include <random>
#include <set>

using namespace hearonce::app;
using hearonce::test::scratch;

namespace {

struct row {
    std::string name;
    std::string initial;            // As shown; empty: unset.
    std::vector<std::string> good;  // Three TOML values, shown as they are written.
    std::vector<std::string> bad;   // TOML values.
};

// NaN-proof stand-ins for "some other type".
const std::vector<std::string> durations_bad = {"-1", "\"\"", "\"x\"", "true", "[]", "1979-05-27", "nan", "\"1 s\""};

std::vector<row> duration_row(const char* name, const char* initial, std::vector<std::string> more_bad = {}) {
    row made{name, initial, {"\"1s\"", "\"250ms\"", "\"3m\""}, durations_bad};
    made.bad.insert(made.bad.end(), more_bad.begin(), more_bad.end());
    return {made};
}

const std::vector<row>& rows() {
    static const std::vector<row> all = [] {
        const std::vector<std::string> flags_bad = {"1", "\"true\"", "[]", "0.5"};
        const std::vector<std::string> paths_bad = {"1", "\"\"", "[]", "true", "\"a\\u0000b\"", "\"a\\nb\""};
        std::vector<row> made = {
            {"server.listen",
             "[\"127.0.0.1:8080\"]",
             {"[\"127.0.0.1:1\"]", "[\"[::1]:2\"]", "[\"127.0.0.1:3\", \"0.0.0.0:4\"]"},
             {"8080", "[]", "\"\"", "[\"127.0.0.1:1\", 2]", "\"127.0.0.1\"", "{ a = 1 }"}},
            {"server.threads", "3", {"1", "2", "1024"}, {"0", "1025", "-1", "1.5", "\"2\"", "true"}},
            {"server.tls_certificate", "", {"\"/a\"", "\"b.pem\"", "\"/c\""}, paths_bad},
            {"server.tls_key", "", {"\"/a\"", "\"b.pem\"", "\"/c\""}, paths_bad},
            {"server.max_audio", "\"25MiB\"", {"1", "\"1MiB\"", "\"16GiB\""}, {"0", "-1", "\"17GiB\"", "\"big\"", "1.5", "true", "[1]"}},
            {"server.max_fields", "\"1MiB\"", {"\"1KiB\"", "1025", "\"1GiB\""}, {"1023", "\"2GiB\"", "true"}},
            {"server.max_connections", "16384", {"1", "2", "1000000"}, {"0", "1000001", "\"many\""}},
            {"server.cors_origins",
             "[]",
             {"[\"https://a.example\"]", "[\"*\"]", "[\"http://localhost:3000\", \"https://b.example\"]"},
             {"1", "\"a.example\"", "\"https://a.example/\"", "\"https://a.example/x\"", "\"https://a.example:x\"",
              "\"https://a.example:70000\"", "\"https://u@a.example\"", "\"null\"", "\"https://\""}},
            {"server.host_names",
             "[]",
             {"[\"stt.local\"]", "[\"a\"]", "[\"b\", \"c-d\"]"},
             {"1", "\"a:80\"", "\"http://a\"", "\"a b\"", "\".a\""}},
            {"server.trusted_proxies",
             "[]",
             {"[\"10.0.0.0/8\"]", "[\"fd00::/8\"]", "[\"192.0.2.7/32\", \"::1/128\"]"},
             {"1", "\"10.1.0.0/8\"", "\"10.0.0.0/33\"", "\"proxy\""}},
            {"server.open_to_everyone", "false", {"true", "false", "true"}, flags_bad},
            {"memory.audio", "\"256MiB\"", {"\"1MiB\"", "\"1GiB\"", "\"2GiB\""}, {"0", "1048575", "\"1023KiB\""}},
            {"memory.spill_above", "\"1MiB\"", {"0", "1", "\"1GiB\""}, {"-1", "\"x\""}},
            {"memory.spill_directory", "\"/var/tmp\"", {"\"/a\"", "\"/b/c\"", "\"/\""}, {"1", "\"\"", "\"relative\"", "[]"}},
            {"memory.spill_bytes", "\"8GiB\"", {"0", "1", "\"1TiB\""}, {"-1", "\"65TiB\""}},
            {"auth.mode", "\"open\"", {"\"tokens\"", "\"own-key\"", "\"open\""}, {"\"Open\"", "\"\"", "1", "true", "\"none\""}},
            {"auth.tokens_file", "", {"\"/a\"", "\"b\"", "\"/c\""}, paths_bad},
            {"auth.secret_file", "", {"\"/a\"", "\"b\"", "\"/c\""}, paths_bad},
            {"auth.own_key_local", "false", {"true", "false", "true"}, flags_bad},
            {"flight.cache_bytes", "\"64MiB\"", {"0", "\"1GiB\"", "\"1TiB\""}, {"-1", "1099511627777"}},
            {"flight.store",
             "\"memory\"",
             {"\"redis://a:6379/0\"", "\"rediss://b:1/2\"", "\"redis://[::1]:6379/65535\""},
             {"\"redis\"", "\"http://a\"", "\"redis://\"", "\"redis://a:0\"", "\"redis://a:70000\"", "\"redis://a/x\"",
              "\"redis://a/65536\"", "\"redis://user:p@a\"", "\"redis://a?x=1\"", "1"}},
            {"deadline.per_audio_second", "0.5", {"0.0", "1.0", "0.25"}, {"-0.1", "1000.1", "nan", "inf", "\"x\"", "true"}},
            {"retry.attempts", "3", {"1", "20", "5"}, {"0", "21", "\"3\""}},
            {"retry.pauses",
             "[\"500ms\", \"2s\"]",
             {"[\"1s\"]", "[\"0s\"]", "[\"2s\", \"5s\", \"10s\"]"},
             {"[]", "[\"x\"]", "[\"2h\"]", "true"}},
            {"quota.requests_per_day", "", {"0", "1", "1000000000000"}, {"-1", "1000000000001", "\"1\"", "0.5"}},
            {"quota.audio_per_day", "", {"\"1h\"", "\"30m\"", "\"0s\""}, durations_bad},
            {"quota.device_requests_per_day", "", {"0", "1", "2"}, {"-1", "\"1\""}},
            {"quota.device_audio_per_day", "", {"\"1h\"", "\"30m\"", "\"0s\""}, durations_bad},
            {"default_backend", "", {"\"a\"", "\"b2\"", "\"local\""}, {"\"A\"", "\"2b\"", "\"a-b\"", "\"\"", "1"}},
            {"routes",
             "[]",
             {"[{ model = \"a\", backends = [\"b\"] }]", "[{ model = \"*\", backends = [\"c\", \"d\"] }]",
              "[{ model = \"x-*\", backends = [\"e\"] }, { model = \"y\", backends = [\"f\"] }]"},
             {"1", "\"a\"", "[{ model = \"a\" }]", "[{ model = \"a\", backends = [] }]", "[{ model = \"a\", backends = [\"B\"] }]",
              "[{ model = \"\", backends = [\"b\"] }]", "[{ model = \"a\", backends = [\"b\"], more = 1 }]",
              "[{ mode = \"a\", backends = [\"b\"] }]"}},
            {"log.format", "\"auto\"", {"\"text\"", "\"json\"", "\"auto\""}, {"\"xml\"", "1"}},
            {"log.level", "\"info\"", {"\"debug\"", "\"error\"", "\"warn\""}, {"\"loud\"", "3"}},
            {"log.access", "true", {"false", "true", "false"}, flags_bad},
        };
        const auto add = [&made](std::vector<row> more) { made.insert(made.end(), more.begin(), more.end()); };
        const std::vector<std::string> zero = {"0", "\"0s\"", "\"25h\""};
        add(duration_row("server.header_timeout", "\"10s\"", zero));
        add(duration_row("server.idle_timeout", "\"1m\"", zero));
        add(duration_row("server.upload_stall_timeout", "\"30s\"", zero));
        add(duration_row("server.drain", "\"2m\"", {"\"25h\""}));
        add(duration_row("flight.ttl", "\"10m\"", zero));
        add(duration_row("flight.abandon_grace", "\"90s\"", {"\"25h\""}));
        add(duration_row("deadline.base", "\"30s\"", zero));
        add(duration_row("deadline.cap", "\"2m\"", zero));
        add(duration_row("retry.window", "\"20s\"", {"\"61m\""}));
        return made;
    }();
    return all;
}

const std::vector<row>& backend_rows() {
    const static std::vector<std::string> paths_bad = {"1", "\"\"", "[]"};
    static const std::vector<row> all = {
        {"kind", "\"whisper\"", {"\"openai\"", "\"gemini\"", "\"whisper\""}, {"\"azure\"", "1", "\"\""}},
        {"models", "[]", {"[\"a\"]", "[\"b-*\"]", "[\"c\", \"d\"]"}, {"1", "[\"\"]", "{ a = 1 }"}},
        {"default_model", "", {"\"a\"", "\"b\"", "\"c\""}, {"1", "\"\""}},
        {"model_alias",
         "{}",
         {"{ \"a\" = \"b\" }", "{ \"a.b\" = \"c\", \"d\" = \"e\" }", "{}"},
         {"1", "\"a=b\"", "{ a = 1 }", "{ a = \"\" }", "[]"}},
        {"base_url",
         "",
         {"\"https://a/v1\"", "\"http://b:80\"", "\"http://[::1]:9/x\""},
         {"\"a\"", "\"ftp://a\"", "\"http://a:99999/v1\"", "\"http://a:x\"", "\"https://u:p@a\"", "\"https://a?x\"", "\"https://a#x\"",
          "\"https://\"", "1"}},
        {"api_key", "", {"\"***\"", "\"\"", "\"***\""}, {"[]", "\"a b\"", "\"a\\nb\""}},
        {"api_key_env", "", {"\"A\"", "\"B_2\"", "\"c\""}, {"\"2A\"", "\"A-B\"", "\"\"", "1"}},
        {"api_key_file", "", {"\"/a\"", "\"b\"", "\"/c\""}, paths_bad},
        {"max_in_flight", "256", {"1", "65535", "2"}, {"0", "65536", "\"1\""}},
        {"ca_file", "", {"\"/a\"", "\"b\"", "\"/c\""}, paths_bad},
        {"model", "", {"\"base.en\"", "\"/m/x.bin\"", "\"tiny\""}, {"1", "\"\"", "[]"}},
        {"threads", "", {"1", "1024", "2"}, {"0", "1025", "\"1\""}},
        {"slots", "", {"1", "64", "2"}, {"0", "65"}},
        {"queue", "", {"0", "65535", "2"}, {"-1", "65536"}},
        {"no_context", "false", {"true", "false", "true"}, {"1", "\"x\""}},
        {"deadline_per_audio_second", "4.0", {"0.0", "1.5", "1000.0"}, {"-1", "1001", "\"x\""}},
        {"progress_timeout", "\"20s\"", {"\"1s\"", "\"5m\"", "\"1ms\""}, {"0", "\"25h\"", "\"x\""}},
    };
    return all;
}

settings_sources sources(const scratch& place) {
    settings_sources from;
    from.system_directory = place.folder() / "none";
    from.system_models = place.folder() / "none";
    from.cores = 3;
    return from;
}

std::string variable(const std::string& key) {
    std::string name = "HEARONCE_";
    for (const char c : key) name += c == '.' ? std::string("__") : std::string(1, static_cast<char>(std::toupper(c)));
    return name;
}

// A dotted key as a line of a file.
std::string line(const std::string& key, const std::string& what) {
    return key + " = " + what + "\n";
}

std::string first_problem(const load_result& loaded) {
    return loaded ? std::string() : loaded.error().found.front().text;
}

// Where the key is used, and the lines it needs beside it.
struct place_of {
    std::string dotted;
    std::string beside;
};

place_of of_backend(const backend_key& described) {
    if (described.name == "kind") return {"backends.b1.kind", ""};
    return {"backends.b1." + std::string(described.name),
            line("backends.b1.kind", described.applies == kinds::cloud ? "\"openai\"" : "\"whisper\"")};
}

// `shown`: reads the one value back out of what was loaded.
void check_layers(const row& tested, const place_of& at, const std::function<std::string(const settings&)>& shown) {
    const scratch place;
    auto from = sources(place);
    from.config_file = place.write("config.toml", at.beside);
    if (!at.beside.empty() || !at.dotted.starts_with("backends.")) {
        const auto initial = read_settings(from);
        BOOST_TEST_REQUIRE(initial.has_value(), first_problem(initial));
        BOOST_TEST(shown(initial->values) == tested.initial);
        BOOST_TEST(initial->origins.contains(at.dotted) == false);
    }
    place.write("config.toml", at.beside + line(at.dotted, tested.good[0]));
    const auto by_file = read_settings(from);
    BOOST_TEST_REQUIRE(by_file.has_value(), first_problem(by_file));
    BOOST_TEST(shown(by_file->values) == tested.good[0]);
    BOOST_TEST(name_of(by_file->origins.at(at.dotted)) == "file");

    from.variables[variable(at.dotted)] = tested.good[1];
    const auto by_variable = read_settings(from);
    BOOST_TEST_REQUIRE(by_variable.has_value(), first_problem(by_variable));
    BOOST_TEST(shown(by_variable->values) == tested.good[1]);
    BOOST_TEST(name_of(by_variable->origins.at(at.dotted)) == "env");

    from.assignments = {at.dotted + "=" + tested.good[1], at.dotted + "=" + tested.good[2]};
    const auto by_flag = read_settings(from);
    BOOST_TEST_REQUIRE(by_flag.has_value(), first_problem(by_flag));
    BOOST_TEST(shown(by_flag->values) == tested.good[2]);
    BOOST_TEST(name_of(by_flag->origins.at(at.dotted)) == "flag");
}

void check_refusals(const row& tested, const place_of& at, const std::string& accepts, bool hidden) {
    const scratch place;
    auto from = sources(place);
    for (const std::string& bad : tested.bad) {
        BOOST_TEST_CONTEXT(tested.name << " = " << bad) {
            from.config_file = place.write("config.toml", at.beside + line(at.dotted, bad));
            const auto loaded = read_settings(from);
            BOOST_TEST_REQUIRE(!loaded.has_value(), "accepted");
            BOOST_TEST(loaded.error().found.size() == 1U);
            const auto [key, text] = loaded.error().found.front();
            BOOST_TEST(key == at.dotted);
            BOOST_TEST(text.starts_with(at.dotted + ": "), text);
            BOOST_TEST(text.find("accepts " + accepts) != std::string::npos, text);
            BOOST_TEST(text.find(from.config_file->string()) != std::string::npos, text);
            BOOST_TEST(text.find('\n') == std::string::npos, text);
            if (hidden) BOOST_TEST(text.find("not \"") == std::string::npos, text);
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_key_has_a_row) {
    std::set<std::string> tested, described;
    for (const row& one : rows()) tested.insert(one.name);
    for (const key& one : keys()) described.insert(std::string(one.name));
    BOOST_TEST(tested == described, boost::test_tools::per_element());
    tested.clear();
    described.clear();
    for (const row& one : backend_rows()) tested.insert(one.name);
    for (const backend_key& one : backend_keys()) described.insert(std::string(one.name));
    BOOST_TEST(tested == described, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_key_by_default_file_variable_and_flag) {
    for (const row& one : rows()) {
        BOOST_TEST_CONTEXT(one.name) {
            const key* described = find_key(one.name);
            BOOST_REQUIRE(described);
            check_layers(one, {one.name, ""}, [described](const settings& all) { return described->show(all); });
        }
    }
}

BOOST_AUTO_TEST_CASE(each_backend_key_by_default_file_variable_and_flag) {
    for (const row& one : backend_rows()) {
        BOOST_TEST_CONTEXT(one.name) {
            const backend_key* described = find_backend_key(one.name);
            BOOST_REQUIRE(described);
            check_layers(one, of_backend(*described), [described](const settings& all) { return described->show(*all.backend("b1")); });
        }
    }
}

BOOST_AUTO_TEST_CASE(each_key_refuses_with_its_name_and_what_it_accepts) {
    for (const row& one : rows()) {
        const key* described = find_key(one.name);
        check_refusals(one, {one.name, ""}, described->accepts(), described->secret);
    }
    for (const row& one : backend_rows()) {
        const backend_key* described = find_backend_key(one.name);
        check_refusals(one, of_backend(*described), described->accepts(), described->secret);
    }
}

BOOST_AUTO_TEST_CASE(every_key_says_what_it_is_for) {
    for (const key& one : keys()) {
        BOOST_TEST(one.about.size() > 4U, one.name);
        BOOST_TEST(!one.accepts().empty());
    }
    for (const backend_key& one : backend_keys()) BOOST_TEST(one.about.size() > 4U, one.name);
}

BOOST_AUTO_TEST_CASE(bare_text_needs_no_quotes_in_variables_and_flags) {
    const scratch place;
    auto from = sources(place);
    from.assignments = {"server.listen=127.0.0.1:1,[::1]:2",
                        "server.max_audio=2MiB",
                        "flight.ttl=5",
                        "retry.pauses=2s,5s,10s",
                        "auth.tokens_file=true",
                        "backends.b1.kind=openai",
                        "backends.b1.default_model=123",
                        "backends.b1.api_key=1e5",
                        "deadline.base=0.5",
                        "server.cors_origins="};
    from.variables["HEARONCE_SERVER__HOST_NAMES"] = "a,B";
    const auto loaded = read_settings(from);
    BOOST_TEST_REQUIRE(loaded.has_value(), first_problem(loaded));
    const settings& all = loaded->values;
    BOOST_TEST(find_key("server.listen")->show(all) == "[\"127.0.0.1:1\", \"[::1]:2\"]");
    BOOST_TEST(all.server.max_audio_bytes == 2097152U);
    BOOST_TEST(all.flight.ttl.count() == 5000);
    BOOST_TEST(all.deadline.base.count() == 500);
    BOOST_TEST(all.retry.pauses.size() == 3U);
    BOOST_TEST(all.auth.tokens_file->string() == "true");
    BOOST_TEST(*all.backend("b1")->default_model == "123");
    BOOST_TEST(all.backend("b1")->api_key->reveal() == "1e5");
    BOOST_TEST(all.server.host_names == (std::vector<std::string>{"a", "b"}), boost::test_tools::per_element());
    BOOST_TEST(all.server.cors_origins.empty());
}

BOOST_AUTO_TEST_CASE(one_value_stands_for_a_list_of_one_in_files_too) {
    const scratch place;
    auto from = sources(place);
    from.config_file =
        place.write("c.toml", "server.listen = \"127.0.0.1:9\"\nretry.pauses = 2\nroutes = { model = \"a\", backends = \"b\" }\n");
    const auto loaded = read_settings(from);
    BOOST_TEST_REQUIRE(loaded.has_value(), first_problem(loaded));
    BOOST_TEST(loaded->values.server.listen.size() == 1U);
    BOOST_TEST(loaded->values.retry.pauses.front().count() == 2000);
    BOOST_TEST(loaded->values.routes.front().backends.size() == 1U);
    // A comma parts elements in variables and flags alone: a file has lists.
    place.write("c.toml", "server.host_names = \"a,b\"\n");
    BOOST_TEST(!read_settings(from).has_value());
}

BOOST_AUTO_TEST_CASE(a_list_ends_at_256) {
    const scratch place;
    auto from = sources(place);
    const auto with = [&](int count) {
        std::string list;
        for (int i = 0; i < count; ++i) list += "\"h" + std::to_string(i) + "\",";
        from.config_file = place.write("c.toml", "server.host_names = [" + list + "]\n");
        return read_settings(from).has_value();
    };
    BOOST_TEST(with(255));
    BOOST_TEST(with(256));
    BOOST_TEST(!with(257));
}

BOOST_AUTO_TEST_CASE(the_store_url_is_taken_apart_and_its_password_hidden) {
    const scratch place;
    auto from = sources(place);
    from.assignments = {"flight.store=rediss://:p%40ss@cache.example:6380/7"};
    const auto loaded = read_settings(from);
    BOOST_TEST_REQUIRE(loaded.has_value(), first_problem(loaded));
    const auto& store = *loaded->values.flight.store;
    BOOST_TEST(store.tls);
    BOOST_TEST(store.host == "cache.example");
    BOOST_TEST(store.port == 6380);
    BOOST_TEST(store.database == 7U);
    BOOST_TEST(store.password.reveal() == "p@ss");
    const std::string text = show_settings(*loaded);
    BOOST_TEST(text.find("rediss://:***@cache.example:6380/7") != std::string::npos, text);
    BOOST_TEST(text.find("p%40ss") == std::string::npos);
    BOOST_TEST(text.find("p@ss") == std::string::npos);
}

// What `config show` prints, given back as a file, makes the same settings: for many mixtures of values.
BOOST_AUTO_TEST_CASE(shown_settings_read_back_are_the_same) {
    std::mt19937 random(20260101);
    for (int round = 0; round < 200; ++round) {
        const scratch place;
        auto from = sources(place);
        std::string text;
        std::map<std::string, std::string> used;
        for (const row& one : rows()) {
            const auto pick = random() % 4;
            if (pick < 3) text += line(one.name, one.good[pick]);
        }
        for (const char* name : {"b1", "cloud"}) {
            const bool whisper = std::string(name) == "b1";
            text += line("backends." + std::string(name) + ".kind", whisper ? "\"whisper\"" : "\"openai\"");
            for (const row& one : backend_rows()) {
                const auto pick = random() % 4;
                const backend_key* described = find_backend_key(one.name);
                if (pick == 3 || one.name == "kind" || one.name == "api_key" ||
                    !applies_to(*described, whisper ? backend_kind::whisper : backend_kind::openai))
                    continue;
                text += line("backends." + std::string(name) + "." + one.name, one.good[pick]);
            }
        }
        from.config_file = place.write("first.toml", text);
        const auto first = read_settings(from);
        BOOST_TEST_REQUIRE(first.has_value(), first_problem(first) << "\n" << text);
        from.config_file = place.write("second.toml", show_settings(*first));
        const auto second = read_settings(from);
        BOOST_TEST_REQUIRE(second.has_value(), first_problem(second) << "\n" << show_settings(*first));
        BOOST_TEST((first->values == second->values), text);
        BOOST_TEST(changed_keys(first->values, second->values).empty());
    }
}

BOOST_AUTO_TEST_CASE(printed_defaults_are_a_file_that_changes_nothing) {
    const scratch place;
    auto from = sources(place);
    const auto plain = read_settings(from);
    from.config_file = place.write("defaults.toml", show_defaults());
    const auto loaded = read_settings(from);
    BOOST_TEST_REQUIRE(loaded.has_value(), first_problem(loaded) << "\n" << show_defaults());
    BOOST_TEST((loaded->values == plain->values));
    for (const key& one : keys()) BOOST_TEST(show_defaults().find(std::string(one.name) + " = ") != std::string::npos, one.name);
    for (const backend_key& one : backend_keys())
        BOOST_TEST(show_defaults().find("# backends.NAME." + std::string(one.name) + " = ") != std::string::npos, one.name);
}

BOOST_AUTO_TEST_CASE(a_change_is_named_with_whether_it_takes_effect) {
    const scratch place;
    auto from = sources(place);
    for (const row& one : rows()) {
        BOOST_TEST_CONTEXT(one.name) {
            // A backend of its own, so that none is implied by the mode.
            from.assignments = {"backends.b1.kind=openai", one.name + "=" + one.good[0]};
            const auto before = read_settings(from);
            from.assignments = {"backends.b1.kind=openai", one.name + "=" + one.good[1]};
            const auto after = read_settings(from);
            BOOST_REQUIRE(before.has_value());
            BOOST_REQUIRE(after.has_value());
            const auto changed = changed_keys(before->values, after->values);
            BOOST_TEST_REQUIRE(changed.size() == 1U);
            BOOST_TEST(changed.front().key == one.name);
            BOOST_TEST(changed.front().live == find_key(one.name)->live);
        }
    }
    from.assignments = {"flight.store=redis://:one@a"};
    const auto before = read_settings(from);
    from.assignments = {"flight.store=redis://:two@a"};
    BOOST_TEST(changed_keys(before->values, read_settings(from)->values).front().key == "flight.store");
    from.assignments = {"backends.openai.api_key=a"};
    const auto key_before = read_settings(from);
    from.assignments = {"backends.openai.api_key=b"};
    BOOST_TEST(changed_keys(key_before->values, read_settings(from)->values).front().key == "backends.openai");
}
