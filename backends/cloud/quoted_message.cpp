// Word by word. Nothing follows.
#include <backends/cloud/quoted_message.hpp>

#include <algorithm>

namespace hearonce::cloud {
namespace {

constexpr std::size_t telling_bytes = 8;  // So much of a key in a row is taken for the key.

bool ends_word(char c) noexcept {
    return c == ' ' || c == '"' || c == '\'' || c == '`' || c == ',' || c == ';' || c == ':' || c == '(' || c == ')' || c == '=';
}

bool shares(std::string_view word, std::string_view key) noexcept {
    if (key.empty()) return false;
    const std::size_t window = std::min(telling_bytes, key.size());
    for (std::size_t at = 0; at + window <= word.size(); ++at) {
        if (key.find(word.substr(at, window)) != std::string_view::npos) return true;
    }
    return false;
}

bool begins_like_a_key(std::string_view word) noexcept {
    constexpr std::string_view beginnings[] = {"sk-", "sk_", "gsk_", "org-", "org_", "proj_", "AIza", "user-"};
    return word.size() >= telling_bytes &&
           std::ranges::any_of(beginnings, [word](std::string_view beginning) { return word.starts_with(beginning); });
}

void append_word(std::string& out, std::string_view word, std::string_view key) {
    const bool hidden = shares(word, key) || begins_like_a_key(word) || word.find("***") != std::string_view::npos;
    out += hidden ? std::string_view("***") : word;
}

// Cuts between characters.
void cut(std::string& text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return;
    while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
    text.resize(bytes_max);
}

}  // namespace

std::string quoted_message(std::string_view message, std::string_view key) {
    // Cut first, so that the search is bounded, and a little longer, so that the cut never hides the half of a key.
    std::string line(message.substr(0, 4 * message_bytes_max));
    cut(line, std::min(line.size(), 4 * message_bytes_max - 4));
    for (char& c : line) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    std::string out;
    for (std::size_t at = 0; at < line.size();) {
        const auto end = std::find_if(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(), ends_word);
        const auto length = static_cast<std::size_t>(end - line.begin()) - at;
        if (length == 0) {
            out += line[at++];
        } else {
            append_word(out, std::string_view(line).substr(at, length), key);
            at += length;
        }
    }
    cut(out, message_bytes_max);
    return out;
}

}  // namespace hearonce::cloud
