// What `send` says to a server and what it makes of the answer. Pure functions.
//
// Holds: send_fields, transcriptions_url(), form_of(), judge(), output_name(). Next file: form_file.hpp (reads the recording).
#pragma once

#include <cli/exit_code.hpp>
#include <net/one_call.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::cli {

// The form's fields but the file; empty ones are not sent.
struct send_fields {
    std::string model;
    std::string language;
    std::string prompt;
    std::string format = "text";
};

// Where recordings go at a server named by its root, its /v1 or the full path; nullopt: no http or https URL.
std::optional<net::http_url> transcriptions_url(std::string_view server);

// Everything of the multipart body before and after the file's bytes (RFC 7578).
struct form_frame {
    std::string head;
    std::string tail;
};
form_frame form_of(const send_fields& fields, const std::filesystem::path& file, std::string_view boundary);

// audio/... by the file's ending; application/octet-stream where it says nothing.
std::string_view content_type_of(const std::filesystem::path& file);

// How one answer is told to the user.
struct verdict {
    exit_code code = done;
    std::string output;     // For stdout or a file, line end included.
    std::string complaint;  // For stderr, one line; empty when done.
};
// A 200 that is no transcript (a sign-in page between here and the server) counts as a broken link, everything but 200 as
// a refusal.
verdict judge(const net::http_answer& answer, std::string_view format);

// "notes/a.m4a" for format srt: "a.srt".
std::filesystem::path output_name(const std::filesystem::path& file, std::string_view format);

}  // namespace hearonce::cli
