// Next file: gateway.hpp.
#include <app/settings_check.hpp>

#include <app/settings_keys.hpp>
#include <app/settings_units.hpp>
#include <app/settings_value.hpp>

#include <boost/url/parse.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fnmatch.h>
#include <unistd.h>

namespace hearonce::app {
namespace {

void complain(problems& found, const std::string& key, const std::string& text) {
    found.push_back({key, key + ": " + text});
}

void check_readable(problems& found, const std::string& key, const std::optional<std::filesystem::path>& file) {
    if (!file) return;
    std::error_code ec;
    if (std::filesystem::is_directory(*file, ec)) return complain(found, key, file->string() + " is a folder, not a file");
    if (::access(file->c_str(), R_OK) != 0) complain(found, key, file->string() + " cannot be read: " + std::strerror(errno));
}

void check_server(const settings& values, problems& found) {
    const server_settings& server = values.server;
    if (server.tls_certificate.has_value() != server.tls_key.has_value()) {
        const std::string missing = server.tls_certificate ? "server.tls_key" : "server.tls_certificate";
        complain(found, missing, "is missing; server.tls_certificate and server.tls_key are given both or neither");
    }
    check_readable(found, "server.tls_certificate", server.tls_certificate);
    check_readable(found, "server.tls_key", server.tls_key);
    for (std::size_t i = 0; i < server.listen.size(); ++i) {
        const auto& endpoint = server.listen[i];
        const bool again = endpoint.port() != 0 && std::find(server.listen.begin(), server.listen.begin() + static_cast<std::ptrdiff_t>(i),
                                                             endpoint) != server.listen.begin() + static_cast<std::ptrdiff_t>(i);
        if (again) complain(found, "server.listen", show_endpoint(endpoint) + " is named twice");
        if (values.auth.mode == auth_mode::open && !server.open_to_everyone && !endpoint.address().is_loopback()) {
            complain(found, "server.listen",
                     show_endpoint(endpoint) +
                         " can be reached from other machines and auth.mode is \"open\"; accepts loopback addresses, or set auth.mode to "
                         "tokens or own-key, or server.open_to_everyone = true");
        }
    }
}

void check_files(const settings& values, problems& found) {
    const auth_settings& auth = values.auth;
    if (auth.mode == auth_mode::tokens && !auth.tokens_file)
        complain(found, "auth.tokens_file", "is missing; auth.mode = \"tokens\" needs it (`hearonce token new NAME` fills it)");
    check_readable(found, "auth.tokens_file", auth.tokens_file);
    check_readable(found, "auth.secret_file", auth.secret_file);
    if (values.flight.store && !auth.secret_file)
        complain(found, "auth.secret_file", "is missing; instances that share flight.store must share it");
    std::error_code ec;
    const auto& folder = values.memory.spill_directory;
    if (values.memory.spill_bytes == 0) return;
    if (!std::filesystem::is_directory(folder, ec)) {
        complain(found, "memory.spill_directory", folder.string() + " is not a folder; accepts an existing folder that can be written");
    } else if (::access(folder.c_str(), W_OK | X_OK) != 0) {
        complain(found, "memory.spill_directory", folder.string() + " cannot be written: " + std::strerror(errno));
    }
}

bool overlap(const std::string& a, const std::string& b) {
    // Two true globs may overlap in names neither spells out; what can be told is told.
    return a == b || ::fnmatch(a.c_str(), b.c_str(), 0) == 0 || ::fnmatch(b.c_str(), a.c_str(), 0) == 0;
}

void check_claims(const settings& values, problems& found) {
    const auto routed = [&values](const std::string& name) {
        return std::ranges::any_of(values.routes,
                                   [&name](const route_settings& route) { return ::fnmatch(route.model.c_str(), name.c_str(), 0) == 0; });
    };
    for (std::size_t i = 0; i < values.backends.size(); ++i) {
        for (std::size_t j = i + 1; j < values.backends.size(); ++j) {
            for (const std::string& mine : claimed_models(values.backends[i])) {
                for (const std::string& theirs : claimed_models(values.backends[j])) {
                    if (!overlap(mine, theirs) || (routed(mine) && routed(theirs))) continue;
                    complain(found, "backends." + values.backends[j].name + ".models",
                             "claims " + toml_string(theirs) + " as backends." + values.backends[i].name +
                                 " does; give one of them other models, or say in routes who is tried first");
                    return;
                }
            }
        }
    }
}

void check_backends(const settings& values, problems& found) {
    for (const backend_settings& one : values.backends) {
        const std::string head = "backends." + one.name + ".";
        check_readable(found, head + "ca_file", one.ca_file);
        const bool named = one.api_key || one.api_key_env || one.api_key_file;
        const bool needs_key = one.kind != backend_kind::whisper && !one.base_url && !named && values.auth.mode != auth_mode::own_key;
        if (needs_key && one.credential.empty())
            complain(found, head + "api_key",
                     "is missing; accepts a key here, in api_key_env, api_key_file or the environment variable " +
                         std::string(key_variable_of(one.kind)));
    }
    for (const route_settings& route : values.routes) {
        for (const std::string& name : route.backends) {
            if (!values.backend(name)) complain(found, "routes", "there is no backend " + toml_string(name));
            if (std::ranges::count(route.backends, name) > 1) {
                complain(found, "routes", "backend " + toml_string(name) + " is named twice for " + toml_string(route.model));
                break;
            }
        }
    }
    if (values.default_backend && !values.backend(*values.default_backend))
        complain(found, "default_backend", "there is no backend " + toml_string(*values.default_backend));
    check_claims(values, found);
}

// A name that is given another meaning for this backend is meant for it.
std::vector<std::string> cloud_claims(const backend_settings& backend) {
    std::vector<std::string> names = backend.models;
    if (names.empty() && backend.kind == backend_kind::openai) names = {"gpt-transcribe*", "gpt-4o*-transcribe*", "whisper-1"};
    if (names.empty() && backend.kind == backend_kind::gemini) names = {"gemini-*"};
    for (const auto& [alias, upstream] : backend.model_alias) {
        const bool taken =
            std::ranges::any_of(names, [&name = alias](const std::string& glob) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
        if (!taken) names.push_back(alias);
    }
    return names;
}

// A key that lies in the environment for OpenAI or Google must not surprise its owner by going elsewhere.
void warn_of_key_elsewhere(const backend_settings& one, std::vector<std::string>& lines) {
    const bool named = one.api_key || one.api_key_env || one.api_key_file;
    if (one.kind == backend_kind::whisper || !one.base_url || named || one.credential.empty()) return;
    const auto url = boost::urls::parse_uri(*one.base_url);
    const std::string host = url ? std::string(url->encoded_host()) : *one.base_url;
    if (host == "api.openai.com" || host.ends_with(".api.openai.com") || host.ends_with(".googleapis.com")) return;
    lines.push_back("backends." + one.name + ": the key in " + std::string(key_variable_of(one.kind)) + " is sent to " + host +
                    "; give the backend a key of its own, or api_key = \"\" to send none");
}

}  // namespace

std::vector<std::string> claimed_models(const backend_settings& backend) {
    if (backend.kind != backend_kind::whisper) return cloud_claims(backend);
    if (!backend.models.empty()) return backend.models;
    std::string name = backend.model_path.stem().string();
    if (name.starts_with("ggml-")) name.erase(0, 5);
    return name.empty() ? std::vector<std::string>() : std::vector{name};
}

problems check(const settings& values) {
    problems found;
    check_server(values, found);
    check_files(values, found);
    check_backends(values, found);
    return found;
}

std::vector<std::string> warnings_of(const settings& values) {
    std::vector<std::string> lines = not_built_in(values);
    for (const backend_settings& one : values.backends) {
        warn_of_key_elsewhere(one, lines);
        std::error_code ignored;
        if (one.kind != backend_kind::whisper || std::filesystem::exists(one.model_path, ignored)) continue;
        const std::string model = one.model.value_or("base.en");
        lines.push_back("backends." + one.name + ": no model yet: run `hearonce models pull " + model + "`, or set backends." + one.name +
                        ".model to a ggml model file");
    }
    if (values.server.max_audio_bytes > std::max(values.memory.audio_bytes, values.memory.spill_bytes)) {
        lines.emplace_back(
            "server.max_audio is larger than both memory.audio and memory.spill_bytes: a recording of that size finds no room");
    }
    return lines;
}

std::vector<std::string> not_built_in(const settings& values) {
    std::vector<std::string> lines;
    // An unenforced quota must not look like one that holds.
    const auto& quota = values.quota;
    if (quota.requests_per_day || quota.audio_per_day || quota.device_requests_per_day || quota.device_audio_per_day) {
        lines.emplace_back("quota: limits are not built into this version yet; nobody is limited");
    }
    if (values.flight.store) lines.emplace_back("flight.store: redis is not built into this version yet; this process's memory is used");
    return lines;
}

}  // namespace hearonce::app
