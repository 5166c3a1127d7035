// Recordings to a server, one after the other, and their texts back.
//
// Holds: send_options, send(). Next file: send_request.hpp (what is said), form_file.hpp (how it is read).
#pragma once

#include <cli/send_request.hpp>
#include <hearonce/secret.hpp>
#include <net/one_call.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hearonce::cli {

struct send_options {
    net::http_url url;
    std::string device;  // Empty: none is sent.
    secret api_key;      // Empty: none is sent.
    send_fields fields;
    std::optional<std::filesystem::path> output_folder;  // Absent: stdout.
    std::chrono::milliseconds read_timeout = std::chrono::minutes(5);
    std::vector<std::filesystem::path> files;
};

// Texts go to stdout (or files), everything else to stderr. Ctrl-C ends it with 130.
exit_code send(const send_options& options);

}  // namespace hearonce::cli
