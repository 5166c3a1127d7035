// `hearonce token new|list|revoke`. Next file: app/tokens_file.hpp.
#include <cli/commands.hpp>

#include <app/private_file.hpp>
#include <app/tokens_file.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace hearonce::cli {
namespace {

namespace fs = std::filesystem;

// The file's text; a file that is not there yet is empty.
boost::system::result<std::string, app::file_problem> text_of(const fs::path& file) {
    std::error_code ec;
    if (!fs::exists(file, ec) && !ec) return std::string();
    return app::read_private_file(file);
}

exit_code no_file() {
    return complain("auth.tokens_file: is missing; accepts the path of a file, for instance --set auth.tokens_file=/etc/hearonce/tokens");
}

exit_code bad_name(const std::string& name) {
    return complain("NAME: not \"" + name + "\"; accepts 1 to 64 of A-Z a-z 0-9 . _ -");
}

// The lock is on the folder the file really is in: a link's target is what gets replaced.
fs::path folder_of(const fs::path& file) {
    std::error_code ec;
    const fs::path real = fs::weakly_canonical(file, ec);
    return (ec ? file : real).parent_path();
}

exit_code make(const config_flags& flags, const std::string& name) {
    if (!app::valid_token_name(name)) return bad_name(name);
    const auto loaded = app::read_settings(flags.sources());
    if (!loaded) return complain(loaded.error());
    const auto& file = loaded->values.auth.tokens_file;
    const auto made = app::make_token(name);
    if (file) {
        std::error_code ec;
        fs::create_directories(folder_of(*file), ec);
        const app::folder_lock lock(folder_of(*file));
        auto text = text_of(*file);
        if (!text) return complain(text.error().text);
        const auto names = app::token_names(*text);
        if (std::ranges::find(names, name) != names.end())
            return complain("there is a token " + name + " already; take it back first: hearonce token revoke " + name);
        const auto written = app::write_private_file(*file, app::with_token(std::move(*text), made.line));
        if (!written) return complain(written.error().text);
    }
    // Only these two lines are on stdout, so that scripts can take them.
    std::cout << made.token.reveal() << '\n' << made.line << std::endl;
    std::cerr << "The first line is the token: it is shown this once. The second is "
              << (file ? "now in " + file->string() : std::string("for auth.tokens_file")) << ".\n";
    return done;
}

exit_code list(const config_flags& flags) {
    const auto loaded = app::read_settings(flags.sources());
    if (!loaded) return complain(loaded.error());
    if (!loaded->values.auth.tokens_file) return no_file();
    const auto text = text_of(*loaded->values.auth.tokens_file);
    if (!text) return complain(text.error().text);
    for (const std::string& name : app::token_names(*text)) std::cout << name << '\n';
    return done;
}

exit_code revoke(const config_flags& flags, const std::string& name) {
    const auto loaded = app::read_settings(flags.sources());
    if (!loaded) return complain(loaded.error());
    const auto& file = loaded->values.auth.tokens_file;
    if (!file) return no_file();
    const app::folder_lock lock(folder_of(*file));
    const auto text = text_of(*file);
    if (!text) return complain(text.error().text);
    const auto rest = app::without_token(*text, name);
    if (!rest) return complain("there is no token " + name + " in " + file->string());
    const auto written = app::write_private_file(*file, *rest);
    if (!written) return complain(written.error().text);
    std::cerr << "The token " << name << " is taken back; a running gateway learns of it by SIGHUP.\n";
    return done;
}

}  // namespace

void add_token(CLI::App& root, command& chosen) {
    CLI::App* self = root.add_subcommand("token", "Tokens for auth.mode = \"tokens\"");
    self->require_subcommand(1);
    self->footer("Tokens are kept as hashes in auth.tokens_file. A running gateway re-reads the file on SIGHUP.");

    CLI::App* making = self->add_subcommand("new", "Make a token; prints it once, and its line for auth.tokens_file");
    const auto make_flags = add_config_flags(*making);
    const auto make_name = std::make_shared<std::string>();
    making->add_option("NAME", *make_name, "Who it is for; becomes part of logs and quotas")->required();
    making->footer(
        "The line is added to auth.tokens_file where that is set.\n\nExample:\n  hearonce token new phone --set "
        "auth.tokens_file=/etc/hearonce/tokens");
    making->callback([&chosen, make_flags, make_name] { chosen = [make_flags, make_name] { return make(*make_flags, *make_name); }; });

    CLI::App* listing = self->add_subcommand("list", "The names in auth.tokens_file");
    const auto list_flags = add_config_flags(*listing);
    listing->callback([&chosen, list_flags] { chosen = [list_flags] { return list(*list_flags); }; });

    CLI::App* revoking = self->add_subcommand("revoke", "Take a token back");
    const auto revoke_flags = add_config_flags(*revoking);
    const auto revoke_name = std::make_shared<std::string>();
    revoking->add_option("NAME", *revoke_name, "The name it was made with")->required();
    revoking->callback(
        [&chosen, revoke_flags, revoke_name] { chosen = [revoke_flags, revoke_name] { return revoke(*revoke_flags, *revoke_name); }; });
}

}  // namespace hearonce::cli
