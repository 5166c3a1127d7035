// The three places a value can be written in, read into one list: file, then environment, then flags; the last one wins.
//
// Holds: assignment, layers, read_layers(). Next file: load_settings.cpp.
#pragma once

#include <app/load_settings.hpp>
#include <app/settings_value.hpp>

#include <map>
#include <string>

namespace hearonce::app {

// One key's value and where it was written, in words fit for a complaint ("in /etc/hearonce/config.toml").
struct assignment {
    value what;
    origin from = origin::initial;
    std::string where;
};

struct layers {
    std::map<std::string, assignment, std::less<>> values;  // By dotted key; every key in it is known.
    std::optional<std::filesystem::path> file;
    problems found;  // Unknown keys and what could not be read at all.
    std::vector<std::string> warnings;
};

layers read_layers(const settings_sources& from);

// The file that is read: --config, else the user's, else the system's; nullopt when there is none.
std::optional<std::filesystem::path> config_file_of(const settings_sources& from);

// An environment variable that is set and not empty (container tools set empty ones for "not given").
std::optional<std::string> variable_of(const environment& variables, std::string_view name);

// "server.listen" → "HEARONCE_SERVER__LISTEN".
std::string variable_name_of(std::string_view dotted);

}  // namespace hearonce::app
