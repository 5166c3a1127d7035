// The gateway's own tokens as `name:sha256hex` lines: made, listed and taken back. The gateway reads the same lines with
// http::token_table.
//
// Holds: new_token, make_token(), token_names(), with_token(), without_token(). Pure but for the randomness of make_token().
// Next file: cli/token.cpp.
#pragma once

#include <hearonce/secret.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::app {

// 1 to 64 of A-Z a-z 0-9 . _ -, so that it is safe in files, metrics and log lines.
bool valid_token_name(std::string_view name) noexcept;

struct new_token {
    secret token;      // `hearonce_` and 64 hex digits: 256 random bits. Shown once, kept nowhere.
    std::string line;  // `name:sha256hex` of the whole token, without line end.
};
new_token make_token(const std::string& name);

// Names in the order of the lines; comments and lines of another form are left out.
std::vector<std::string> token_names(std::string_view lines);
// The text with one line more; every other byte stays.
std::string with_token(std::string lines, std::string_view line);
// The text without the lines of this name; nullopt when there is none.
std::optional<std::string> without_token(std::string_view lines, std::string_view name);

}  // namespace hearonce::app
