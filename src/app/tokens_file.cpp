// Next file: cli/token.cpp.
#include <app/tokens_file.hpp>
#include <hearonce/ascii.hpp>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace hearonce::app {
namespace {

// The name a line is for; empty when it is no token's line.
std::string_view name_in(std::string_view line) {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    const auto colon = line.rfind(':');
    return line.starts_with('#') || colon == std::string_view::npos ? std::string_view() : line.substr(0, colon);
}

// Takes the first line off the text, its line end included.
std::string_view next_line(std::string_view& text) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end == std::string_view::npos ? end : end + 1);
    text.remove_prefix(line.size());
    return line;
}

}  // namespace

bool valid_token_name(std::string_view name) noexcept {
    const auto fine = [](char c) { return ascii::is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; };
    return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, fine);
}

new_token make_token(const std::string& name) {
    std::array<unsigned char, 32> random{};
    std::array<unsigned char, 32> digest{};
    if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) throw std::runtime_error("the system gives no random bytes");
    std::string text = "hearonce_" + ascii::hex_of(std::as_bytes(std::span(random)));
    if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1)
        throw std::runtime_error("SHA-256 is not available");
    new_token made{secret(text), name + ":" + ascii::hex_of(std::as_bytes(std::span(digest)))};
    OPENSSL_cleanse(text.data(), text.size());
    OPENSSL_cleanse(random.data(), random.size());
    return made;
}

std::vector<std::string> token_names(std::string_view lines) {
    std::vector<std::string> names;
    while (!lines.empty()) {
        const auto name = name_in(next_line(lines));
        if (!name.empty()) names.emplace_back(name);
    }
    return names;
}

std::string with_token(std::string lines, std::string_view line) {
    if (!lines.empty() && !lines.ends_with('\n')) lines += '\n';
    return lines.append(line).append("\n");
}

std::optional<std::string> without_token(std::string_view lines, std::string_view name) {
    std::string kept;
    bool found = false;
    while (!lines.empty()) {
        const auto line = next_line(lines);
        const bool taken = !name.empty() && name_in(line) == name;
        found = found || taken;
        if (!taken) kept += line;
    }
    return found ? std::optional(kept) : std::nullopt;
}

}  // namespace hearonce::app
