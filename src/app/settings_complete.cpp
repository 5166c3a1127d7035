// What other places hold is filled in: credentials, model files, the default backend. Next file: settings_check.cpp.
#include <app/known_models.hpp>
#include <app/models.hpp>
#include <app/settings_check.hpp>
#include <app/settings_keys.hpp>
#include <app/settings_layers.hpp>
#include <app/settings_value.hpp>

#include <algorithm>
#include <fstream>

namespace hearonce::app {
namespace {

constexpr std::size_t key_bytes_max = 4096;

void complain(problems& found, const std::string& key, const std::string& text) {
    found.push_back({key, key + ": " + text});
}

// One line without control characters or spaces; line ends after it are what editors add.
std::optional<secret> usable_key(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    const bool plain = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
    return plain && !text.empty() && text.size() <= key_bytes_max ? std::optional<secret>(text) : std::nullopt;
}

void fetch_credential(backend_settings& one, const settings_sources& from, problems& found) {
    const std::string head = "backends." + one.name + ".";
    if (one.api_key.has_value() + one.api_key_env.has_value() + one.api_key_file.has_value() > 1) {
        return complain(found, head + "api_key", "only one of api_key, api_key_env and api_key_file can be given");
    }
    if (one.api_key) {
        one.credential = *one.api_key;
    } else if (one.api_key_file) {
        std::ifstream file(*one.api_key_file, std::ios::binary);
        std::string text(key_bytes_max + 2, '\0');
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
        const auto key = usable_key(std::string_view(text).substr(0, static_cast<std::size_t>(file.gcount())));
        OPENSSL_cleanse(text.data(), text.size());
        if (!key)
            return complain(found, head + "api_key_file",
                            one.api_key_file->string() + " does not hold a key: it must be readable and hold one line without spaces");
        one.credential = *key;
    } else {
        const std::string name = one.api_key_env.value_or(std::string(key_variable_of(one.kind)));
        const auto text = variable_of(from.variables, name);
        if (!text) {
            if (one.api_key_env) complain(found, head + "api_key_env", "the environment variable " + name + " is not set");
            return;
        }
        const auto key = usable_key(*text);
        if (!key)
            return complain(found, head + "api_key_env",
                            "the environment variable " + name + " does not hold a key: one line without spaces");
        one.credential = *key;
    }
}

void find_model_of(backend_settings& one, const settings_sources& from, problems& found) {
    const std::string dotted = "backends." + one.name + ".model";
    // Neither having no model yet nor a name that is not fetched yet keeps the gateway from starting: the backend says that it
    // is not ready, names the command that gets a model, and takes the file up when it is there.
    if (!one.model) return;
    const auto file = find_model(from, *one.model);
    if (file && is_ggml_file(*file)) {
        one.model_path = *file;
    } else if (file) {
        complain(found, dotted, file->string() + " is not a ggml model file; fetch it again");
    } else if (find_known_model(*one.model) != nullptr) {
        one.model_path = model_folders(from).front() / ("ggml-" + *one.model + ".bin");
    } else {
        complain(
            found, dotted,
            "there is no model " + toml_string(*one.model) + "; accepts the path of a ggml model file or a name of `hearonce models list`");
    }
}

}  // namespace

std::string_view key_variable_of(backend_kind kind) {
    return kind == backend_kind::gemini ? "GEMINI_API_KEY" : "OPENAI_API_KEY";
}

problems complete(settings& values, const settings_sources& from) {
    problems found;
    for (backend_settings& one : values.backends) {
        if (one.kind == backend_kind::whisper) {
            find_model_of(one, from, found);
        } else if (values.auth.mode != auth_mode::own_key || one.api_key || one.api_key_env || one.api_key_file) {
            // In mode own-key the operator's key must not pay for callers unless it is given on purpose.
            fetch_credential(one, from, found);
        }
    }
    const auto whisper = std::ranges::find(values.backends, backend_kind::whisper, &backend_settings::kind);
    if (!values.default_backend && whisper != values.backends.end()) values.default_backend = whisper->name;
    return found;
}

}  // namespace hearonce::app
