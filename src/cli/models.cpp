// `hearonce models list`, `pull` and `remove`. Next file: models_pull.hpp.
#include <cli/commands.hpp>

#include <app/known_models.hpp>
#include <app/model_file.hpp>
#include <app/models.hpp>
#include <app/settings_units.hpp>
#include <cli/models_pull.hpp>
#include <observe/json_text.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace hearonce::cli {
namespace {

constexpr int name_width = 24;

app::settings_sources places() {
    app::settings_sources from;
    from.variables = app::process_environment();
    return from;
}

std::string_view languages_of(const app::known_model* known) {
    if (known == nullptr) return "unknown";
    return known->english_only ? "English" : "many";
}

std::string number_or(std::uint32_t number, std::string_view none) {
    return number != 0 ? std::to_string(number) : std::string(none);
}

exit_code list_text(const std::vector<app::installed_model>& installed, const std::vector<std::filesystem::path>& folders) {
    std::cout << "Installed:\n";
    for (const auto& one : installed) {
        const auto mebibytes = (one.size_bytes + app::mebibyte - 1) / app::mebibyte;
        std::cout << "  " << std::left << std::setw(name_width) << one.name << std::right << std::setw(5) << mebibytes << " MiB  "
                  << one.file.string() << '\n';
    }
    if (installed.empty()) std::cout << "  none\n";
    std::cout << "\nPublished by whisper.cpp:   file      memory     languages\n";
    for (const auto& one : app::known_models()) {
        const bool here = std::ranges::find(installed, one.name, &app::installed_model::name) != installed.end();
        std::cout << "  " << std::left << std::setw(name_width) << one.name << std::right << std::setw(5)
                  << number_or(one.size_mebibytes, "?") << " MiB  " << std::setw(5) << number_or(one.memory_mebibytes, "?") << " MiB  "
                  << languages_of(&one) << (here ? ", installed" : "") << '\n';
    }
    std::cout << "\nhearonce models pull NAME fetches one into " << folders.front().string() << "\nModels are also found in:\n";
    for (auto folder = folders.begin() + 1; folder != folders.end(); ++folder) std::cout << "  " << folder->string() << '\n';
    return done;
}

exit_code list_json(const std::vector<app::installed_model>& installed) {
    std::string out = R"({"installed":[)";
    for (const auto& one : installed) {
        if (&one != installed.data()) out += ',';
        out += R"({"name":)";
        observe::append_json_string(out, one.name);
        out += R"(,"size_bytes":)";
        observe::append_integer(out, static_cast<std::int64_t>(one.size_bytes));
        out += R"(,"languages":)";
        observe::append_json_string(out, languages_of(app::find_known_model(one.name)));
        out += R"(,"file":)";
        observe::append_json_string(out, one.file.string());
        out += '}';
    }
    out += R"(],"published":[)";
    for (const auto& one : app::known_models()) {
        if (&one != app::known_models().data()) out += ',';
        out += R"({"name":)";
        observe::append_json_string(out, one.name);
        out += R"(,"size_mebibytes":)" + number_or(one.size_mebibytes, "null") + R"(,"memory_mebibytes":)" +
               number_or(one.memory_mebibytes, "null") + R"(,"languages":)";
        observe::append_json_string(out, languages_of(&one));
        out += '}';
    }
    std::cout << out << "]}\n";
    return done;
}

struct pull_flags {
    std::vector<std::string> names;
    std::string from;
    std::string folder;
    std::string ca_file;
    unsigned attempts = 5;
    std::vector<std::string> pauses{"1s", "2s", "5s", "10s"};
    std::string stall = "30s";
};

std::filesystem::path folder_of(const std::string& named) {
    return named.empty() ? app::model_folders(places()).front() : std::filesystem::path(named);
}

// A name that can be a file's, and one that is published unless the user says where it comes from.
bool check_name(const std::string& name, bool published) {
    const bool known = app::find_known_model(name) != nullptr;
    if (app::is_model_name(name) && (known || !published)) return true;
    const auto nearest = app::nearest_model(name);
    complain("NAME: there is no model \"" + name + "\"" + (nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?") +
             " (`hearonce models list` names them" + (published ? "; others need --from)" : ")"));
    return false;
}

bool take_times(pull_options& into, const pull_flags& flags) {
    for (const auto& text : flags.pauses) {
        const auto pause = app::parse_duration(text);
        if (pause) into.pauses.push_back(*pause);
    }
    const auto stall = app::parse_duration(flags.stall);
    if (stall && stall->count() > 0) into.stall = *stall;
    if (into.pauses.size() == flags.pauses.size() && !into.pauses.empty() && stall && stall->count() > 0) return true;
    complain("--pauses and --stall-timeout: accept durations such as \"500ms\" or \"10s\"");
    return false;
}

exit_code pull_all(const pull_flags& flags) {
    const bool one_file = flags.from.ends_with(".bin");
    if (one_file && flags.names.size() > 1) return complain("--from: names one file, so NAME can be one only");
    pull_options options;
    if (!take_times(options, flags)) return usage;
    options.attempts = flags.attempts;
    options.folder = folder_of(flags.folder);
    if (!flags.ca_file.empty()) options.ca_file = flags.ca_file;
    std::vector<exit_code> codes;
    for (const auto& name : flags.names) {
        if (!check_name(name, flags.from.empty())) return usage;
        const auto url = app::model_url(name, flags.from);
        if (!url) return complain("--from: not \"" + flags.from + "\"; accepts an http or https URL of a .bin file or of a folder");
        options.name = name;
        options.url = *url;
        options.known = app::find_known_model(name);
        codes.push_back(pull(options));
        if (codes.back() == cancelled) break;
    }
    return worst_of(codes);
}

exit_code remove_all(const std::vector<std::string>& names, const std::string& folder) {
    std::vector<exit_code> codes;
    for (const auto& name : names) {
        if (!check_name(name, false)) return usage;
        const auto freed = app::remove_model(folder_of(folder), name);
        if (!freed) return complain(freed.error().text);
        if (*freed > 0) {
            std::cout << name << ": removed, " << (*freed + app::mebibyte - 1) / app::mebibyte << " MiB freed\n";
            continue;
        }
        const auto elsewhere = app::find_model(places(), name);
        std::cerr << "hearonce: " << name << ": not in " << folder_of(folder).string()
                  << (elsewhere ? "; " + elsewhere->string() + " is the system's and stays" : "") << '\n';
        codes.push_back(refused);
    }
    return worst_of(codes);
}

void add_list(CLI::App& to, command& chosen) {
    CLI::App* self = to.add_subcommand("list", "Installed models, and the names whisper.cpp publishes");
    const auto json = std::make_shared<bool>(false);
    self->add_flag("--json", *json, "As one line of JSON");
    self->footer("Example:\n  hearonce models list\n  hearonce serve --set backends.local.model=base.en");
    self->callback([&chosen, json] {
        chosen = [json] {
            const auto from = places();
            const auto installed = app::installed_models(from);
            return *json ? list_json(installed) : list_text(installed, app::model_folders(from));
        };
    });
}

void add_pull(CLI::App& to, command& chosen) {
    CLI::App* self = to.add_subcommand("pull", "Fetch models; a download that was cut goes on where it ended");
    const auto flags = std::make_shared<pull_flags>();
    self->add_option("NAME", flags->names, "Models, as `models list` names them")->required()->type_name("");
    self->add_option("--from", flags->from, "A .bin file, or a folder with ggml-NAME.bin (default: where whisper.cpp publishes them)")
        ->type_name("URL");
    self->add_option("--to", flags->folder, "Folder (default: the first one where `serve` looks for models)")->type_name("DIR");
    self->add_option("--ca-file", flags->ca_file, "PEM of whom to trust for https (default: the system's)")->type_name("FILE");
    self->add_option("--attempts", flags->attempts, "Tries without a byte gained in between")
        ->check(CLI::Range(1U, 1000U))
        ->capture_default_str()
        ->type_name("N");
    self->add_option("--pauses", flags->pauses, "Before the second, third, ... of them; the last one repeats (default: 1s,2s,5s,10s)")
        ->delimiter(',')
        ->type_name("LIST");
    self->add_option("--stall-timeout", flags->stall, "Longest silence of the server")->capture_default_str()->type_name("DURATION");
    self->footer(
        "Checked by the published SHA-1 where there is one, else by the SHA-256 that the server names.\n"
        "Exit codes: 0 done, 1 refused or wrong, 2 usage or this machine, 3 the link broke, 130 cancelled.\n\n"
        "Examples:\n"
        "  hearonce models pull base.en\n"
        "  hearonce models pull mine --from https://models.example/ggml-mine.bin");
    self->callback([&chosen, flags] { chosen = [flags] { return pull_all(*flags); }; });
}

void add_remove(CLI::App& to, command& chosen) {
    CLI::App* self = to.add_subcommand("remove", "Delete models, and what a broken download of them left");
    const auto names = std::make_shared<std::vector<std::string>>();
    const auto folder = std::make_shared<std::string>();
    self->add_option("NAME", *names, "Models, as `models list` names them")->required()->type_name("");
    self->add_option("--to", *folder, "Folder they were pulled to (default: as for pull)")->type_name("DIR");
    self->footer("Example:\n  hearonce models remove base.en");
    self->callback([&chosen, names, folder] { chosen = [names, folder] { return remove_all(*names, *folder); }; });
}

}  // namespace

void add_models(CLI::App& root, command& chosen) {
    CLI::App* self = root.add_subcommand("models", "Speech models for the local engine");
    self->require_subcommand(1);
    add_list(*self, chosen);
    add_pull(*self, chosen);
    add_remove(*self, chosen);
}

}  // namespace hearonce::cli
