// Where settings come from: flag over environment over file over default.
//
// Holds: settings_sources, problem, loaded_settings, load_settings(). Reads files; everything else is a pure function of
// its argument. Next file: settings_keys.hpp (the keys), settings_check.hpp (what must hold between them).
#pragma once

#include <app/settings.hpp>

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hearonce::app {

using environment = std::map<std::string, std::string, std::less<>>;

// A copy of this process's environment.
environment process_environment();

struct settings_sources {
    environment variables;
    std::optional<std::filesystem::path> config_file;  // --config: must exist.
    std::vector<std::string> assignments;              // --set: `dotted.key=value`, the later one wins.
    std::filesystem::path system_directory = "/etc/hearonce";
    std::filesystem::path system_models = "/var/lib/hearonce/models";
    unsigned cores = 0;  // 0: ask the system.
};

enum class origin : std::uint8_t { initial, file, environment, flag };
std::string_view name_of(origin from) noexcept;  // default, file, env, flag

// One thing that is wrong, in one line that names the key and what it accepts.
struct problem {
    std::string key;   // Empty when it is about no key.
    std::string text;  // The whole line, key included, without line break.
};
using problems = std::vector<problem>;

// What was read and where each key came from.
struct loaded_settings {
    settings values;
    std::map<std::string, origin, std::less<>> origins;  // By dotted key; a key that is not here has its default.
    std::optional<std::filesystem::path> file;           // The file that was read.
    std::vector<std::string> warnings;                   // Lines for the log; nothing in them is secret.
};

struct load_failure {
    problems found;  // Never empty.
};
[[noreturn]] void throw_exception_from_error(const load_failure& why, const boost::source_location& where);

using load_result = boost::system::result<loaded_settings, load_failure>;

// What the gateway runs with: read, completed (keys fetched, models found) and checked against each other and the files
// they name.
load_result load_settings(const settings_sources& from);
// Read alone: every key has an acceptable value, but what must hold between keys and whether files exist is not looked at.
// For commands that mend those very files.
load_result read_settings(const settings_sources& from);

// What a re-read (SIGHUP) would change, by dotted key. `live`: takes effect at once; else only after a restart.
struct changed_key {
    std::string key;
    bool live = false;
};
std::vector<changed_key> changed_keys(const settings& before, const settings& after);

// The result as TOML, one key a line with its source as a comment; unset keys as comments; secrets as ***.
std::string show_settings(const loaded_settings& loaded);
// Every key with its default and meaning, as a TOML file to start from.
std::string show_defaults();

}  // namespace hearonce::app
