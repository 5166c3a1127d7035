// Settings as text: `config show`, the defaults, and what a re-read would change. Next file: gateway.hpp.
#include <app/load_settings.hpp>

#include <app/settings_keys.hpp>

#include <algorithm>

namespace hearonce::app {
namespace {

constexpr std::size_t comment_column = 56;

std::string line_of(const std::string& name, const std::string& text, std::string_view comment) {
    std::string line = text.empty() ? "# " + name + ": unset" : name + " = " + text;
    line += std::string(line.size() < comment_column ? comment_column - line.size() : 1, ' ');
    return line + "# " + std::string(comment) + "\n";
}

std::string_view section_of(std::string_view name) {
    return name.substr(0, std::min(name.find('.'), name.size()));
}

std::string origin_of(const loaded_settings& loaded, const std::string& dotted) {
    const auto found = loaded.origins.find(dotted);
    return std::string(name_of(found == loaded.origins.end() ? origin::initial : found->second));
}

}  // namespace

std::string show_settings(const loaded_settings& loaded) {
    std::string text = loaded.file ? "# file: " + loaded.file->string() + "\n" : "# file: none\n";
    std::string_view section;
    for (const key& one : keys()) {
        if (section_of(one.name) != section) text += "\n";
        section = section_of(one.name);
        text += line_of(std::string(one.name), one.show(loaded.values), origin_of(loaded, std::string(one.name)));
    }
    for (const backend_settings& backend : loaded.values.backends) {
        text += "\n";
        for (const backend_key& one : backend_keys()) {
            if (!applies_to(one, backend.kind)) continue;
            const std::string dotted = "backends." + backend.name + "." + std::string(one.name);
            text += line_of(dotted, one.show(backend), origin_of(loaded, dotted));
        }
        if (backend.kind != backend_kind::whisper)
            text += std::string("# a key is sent: ") + (backend.credential.empty() ? "no\n" : "yes (***)\n");
    }
    return text;
}

std::string show_defaults() {
    const settings initial;
    const backend_settings backend;
    std::string text =
        "# Every key with its default. Sizes: \"25MiB\" or bytes; durations: \"500ms\", \"2s\", \"10m\", \"1h\" or seconds.\n# A change "
        "takes effect at the next start, or at SIGHUP where that is said.\n";
    const auto add = [&text](const std::string& name, const std::string& value, std::string_view words, std::string_view about, bool live) {
        text += "\n# " + std::string(about) + (live ? " (SIGHUP changes it.)\n" : "\n");
        text += !words.empty() ? "# " + name + " = ...  # default: " + std::string(words) + "\n" : name + " = " + value + "\n";
    };
    for (const key& one : keys()) add(std::string(one.name), one.show(initial), one.initial, one.about, one.live);
    text += "\n# Backends: NAME is [a-z][a-z0-9]*.\n";
    for (const backend_key& one : backend_keys()) {
        std::string value = one.show(backend);
        std::string block;
        std::swap(block, text);
        add("backends.NAME." + std::string(one.name), value, one.initial, one.about, one.live);
        std::swap(block, text);
        // NAME is a placeholder: the lines are for reading.
        if (one.initial.empty()) block.insert(block.rfind("backends.NAME"), "# ");
        text += block;
    }
    return text;
}

std::vector<changed_key> changed_keys(const settings& before, const settings& after) {
    std::vector<changed_key> changed;
    for (const key& one : keys()) {
        if (one.show(before) != one.show(after)) changed.push_back({std::string(one.name), one.live});
    }
    // A secret looks the same before and after; the values tell.
    if (before.flight.store != after.flight.store &&
        (changed.empty() || std::ranges::find(changed, "flight.store", &changed_key::key) == changed.end()))
        changed.push_back({"flight.store", false});
    std::vector<std::string> names;
    for (const auto* all : {&before.backends, &after.backends}) {
        for (const backend_settings& one : *all) {
            if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
        }
    }
    for (const std::string& name : names) {
        const backend_settings* was = before.backend(name);
        const backend_settings* is = after.backend(name);
        if (!was || !is || !(*was == *is)) changed.push_back({"backends." + name, false});
    }
    return changed;
}

}  // namespace hearonce::app
