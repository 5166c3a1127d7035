// `hearonce config check` and `config show`. Next file: app/load_settings.hpp.
#include <cli/commands.hpp>

#include <CLI/CLI.hpp>

#include <iostream>

namespace hearonce::cli {
namespace {

exit_code check(const config_flags& flags) {
    const auto loaded = app::load_settings(flags.sources());
    if (!loaded) return complain(loaded.error());
    warn(loaded->warnings);
    std::cout << "ok: " << (loaded->file ? loaded->file->string() : std::string("no file, defaults and environment alone")) << '\n';
    return done;
}

exit_code show(const config_flags& flags, bool defaults) {
    if (defaults) {
        std::cout << app::show_defaults();
        return done;
    }
    const auto from = flags.sources();
    const auto loaded = app::load_settings(from);
    if (loaded) {
        warn(loaded->warnings);
        std::cout << app::show_settings(*loaded);
        return done;
    }
    // Who looks for a contradiction between two keys wants to see both.
    if (const auto read = app::read_settings(from)) std::cout << app::show_settings(*read);
    return complain(loaded.error());
}

}  // namespace

void add_config(CLI::App& root, command& chosen) {
    CLI::App* self = root.add_subcommand("config", "Check or show the settings");
    self->require_subcommand(1);
    self->footer(
        "Every key can be set in the file, as HEARONCE_SERVER__LISTEN in the environment, or with --set server.listen=VALUE;\nthe flag "
        "goes over the environment, the environment over the file.");

    CLI::App* checking = self->add_subcommand("check", "Say whether the gateway could start with these settings");
    const auto check_flags = add_config_flags(*checking);
    checking->footer(
        "Exit code 0, or 2 with one line for each thing that is wrong.\n\nExample:\n  hearonce config check --config ./config.toml");
    checking->callback([&chosen, check_flags] { chosen = [check_flags] { return check(*check_flags); }; });

    CLI::App* showing = self->add_subcommand("show", "Print every setting and where it comes from, as TOML; secrets as ***");
    const auto show_flags = add_config_flags(*showing);
    const auto defaults = std::make_shared<bool>(false);
    showing->add_flag("--defaults", *defaults, "Every key with its default and meaning, as a file to start from");
    showing->footer("Examples:\n  hearonce config show\n  hearonce config show --defaults > config.toml");
    showing->callback([&chosen, show_flags, defaults] { chosen = [show_flags, defaults] { return show(*show_flags, *defaults); }; });
}

}  // namespace hearonce::cli
