// What must hold between keys, and what keys come to together.
#define BOOST_TEST_MODULE check
#include <boost/test/unit_test.hpp>

#include <app/load_settings.hpp>
#include <app/settings_check.hpp>
#include <test/support/scratch.hpp>

using namespace hearonce::app;
using hearonce::test::scratch;

namespace {

struct fixture {
    settings loaded_;
    scratch place;
    settings_sources from;

    fixture() {
        from.system_directory = place.folder() / "etc";
        from.system_models = place.folder() / "models";
        from.cores = 2;
        set("memory.spill_directory", place.folder().string());
    }
    void set(const std::string& key, const std::string& text) { from.assignments.push_back(key + "=" + text); }
    std::string file(const std::string& name, const std::string& text = "x") const { return place.write(name, text).string(); }
    std::vector<std::string> complaints() const {
        const auto loaded = load_settings(from);
        std::vector<std::string> lines;
        if (!loaded) {
            const auto why = loaded.error();
            for (const auto& one : why.found) lines.push_back(one.text);
        }
        return lines;
    }
    std::string only() const {
        const auto lines = complaints();
        BOOST_TEST_REQUIRE(lines.size() == 1U, lines.size() << " complaints, first: " << (lines.empty() ? std::string() : lines.front()));
        return lines.front();
    }
    // What was loaded; valid until the next call.
    const settings& good() {
        const auto loaded = load_settings(from);
        BOOST_TEST_REQUIRE(loaded.has_value(), (loaded ? std::string() : loaded.error().found.front().text));
        loaded_ = loaded->values;
        return loaded_;
    }
    std::vector<std::string> warnings() const { return load_settings(from)->warnings; }
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(listening, fixture)

BOOST_AUTO_TEST_CASE(beyond_loopback_needs_a_mode_or_a_word) {
    for (const char* address : {"0.0.0.0:80", "192.0.2.1:80", "[::]:80", "[2001:db8::1]:80"}) {
        from.assignments.resize(1);
        set("server.listen", address);
        BOOST_TEST(only().starts_with("server.listen: " + std::string(address) + " can be reached from other machines"), only());
        BOOST_TEST(has(only(), "server.open_to_everyone"));
        set("server.open_to_everyone", "true");
        good();
        from.assignments.resize(2);
        set("auth.mode", "own-key");
        good();
        from.assignments.resize(2);
        set("auth.mode", "tokens");
        set("auth.tokens_file", file("tokens"));
        good();
    }
    for (const char* address : {"127.0.0.1:80", "127.9.9.9:80", "[::1]:80", "localhost:0"}) {
        from.assignments.resize(1);
        set("server.listen", address);
        good();
    }
    from.assignments.resize(1);
    set("server.listen", "127.0.0.1:80,0.0.0.0:81");
    BOOST_TEST(has(only(), "0.0.0.0:81"));
}

BOOST_AUTO_TEST_CASE(one_address_twice_is_an_error_but_for_free_ports) {
    set("server.listen", "127.0.0.1:80,127.0.0.1:81,127.0.0.1:80");
    BOOST_TEST(only() == "server.listen: 127.0.0.1:80 is named twice");
    from.assignments.resize(1);
    set("server.listen", "127.0.0.1:0,127.0.0.1:0");
    good();
}

BOOST_AUTO_TEST_CASE(tls_takes_both_files_or_neither) {
    set("server.tls_certificate", file("c.pem"));
    BOOST_TEST(only().starts_with("server.tls_key: is missing"), only());
    set("server.tls_key", file("k.pem"));
    good();
    from.assignments.resize(1);
    set("server.tls_key", file("k.pem"));
    BOOST_TEST(only().starts_with("server.tls_certificate: is missing"), only());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(named_files, fixture)

BOOST_AUTO_TEST_CASE(must_be_readable) {
    const std::string missing = (place.folder() / "none").string();
    for (const char* key : {"auth.tokens_file", "auth.secret_file", "backends.openai.ca_file"}) {
        from.assignments.resize(1);
        set("backends.openai.api_key", "k");
        set(key, missing);
        BOOST_TEST(only() == std::string(key) + ": " + missing + " cannot be read: No such file or directory");
        from.assignments.pop_back();
        set(key, place.folder().string());
        BOOST_TEST(has(only(), "is a folder"));
        from.assignments.pop_back();
        set(key, file("there"));
        good();
    }
}

BOOST_AUTO_TEST_CASE(spill_folder_must_exist_unless_nothing_spills) {
    from.assignments.clear();
    set("memory.spill_directory", (place.folder() / "none").string());
    BOOST_TEST(only().starts_with("memory.spill_directory: "), only());
    set("memory.spill_bytes", "0");
    good();
    from.assignments.clear();
    set("memory.spill_directory", file("plain"));
    BOOST_TEST(has(only(), "is not a folder"));
}

BOOST_AUTO_TEST_CASE(mode_tokens_needs_its_file) {
    set("auth.mode", "tokens");
    BOOST_TEST(only().starts_with("auth.tokens_file: is missing"), only());
}

BOOST_AUTO_TEST_CASE(a_shared_store_needs_a_shared_secret) {
    set("flight.store", "redis://a");
    BOOST_TEST(only().starts_with("auth.secret_file: is missing"), only());
    set("auth.secret_file", file("secret"));
    good();
}

BOOST_AUTO_TEST_CASE(reading_alone_looks_at_no_file) {
    set("auth.mode", "tokens");
    set("auth.tokens_file", (place.folder() / "none").string());
    BOOST_TEST(read_settings(from).has_value());
    BOOST_TEST(!load_settings(from).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(credentials, fixture)

BOOST_AUTO_TEST_CASE(come_from_one_place) {
    from.variables = {{"OPENAI_API_KEY", "o"}, {"GEMINI_API_KEY", "g"}, {"MINE", "m"}};
    BOOST_TEST(good().backend("openai")->credential.reveal() == "o");
    BOOST_TEST(good().backend("gemini")->credential.reveal() == "g");
    set("backends.openai.api_key_env", "MINE");
    BOOST_TEST(good().backend("openai")->credential.reveal() == "m");
    from.assignments.resize(1);
    set("backends.openai.api_key_file", file("key", "f\r\n"));
    BOOST_TEST(good().backend("openai")->credential.reveal() == "f");
    from.assignments.resize(1);
    set("backends.openai.api_key", "k");
    BOOST_TEST(good().backend("openai")->credential.reveal() == "k");
    set("backends.openai.api_key_env", "MINE");
    BOOST_TEST(only() == "backends.openai.api_key: only one of api_key, api_key_env and api_key_file can be given");
}

BOOST_AUTO_TEST_CASE(that_cannot_be_had_are_said) {
    set("backends.openai.max_in_flight", "1");
    BOOST_TEST(only().starts_with("backends.openai.api_key: is missing"), only());
    BOOST_TEST(has(only(), "OPENAI_API_KEY"));
    set("backends.openai.api_key_env", "NONE");
    BOOST_TEST(complaints().front() == "backends.openai.api_key_env: the environment variable NONE is not set");
    for (const std::string& text :
         {std::string(), std::string("\n"), std::string("two words"), std::string("two\nlines\n"), std::string(4097, 'k')}) {
        from.assignments.resize(1);
        set("backends.openai.api_key_file", file("key", text));
        BOOST_TEST(complaints().front().starts_with("backends.openai.api_key_file: "), complaints().front());
        BOOST_TEST(!has(complaints().front(), "two"));
    }
    from.assignments.resize(1);
    set("backends.openai.api_key_file", file("key", std::string(4096, 'k')));
    good();
}

BOOST_AUTO_TEST_CASE(are_not_needed_for_a_server_of_ones_own) {
    set("backends.openai.base_url", "http://127.0.0.1:9/v1");
    BOOST_TEST(good().backend("openai")->credential.empty());
}

BOOST_AUTO_TEST_CASE(of_the_operator_do_not_pay_in_mode_own_key) {
    from.variables = {{"OPENAI_API_KEY", "o"}};
    set("auth.mode", "own-key");
    BOOST_TEST(good().backend("openai")->credential.empty());
    BOOST_TEST(good().backend("gemini")->credential.empty());
}

BOOST_AUTO_TEST_CASE(are_shown_as_stars) {
    set("backends.openai.api_key", "sk-hidden");
    const std::string text = show_settings(*load_settings(from));
    BOOST_TEST(has(text, "backends.openai.api_key = \"***\""), text);
    BOOST_TEST(!has(text, "sk-hidden"), text);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(local_models, fixture)

BOOST_AUTO_TEST_CASE(may_come_later_if_their_name_is_known) {
    set("backends.local.slots", "1");
    BOOST_TEST(good().backend("local")->model_path.empty());
    set("backends.local.model", "base");
    BOOST_TEST(good().backend("local")->model_path.filename() == "ggml-base.bin");
    for (const char* unknown : {"bass", "./ggml-base.bin", "/nowhere/ggml-base.bin"}) {
        set("backends.local.model", unknown);
        BOOST_TEST(only().starts_with("backends.local.model: there is no model \"" + std::string(unknown) + "\""), only());
        BOOST_TEST(has(only(), "hearonce models list"));
    }
    set("backends.local.model", "base");
    const auto model = file("models/ggml-base.bin", "lmgg");
    BOOST_TEST(good().backend("local")->model_path == model);
    set("backends.local.model", model);
    BOOST_TEST(good().backend("local")->model_path == model);
}

BOOST_AUTO_TEST_CASE(must_begin_like_one) {
    for (const char* text : {"", "lmg", "<html>", "GGUF...."}) {
        file("models/ggml-base.bin", text);
        BOOST_TEST(
            only().starts_with("backends.local.model: " + (place.folder() / "models/ggml-base.bin").string() + " is not a ggml model file"),
            only());
    }
}

BOOST_AUTO_TEST_CASE(make_the_default_backend) {
    // Without a model too: the request then reaches the backend that says what it lacks.
    BOOST_TEST(*good().default_backend == "local");
    file("models/ggml-base.bin", "lmgg");
    BOOST_TEST(*good().default_backend == "local");
    set("backends.openai.api_key", "k");
    BOOST_TEST(!good().default_backend.has_value());
    set("default_backend", "openai");
    BOOST_TEST(*good().default_backend == "openai");
    set("default_backend", "other");
    BOOST_TEST(only() == "default_backend: there is no backend \"other\"");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(claims_and_routes, fixture)

BOOST_AUTO_TEST_CASE(two_backends_that_claim_one_name_point_to_routes) {
    const std::pair<const char*, const char*> clashes[] = {
        {"a", "a"}, {"a*", "ab"}, {"ab", "a*"}, {"*", "gpt-4o-transcribe"}, {"x,a", "b,a"}};
    for (const auto& [one, two] : clashes) {
        from.assignments.resize(1);
        set("backends.one.kind", "openai");
        set("backends.one.api_key", "k");
        set("backends.one.models", one);
        set("backends.two.kind", "openai");
        set("backends.two.api_key", "k");
        set("backends.two.models", two);
        BOOST_TEST(only().starts_with("backends.two.models: claims"), only());
        BOOST_TEST(has(only(), "backends.one"));
        BOOST_TEST(has(only(), "routes"));
        set("routes", "[{ model = \"*\", backends = [\"one\", \"two\"] }]");
        good();
    }
    from.assignments.resize(1);
    set("backends.one.kind", "openai");
    set("backends.one.api_key", "k");
    set("backends.two.kind", "openai");
    set("backends.two.api_key", "k");
    BOOST_TEST(has(only(), "claims \"gpt-transcribe*\""));
    set("backends.two.models", "mine");
    good();
}

BOOST_AUTO_TEST_CASE(routes_name_backends_that_exist_once) {
    set("backends.openai.api_key", "k");
    set("routes", "[{ model = \"a\", backends = [\"openai\", \"none\"] }]");
    BOOST_TEST(only() == "routes: there is no backend \"none\"");
    from.assignments.pop_back();
    set("routes", "[{ model = \"a\", backends = [\"openai\", \"openai\"] }]");
    BOOST_TEST(only() == "routes: backend \"openai\" is named twice for \"a\"");
    from.assignments.pop_back();
    set("routes", "[{ model = \"a\", backends = [\"openai\"] }]");
    good();
}

BOOST_AUTO_TEST_CASE(a_whisper_backend_claims_its_models_name) {
    file("models/ggml-base.en.bin", "lmgg");
    BOOST_TEST(claimed_models(*good().backend("local")) == std::vector<std::string>{"base.en"}, boost::test_tools::per_element());
    set("backends.local.model", "base.en");
    set("backends.local.models", "whisper-*");
    BOOST_TEST(claimed_models(*good().backend("local")) == std::vector<std::string>{"whisper-*"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_cloud_backend_claims_its_kinds_models_and_its_aliases) {
    set("backends.openai.api_key", "k");
    set("backends.openai.model_alias", "{ fast = \"gpt-4o-mini-transcribe\", gpt-transcribe-x = \"y\" }");
    const std::vector<std::string> own{"gpt-transcribe*", "gpt-4o*-transcribe*", "whisper-1", "fast"};
    BOOST_TEST(claimed_models(*good().backend("openai")) == own, boost::test_tools::per_element());
    set("backends.openai.models", "mine");
    const std::vector<std::string> given{"mine", "fast", "gpt-transcribe-x"};
    BOOST_TEST(claimed_models(*good().backend("openai")) == given, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(said_at_start, fixture)

BOOST_AUTO_TEST_CASE(a_key_from_the_environment_that_goes_elsewhere) {
    file("models/ggml-base.bin", "lmgg");
    from.variables["OPENAI_API_KEY"] = "sk-x";
    BOOST_TEST(warnings().empty());
    for (const std::string own : {"https://api.openai.com/v1", "https://eu.api.openai.com/v1"}) {
        set("backends.openai.base_url", own);
        BOOST_TEST(warnings().empty(), own);
    }
    for (const std::string other : {"https://api.openai.com.example.org/v1", "http://127.0.0.1:8000/v1", "https://notapi.openai.com/v1"}) {
        set("backends.openai.base_url", other);
        BOOST_TEST_REQUIRE(warnings().size() == 1U);
        BOOST_TEST(has(warnings().front(), "backends.openai: the key in OPENAI_API_KEY is sent to "));
        BOOST_TEST(!has(warnings().front(), "sk-x"));
    }
    set("backends.openai.api_key", "");
    BOOST_TEST(warnings().empty());
    from.assignments.pop_back();
    set("backends.openai.api_key_env", "OPENAI_API_KEY");
    BOOST_TEST(warnings().empty(), "given on purpose");
}

BOOST_AUTO_TEST_CASE(no_model_and_the_command_that_gets_one) {
    BOOST_TEST_REQUIRE(warnings().size() == 1U);
    BOOST_TEST(has(warnings().front(), "hearonce models pull base.en"));
    set("backends.local.model", "tiny");
    BOOST_TEST_REQUIRE(warnings().size() == 1U);
    BOOST_TEST(has(warnings().front(), "hearonce models pull tiny"));
    from.assignments.clear();
    file("models/ggml-base.bin", "lmgg");
    BOOST_TEST(warnings().empty());
}

BOOST_AUTO_TEST_CASE(a_recording_that_finds_no_room) {
    file("models/ggml-base.bin", "lmgg");
    set("memory.audio", "1MiB");
    set("memory.spill_bytes", "1MiB");
    set("server.max_audio", "1MiB");
    BOOST_TEST(warnings().empty());
    set("server.max_audio", "1048577");
    BOOST_TEST_REQUIRE(warnings().size() == 1U);
    BOOST_TEST(has(warnings().front(), "server.max_audio"));
}

BOOST_AUTO_TEST_SUITE_END()
