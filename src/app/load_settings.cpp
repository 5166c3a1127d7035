// From layers to typed values. Next file: settings_check.cpp (completes and checks them).
#include <app/load_settings.hpp>

#include <app/models.hpp>
#include <app/settings_check.hpp>
#include <app/settings_keys.hpp>
#include <app/settings_layers.hpp>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include <unistd.h>

namespace hearonce::app {
namespace {

// What was written, short enough for a line.
std::string shown(const value& from) {
    constexpr std::size_t length_max = 80;
    std::string text = "a list or table";
    if (from.bare) {
        text = toml_string(*from.bare);
    } else if (const auto* word = std::get_if<std::string>(&from.held)) {
        text = toml_string(*word);
    } else if (const auto* whole = std::get_if<std::int64_t>(&from.held)) {
        text = std::to_string(*whole);
    } else if (const auto* truth = std::get_if<bool>(&from.held)) {
        text = *truth ? "true" : "false";
    } else if (const auto* real = std::get_if<double>(&from.held)) {
        // Also what a date or time was read as.
        text = *real == *real ? std::to_string(*real) : "a value of another type";
    }
    return text.size() > length_max ? text.substr(0, length_max) + "…" : text;
}

template <class Root>
void apply(const basic_key<Root>& described, Root& into, const std::string& dotted, const assignment& made, problems& found) {
    if (described.read(into, made.what)) return;
    const std::string not_this = described.secret ? "the value is not acceptable" : "not " + shown(made.what);
    found.push_back({dotted, dotted + ": " + not_this + "; accepts " + described.accepts() + " " + made.where});
}

// A kind that goes without saying.
std::optional<backend_kind> kind_of_name(std::string_view name) {
    if (name == "openai") return backend_kind::openai;
    if (name == "gemini") return backend_kind::gemini;
    if (name == "local" || name == "whisper") return backend_kind::whisper;
    return std::nullopt;
}

void read_backend(backend_settings& into, const layers& all, problems& found) {
    const std::string head = "backends." + into.name + ".";
    const auto kind = all.values.find(head + "kind");
    if (kind != all.values.end()) {
        apply(*find_backend_key("kind"), into, kind->first, kind->second, found);
    } else if (const auto guessed = kind_of_name(into.name)) {
        into.kind = *guessed;
    } else {
        found.push_back({head + "kind", head + "kind: is missing; accepts " + find_backend_key("kind")->accepts()});
        return;
    }
    for (auto at = all.values.lower_bound(head); at != all.values.end() && at->first.starts_with(head); ++at) {
        const backend_key* described = find_backend_key(std::string_view(at->first).substr(head.size()));
        if (described->name == "kind") continue;
        if (applies_to(*described, into.kind)) {
            apply(*described, into, at->first, at->second, found);
        } else {
            found.push_back({at->first, at->first + ": means nothing to kind " + std::string(name_of(into.kind)) + " " + at->second.where});
        }
    }
}

// The model that is suggested to somebody who has none: small, good enough to try with.
constexpr std::string_view first_model = "base.en";

// What stands in for a missing [backends].
std::vector<backend_settings> implied_backends(const settings& read, const settings_sources& from) {
    std::vector<backend_settings> implied;
    const bool own_key = read.auth.mode == auth_mode::own_key;
    const auto add = [&implied](std::string_view name, backend_kind kind) -> backend_settings& {
        backend_settings one;
        one.name = name;
        one.kind = kind;
        return implied.emplace_back(std::move(one));
    };
    if (own_key || variable_of(from.variables, "GEMINI_API_KEY")) add("gemini", backend_kind::gemini);
    const auto models = installed_models(from);
    // The one installed last is the one its owner is trying; equal times fall back to the name's order.
    const auto newest = std::ranges::max_element(models, {}, &installed_model::installed_at);
    if (newest != models.end()) add("local", backend_kind::whisper).model = newest->name;
    if (own_key || variable_of(from.variables, "OPENAI_API_KEY")) add("openai", backend_kind::openai);
    // With nothing at all the gateway starts and says what it lacks, and goes on by itself once the model is fetched.
    if (implied.empty()) add("local", backend_kind::whisper).model = first_model;
    return implied;
}

void read_backends(loaded_settings& into, const layers& all, const settings_sources& from, problems& found) {
    constexpr std::string_view head = "backends.";
    auto& backends = into.values.backends;
    for (const auto& [dotted, made] : all.values) {
        if (!dotted.starts_with(head)) continue;
        const std::string name = dotted.substr(head.size(), dotted.find('.', head.size()) - head.size());
        if (std::ranges::find(backends, name, &backend_settings::name) != backends.end()) continue;
        backend_settings one;
        one.name = name;
        read_backend(one, all, found);
        backends.push_back(std::move(one));
    }
    if (backends.empty()) backends = implied_backends(into.values, from);
    std::ranges::sort(backends, {}, &backend_settings::name);
}

}  // namespace

environment process_environment() {
    environment all;
    for (char** at = environ; at && *at; ++at) {
        const std::string_view pair = *at;
        if (const auto equals = pair.find('='); equals != std::string_view::npos)
            all.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    }
    return all;
}

std::string_view name_of(origin from) noexcept {
    switch (from) {
        case origin::initial: return "default";
        case origin::file: return "file";
        case origin::environment: return "env";
        case origin::flag: return "flag";
    }
    return "?";
}

void throw_exception_from_error(const load_failure& why, const boost::source_location&) {
    throw std::runtime_error(why.found.empty() ? "settings failed to load" : why.found.front().text);
}

load_result read_settings(const settings_sources& from) {
    layers all = read_layers(from);
    problems found = std::move(all.found);
    loaded_settings into;
    into.file = all.file;
    into.warnings = std::move(all.warnings);
    into.values.server.threads = std::clamp(from.cores != 0 ? from.cores : std::thread::hardware_concurrency(), 1U, 1024U);
    for (const auto& [dotted, made] : all.values) {
        into.origins.emplace(dotted, made.from);
        if (const key* described = find_key(dotted)) apply(*described, into.values, dotted, made, found);
    }
    read_backends(into, all, from, found);
    if (!found.empty()) return load_failure{std::move(found)};
    return into;
}

load_result load_settings(const settings_sources& from) {
    auto read = read_settings(from);
    if (!read) return read;
    problems found = complete(read->values, from);
    const problems conflicts = check(read->values);
    found.insert(found.end(), conflicts.begin(), conflicts.end());
    if (!found.empty()) return load_failure{std::move(found)};
    for (std::string& line : warnings_of(read->values)) read->warnings.push_back(std::move(line));
    return read;
}

}  // namespace hearonce::app
