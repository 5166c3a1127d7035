// `hearonce send`: flags and environment to options. Next file: send.hpp.
#include <cli/commands.hpp>

#include <app/private_file.hpp>
#include <app/settings_units.hpp>
#include <cli/device_id.hpp>
#include <cli/send.hpp>

#include <CLI/CLI.hpp>

#include <iostream>

namespace hearonce::cli {
namespace {

constexpr std::string_view default_server = "http://127.0.0.1:8080";

struct send_flags {
    std::string to;
    std::string device;
    std::string api_key_file;
    std::string output_folder;
    std::string read_timeout = "5m";
    send_fields fields;
    std::vector<std::string> files;
};

std::string variable(const app::environment& variables, std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
}

bool is_key(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

// Each step gives false after it has said what is wrong.
bool take_url(send_options& into, const send_flags& flags, const app::environment& variables) {
    const std::string from_environment = variable(variables, "HEARONCE_URL");
    const std::string named = !flags.to.empty() ? flags.to : !from_environment.empty() ? from_environment : std::string(default_server);
    const auto url = transcriptions_url(named);
    if (url) {
        into.url = *url;
        return true;
    }
    complain(std::string(flags.to.empty() ? "HEARONCE_URL" : "--to") + ": not \"" + named + "\"; accepts a URL such as " +
             std::string(default_server) + " (http or https, no user, query or fragment)");
    return false;
}

bool take_key(send_options& into, const send_flags& flags, const app::environment& variables) {
    std::string key = variable(variables, "HEARONCE_API_KEY");
    if (!flags.api_key_file.empty()) {
        const auto text = app::read_private_file(flags.api_key_file);
        if (!text) {
            complain("--api-key-file: " + text.error().text);
            return false;
        }
        key = *text;
        while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
    }
    const bool none = key.empty() && flags.api_key_file.empty();
    const bool good = none || is_key(key);
    if (good) into.api_key = secret(key);
    OPENSSL_cleanse(key.data(), key.size());
    if (!good)
        complain(std::string(flags.api_key_file.empty() ? "HEARONCE_API_KEY" : "--api-key-file") +
                 ": holds no key; accepts one line of printable characters without spaces");
    return good;
}

bool take_device(send_options& into, const send_flags& flags, const app::environment& variables) {
    if (!flags.device.empty()) {
        into.device = flags.device;
        if (valid_device_id(into.device)) return true;
        complain("--device: accepts 1 to 128 printable characters");
        return false;
    }
    const auto stored = stored_device_id(variables);
    if (stored) {
        into.device = *stored;
    } else {
        warn({"no device id is sent, so a later resend may not be recognised: " + stored.error().text});
    }
    return true;
}

exit_code run(const send_flags& flags) {
    const auto variables = app::process_environment();
    send_options options;
    options.fields = flags.fields;
    const auto timeout = app::parse_duration(flags.read_timeout);
    if (!timeout || timeout->count() == 0)
        return complain("--read-timeout: not \"" + flags.read_timeout + "\"; accepts a duration such as \"90s\" or \"5m\"");
    options.read_timeout = *timeout;
    if (!flags.output_folder.empty()) options.output_folder = flags.output_folder;
    options.files.assign(flags.files.begin(), flags.files.end());
    if (!take_url(options, flags, variables) || !take_key(options, flags, variables) || !take_device(options, flags, variables))
        return usage;
    return send(options);
}

}  // namespace

void add_send(CLI::App& root, command& chosen) {
    CLI::App* self = root.add_subcommand("send", "Send recordings and print what was said");
    const auto flags = std::make_shared<send_flags>();
    self->add_option("--to", flags->to, "Gateway, or any OpenAI-compatible server (default: $HEARONCE_URL, else http://127.0.0.1:8080)")
        ->type_name("URL");
    self->add_option("--device", flags->device, "Which device this is (default: made once and kept)")->type_name("ID");
    self->add_option("--model", flags->fields.model, "Model (default: the server's)")->type_name("NAME");
    self->add_option("--language", flags->fields.language, "Language spoken, such as en or de (default: detected)")->type_name("XX");
    self->add_option("--prompt", flags->fields.prompt, "Words that help to recognise names and terms")->type_name("TEXT");
    self->add_option("--format", flags->fields.format, "json, text, srt, vtt or verbose_json")
        ->check(CLI::IsMember({"json", "text", "srt", "vtt", "verbose_json"}))
        ->capture_default_str()
        ->type_name("FORMAT");
    self->add_option("--output-dir", flags->output_folder, "One file a recording there instead of stdout")->type_name("DIR");
    self->add_option("--api-key-file", flags->api_key_file, "File with the bearer key (default: $HEARONCE_API_KEY)")->type_name("FILE");
    self->add_option("--read-timeout", flags->read_timeout, "Longest silence of the server once all is sent")
        ->capture_default_str()
        ->type_name("DURATION");
    self->add_option("FILE", flags->files, "Recordings")->required()->type_name("");
    self->footer(
        "The text alone goes to stdout. Keys never stand on the command line, where others could see them.\n"
        "Exit codes: 0 done, 1 refused, 2 usage, 3 the link broke, 130 cancelled; of several files the first present of 130, 2, 3, 1.\n\n"
        "Examples:\n"
        "  hearonce send note.m4a\n"
        "  hearonce send --to https://stt.example --language de --format srt --output-dir out *.ogg\n"
        "  HEARONCE_API_KEY=$(cat token) hearonce send note.m4a");
    self->callback([&chosen, flags] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace hearonce::cli
