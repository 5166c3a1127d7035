// `hearonce models list`. Next file: app/models.hpp.
#include <cli/commands.hpp>

#include <app/models.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>

namespace hearonce::cli {
namespace {

constexpr int name_width = 24;

exit_code list(const app::settings_sources& from) {
    const auto installed = app::installed_models(from);
    std::cout << "Installed:\n";
    for (const auto& one : installed) {
        const auto mebibytes = (one.size_bytes + app::mebibyte - 1) / app::mebibyte;
        std::cout << "  " << std::left << std::setw(name_width) << one.name << std::right << std::setw(5) << mebibytes << " MiB  "
                  << one.file.string() << '\n';
    }
    if (installed.empty()) std::cout << "  none\n";
    std::cout << "\nPublished by whisper.cpp:\n";
    for (const auto& one : app::known_models()) {
        const bool here = std::ranges::find(installed, one.name, &app::installed_model::name) != installed.end();
        std::cout << "  " << std::left << std::setw(name_width) << one.name << std::right << std::setw(5)
                  << (one.size_mebibytes != 0 ? std::to_string(one.size_mebibytes) : std::string("?")) << " MiB  "
                  << (one.english_only ? "English" : "many languages") << (here ? ", installed" : "") << '\n';
    }
    std::cout << "\nA model is installed by putting it, as ggml-NAME.bin, into one of these folders:\n";
    for (const auto& folder : app::model_folders(from)) std::cout << "  " << folder.string() << '\n';
    return done;
}

}  // namespace

void add_models(CLI::App& root, command& chosen) {
    CLI::App* self = root.add_subcommand("models", "Speech models for the local engine");
    self->require_subcommand(1);
    self->footer("This version fetches no models (`pull` is not built in yet): put the ggml file into a folder that `models list` names.");
    CLI::App* listing = self->add_subcommand("list", "Installed models, and the names whisper.cpp publishes");
    listing->footer("Example:\n  hearonce models list\n  hearonce serve --set backends.local.model=base.en");
    listing->callback([&chosen] {
        chosen = [] {
            app::settings_sources from;
            from.variables = app::process_environment();
            return list(from);
        };
    });
}

}  // namespace hearonce::cli
