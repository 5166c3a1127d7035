// Next file: the command's own.
#include <cli/command_line.hpp>

#include <cli/commands.hpp>

#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>

namespace hearonce::cli {

app::settings_sources config_flags::sources() const {
    app::settings_sources from;
    from.variables = app::process_environment();
    if (!file.empty()) from.config_file = file;
    from.assignments = assignments;
    return from;
}

std::shared_ptr<config_flags> add_config_flags(CLI::App& to) {
    auto flags = std::make_shared<config_flags>();
    to.add_option("--config", flags->file, "TOML file (default: $XDG_CONFIG_HOME/hearonce/config.toml, else /etc/hearonce/config.toml)")
        ->type_name("FILE");
    // One value each: a second word after --set would swallow a command's own arguments.
    to.add_option("--set", flags->assignments, "One setting, over file and environment; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    return flags;
}

exit_code complain(const std::string& line) {
    std::cerr << "hearonce: " << line << '\n';
    return usage;
}

exit_code complain(const app::load_failure& why) {
    for (const app::problem& one : why.found) complain(one.text);
    return usage;
}

void warn(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) std::cerr << "hearonce: warning: " << line << '\n';
}

int run_command_line(int argc, const char* const* argv) {
    CLI::App root("A speech-to-text gateway that hears a recording once.", "hearonce");
    root.set_version_flag("--version", "hearonce " HEARONCE_VERSION);
    root.require_subcommand(1);
    root.footer(
        "Begin with:\n"
        "  hearonce serve                      start the gateway on 127.0.0.1:8080\n"
        "  hearonce send note.m4a              print what was said\n"
        "  hearonce config show                what is set, and by whom\n\n"
        "Exit codes: 0 done, 1 refused, 2 usage or configuration, 3 the link stayed broken, 130 cancelled.");
    command chosen;
    add_serve(root, chosen);
    add_send(root, chosen);
    add_models(root, chosen);
    add_token(root, chosen);
    add_config(root, chosen);
    try {
        root.parse(argc, argv);
    } catch (const CLI::Success& asked_for) {
        return root.exit(asked_for, std::cout, std::cerr);
    } catch (const CLI::ParseError& wrong) {
        complain(wrong.what());
        std::cerr << "Run hearonce --help, or hearonce COMMAND --help.\n";
        return usage;
    }
    try {
        return chosen ? chosen() : usage;
    } catch (const std::exception& unexpected) {
        complain(unexpected.what());
        return refused;
    }
}

}  // namespace hearonce::cli
