// The command line, by CLI11. Next file: main.cpp.
#include <backends/whisper/worker/options.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

namespace hearonce::whisper {

std::variant<options, int> parse_options(int argc, char** argv) {
    options parsed;
    CLI::App app{"Recognises speech: prints what a recording says. The gateway runs the same program as its local engine.",
                 "hearonce-whisper"};
    app.set_version_flag("--version", "hearonce-whisper " HEARONCE_VERSION);
    app.add_option("model", parsed.model, "A ggml model file of whisper.cpp");
    app.add_option("file", parsed.file, "The recording: wav, mp3, m4a, aac, ogg, webm, flac");
    app.add_option("--language", parsed.language, "Code or English name of the language; detected when absent");
    app.add_option("--prompt", parsed.prompt, "Text that leads the recogniser: names, spelling");
    app.add_option("--temperature", parsed.temperature, "0 is the most likely text")->check(CLI::Range(0.0, 1.0));
    app.add_flag("--translate", parsed.translate, "Write English whatever is spoken");
    app.add_option("--format", parsed.format, "text, json or srt")->check(CLI::IsMember({"text", "json", "srt"}));
    app.add_option("--threads", parsed.threads, "CPU threads of one job; 0: all, shared by the slots")->check(CLI::Range(0, 256));
    app.add_flag("--no-context", parsed.no_context, "Do not feed a window the text of those before it");
    app.add_option("--audio-seconds-max", parsed.audio_seconds_max, "Longest recording taken")->check(CLI::Range(1L, 86400L));
    app.add_option("--slots", parsed.slots, "Jobs at a time, when serving")->check(CLI::Range(1, 64))->group("Started by the gateway");
    app.add_option("--serve-fd", parsed.serve_fd, "Take jobs from this connected socket")
        ->check(CLI::Range(0, 1 << 20))
        ->group("Started by the gateway");
    app.add_flag("--to-flac", parsed.to_flac, "Decode one recording to FLAC and end")->group("Started by the gateway");
    app.add_option("--flac-bytes-max", parsed.flac_bytes_max, "Of what --to-flac writes")
        ->check(CLI::Range(1000L, 1L << 32))
        ->group("Started by the gateway");
    try {
        app.parse(argc, argv);
        if (parsed.to_flac && parsed.serve_fd < 0) throw CLI::RequiredError("--serve-fd");
        if (!parsed.to_flac && parsed.model.empty()) throw CLI::RequiredError("model");
        if (parsed.serve_fd < 0 && parsed.file.empty()) throw CLI::RequiredError("file");
    } catch (const CLI::ParseError& told) {
        return app.exit(told) == 0 ? 0 : 2;
    }
    if (parsed.threads == 0) {
        const int processors = static_cast<int>(std::thread::hardware_concurrency());
        const int sharing = parsed.serve_fd < 0 ? 1 : parsed.slots;
        parsed.threads = std::clamp(processors / sharing, 1, 16);
    }
    return parsed;
}

}  // namespace hearonce::whisper
