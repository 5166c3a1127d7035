// `hearonce models pull`: fetches one model, patiently, and puts it in place only when it is whole and right.
//
// Holds: pull_options, pull(). Called by models.cpp. Next file: models_pull.cpp.
#pragma once

#include <app/known_models.hpp>
#include <cli/exit_code.hpp>
#include <net/tls.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hearonce::cli {

struct pull_options {
    std::string name;
    std::string url;
    std::filesystem::path folder;
    const app::known_model* known = nullptr;        // Whose published hash it must have; nullptr: a model of the user's own.
    std::optional<std::filesystem::path> ca_file;   // For https; absent: the system's store.
    unsigned attempts = 5;                          // Without a byte gained in between.
    std::vector<std::chrono::milliseconds> pauses;  // Before the second, third, ... of them; the last one repeats. Not empty.
    std::chrono::milliseconds stall{30'000};        // Without a byte for this long a try is given up.
};

// Says on stdout where the model is, everything else on stderr. Ctrl-C keeps what is here for the next time.
exit_code pull(const pull_options& options);

}  // namespace hearonce::cli
