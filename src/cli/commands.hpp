// Each command adds itself to the command line. What it is to do when it was named is left in `chosen`.
//
// Holds: command, add_serve() and its siblings, config_flags. Next file: serve.cpp, send_command.cpp, ...
#pragma once

#include <app/load_settings.hpp>
#include <cli/exit_code.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hearonce::cli {

// Run after the whole line was parsed.
using command = std::function<exit_code()>;

void add_serve(CLI::App& root, command& chosen);
void add_send(CLI::App& root, command& chosen);
void add_models(CLI::App& root, command& chosen);
void add_token(CLI::App& root, command& chosen);
void add_config(CLI::App& root, command& chosen);

// --config and --set, which every command that reads settings takes.
struct config_flags {
    std::string file;
    std::vector<std::string> assignments;

    // The flags, the environment and the usual places together.
    app::settings_sources sources() const;
};
std::shared_ptr<config_flags> add_config_flags(CLI::App& to);

// Prints one line each to stderr; the exit code that follows from them.
exit_code complain(const app::load_failure& why);
exit_code complain(const std::string& line);
void warn(const std::vector<std::string>& lines);

}  // namespace hearonce::cli
