// `hearonce serve`: settings, then the gateway until a signal ends it. Next file: app/gateway.hpp.
#include <app/gateway.hpp>
#include <cli/commands.hpp>

#include <CLI/CLI.hpp>

namespace hearonce::cli {
namespace {

// For SIGHUP: the same sources once more. What is wrong with them is one sentence.
result<app::settings> read_again(const app::settings_sources& from) {
    auto loaded = app::load_settings(from);
    if (!loaded) return error(errc::invalid_parameter, loaded.error().found.front().text);
    return std::move(loaded->values);
}

exit_code serve(const config_flags& flags, const std::vector<std::string>& addresses) {
    app::settings_sources from = flags.sources();
    std::string listen;
    for (const std::string& one : addresses) listen += (listen.empty() ? "server.listen=" : ",") + one;
    if (!listen.empty()) from.assignments.push_back(listen);
    const auto loaded = app::load_settings(from);
    if (!loaded) return complain(loaded.error());
    warn(loaded->warnings);
    return static_cast<exit_code>(app::run_gateway(loaded->values, [from] { return read_again(from); }));
}

}  // namespace

void add_serve(CLI::App& root, command& chosen) {
    CLI::App* self = root.add_subcommand("serve", "Run the gateway until SIGTERM or Ctrl-C");
    const auto flags = add_config_flags(*self);
    const auto addresses = std::make_shared<std::vector<std::string>>();
    self->add_option("--listen", *addresses, "Address and port, over server.listen; may be repeated")
        ->type_name("ADDRESS:PORT")
        ->allow_extra_args(false);
    self->footer(
        "Examples:\n"
        "  hearonce serve\n"
        "  hearonce serve --listen 127.0.0.1:9000\n"
        "  hearonce serve --set backends.local.model=base.en\n"
        "  hearonce serve --config /etc/hearonce/config.toml --set log.level=debug");
    self->callback([&chosen, flags, addresses] { chosen = [flags, addresses] { return serve(*flags, *addresses); }; });
}

}  // namespace hearonce::cli
