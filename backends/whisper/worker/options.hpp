// The command line of hearonce-whisper. Holds: options, parse_options(). Next file: main.cpp.
#pragma once

#include <optional>
#include <string>
#include <variant>

namespace hearonce::whisper {

struct options {
    std::string model;  // Path of a ggml model file.
    std::string file;   // The recording, when used by hand.
    int serve_fd = -1;  // A connected stream socket, when started by the gateway; -1: by hand.
    int threads = 0;    // Of one job; 0: the machine's.
    int slots = 1;
    bool no_context = false;
    bool to_flac = false;  // One recording is decoded and nothing recognised; no model is needed.
    long flac_bytes_max = 75'000'000;
    long audio_seconds_max = 7200;

    std::string language;
    std::string prompt;
    double temperature = 0;
    bool translate = false;
    std::string format = "text";
};

// The options, or the exit status when the program has said all there is to say (help, version, a mistake).
std::variant<options, int> parse_options(int argc, char** argv);

}  // namespace hearonce::whisper
