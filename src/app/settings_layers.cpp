// Next file: load_settings.cpp.
#include <app/settings_layers.hpp>

#include <app/settings_keys.hpp>
#include <hearonce/ascii.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace hearonce::app {
namespace {

constexpr std::string_view prefix = "HEARONCE_";
constexpr std::uintmax_t file_bytes_max = 4 * mebibyte;

// "backends.NAME.key" taken apart; empty name when it is no such key.
struct backend_path {
    std::string_view name;
    std::string_view key;
};

backend_path split_backend(std::string_view dotted) {
    constexpr std::string_view head = "backends.";
    if (!dotted.starts_with(head)) return {};
    const auto dot = dotted.find('.', head.size());
    if (dot == std::string_view::npos) return {};
    return {dotted.substr(head.size(), dot - head.size()), dotted.substr(dot + 1)};
}

bool is_known(std::string_view dotted) {
    const auto [name, inner] = split_backend(dotted);
    return name.empty() ? find_key(dotted) != nullptr : find_backend_key(inner) != nullptr;
}

// A table of this name holds keys ("server", "backends", "backends.local").
bool is_section(std::string_view dotted) {
    if (dotted == "backends") return true;
    if (dotted.starts_with("backends.")) return dotted.find('.', 9) == std::string_view::npos;
    return std::ranges::any_of(keys(), [dotted](const key& one) {
        return one.name.size() > dotted.size() && one.name.starts_with(dotted) && one.name[dotted.size()] == '.';
    });
}

std::string unknown(std::string_view written, std::string_view dotted, std::string_view where, bool as_variable = false) {
    std::string text = std::string(written) + ": unknown key " + std::string(where);
    auto near = nearest_key(dotted);
    if (!near) return text;
    if (as_variable) *near = variable_name_of(*near);
    return text + "; did you mean " + *near + "?";
}

// Puts one known or unknown key where it belongs.
void add(layers& into, std::string dotted, assignment made, std::string_view written) {
    const auto [name, inner] = split_backend(dotted);
    const bool as_variable = made.from == origin::environment;
    if (!is_known(dotted)) {
        into.found.push_back({dotted, is_section(dotted) ? dotted + ": is a section with keys of its own " + made.where
                                                         : unknown(written, dotted, made.where, as_variable)});
    } else if (!name.empty() && !valid_backend_name(name)) {
        into.found.push_back({dotted, "backends." + std::string(name) + ": a backend's name is [a-z][a-z0-9]* " + made.where});
    } else {
        into.values.insert_or_assign(std::move(dotted), std::move(made));
    }
}

void add_table(layers& into, const std::string& path, const value::table& table, const std::string& where) {
    for (const auto& [name, what] : table) {
        const std::string dotted = path.empty() ? name : path + "." + name;
        const auto* inner = std::get_if<value::table>(&what.held);
        // A quoted name with a dot in it could pose as a key of another section.
        const bool plain = name.find('.') == std::string::npos;
        if (plain && inner && is_section(dotted) && !is_known(dotted)) {
            add_table(into, dotted, *inner, where);
        } else if (plain) {
            add(into, dotted, {what, origin::file, where}, dotted);
        } else {
            into.found.push_back({dotted, unknown(dotted, dotted, where)});
        }
    }
}

void add_file(layers& into, const std::filesystem::path& file) {
    const auto fail = [&](std::string_view why) { into.found.push_back({"", file.string() + ": " + std::string(why)}); };
    std::error_code ec;
    if (std::filesystem::is_directory(file, ec)) return fail("is a folder, not a file");
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return fail(std::string("cannot be read: ") + std::strerror(errno));
    if (const auto size = std::filesystem::file_size(file, ec); !ec && size > file_bytes_max) return fail("is larger than 4 MiB");
    std::ostringstream text;
    text << stream.rdbuf();
    const auto table = read_toml(text.view());
    if (!table) return fail(table.error());
    into.file = file;
    add_table(into, "", *table, "in " + file.string());
}

void add_environment(layers& into, const environment& variables) {
    for (const auto& [name, text] : variables) {
        if (!name.starts_with(prefix) || text.empty()) continue;
        std::string dotted;
        const std::string_view rest = std::string_view(name).substr(prefix.size());
        for (std::size_t i = 0; i < rest.size(); ++i) {
            const bool dot = rest.substr(i).starts_with("__");
            dotted += dot ? '.' : ascii::lower(rest[i]);
            if (dot) ++i;
        }
        if (dotted.find('.') != std::string::npos || find_key(dotted)) {
            add(into, dotted, {read_text(text), origin::environment, "(environment variable " + name + ")"}, name);
            continue;
        }
        // Other programs' variables may begin like ours (HEARONCE_URL is the client's; container platforms add _PORT and
        // _SERVICE_HOST), so one without a section is no error. One that names a key without its section is a slip.
        for (const key& one : keys()) {
            if (one.name.ends_with("." + dotted))
                into.warnings.push_back(name + " is not read; did you mean " + variable_name_of(one.name) + "?");
        }
    }
}

void add_flags(layers& into, const std::vector<std::string>& assignments) {
    for (const std::string& text : assignments) {
        const auto equals = text.find('=');
        if (equals == 0 || equals == std::string::npos) {
            into.found.push_back({text, "--set: takes KEY=VALUE, not \"" + text.substr(0, 80) + "\""});
            continue;
        }
        const std::string dotted = text.substr(0, equals);
        add(into, dotted, {read_text(std::string_view(text).substr(equals + 1)), origin::flag, "(command line)"}, dotted);
    }
}

}  // namespace

std::string variable_name_of(std::string_view dotted) {
    std::string name(prefix);
    for (const char c : dotted) {
        if (c == '.') {
            name += "__";
        } else {
            name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        }
    }
    return name;
}

std::optional<std::string> variable_of(const environment& variables, std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
}

std::optional<std::filesystem::path> config_file_of(const settings_sources& from) {
    if (from.config_file) return from.config_file;
    std::error_code ec;
    std::filesystem::path user;
    if (const auto home = variable_of(from.variables, "XDG_CONFIG_HOME"); home && std::filesystem::path(*home).is_absolute()) {
        user = *home;
    } else if (const auto own = variable_of(from.variables, "HOME")) {
        user = std::filesystem::path(*own) / ".config";
    }
    if (!user.empty() && std::filesystem::exists(user / "hearonce" / "config.toml", ec)) return user / "hearonce" / "config.toml";
    if (std::filesystem::exists(from.system_directory / "config.toml", ec)) return from.system_directory / "config.toml";
    return std::nullopt;
}

layers read_layers(const settings_sources& from) {
    layers all;
    if (const auto file = config_file_of(from)) add_file(all, *file);
    add_environment(all, from.variables);
    add_flags(all, from.assignments);
    return all;
}

}  // namespace hearonce::app
