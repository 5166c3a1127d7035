// UTF-8 by the table of well-formed byte sequences (Unicode 15, table 3-7). Next file: protocol.cpp.
#include <backends/whisper/utf8.hpp>

#include <cstdint>

namespace hearonce::whisper {
namespace {

struct step {
    std::size_t length = 1;  // Bytes looked at: a whole character, or a maximal invalid or unfinished piece.
    bool valid = false;
    bool unfinished = false;  // Ends because the text ends.
};

step step_at(std::string_view text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t first = byte(at);
    if (first < 0x80) return {1, true, false};
    std::size_t length = 0;
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xBF;
    if (first >= 0xC2 && first <= 0xDF) {
        length = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
        length = 3;
        if (first == 0xE0) low = 0xA0;
        if (first == 0xED) high = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
        length = 4;
        if (first == 0xF0) low = 0x90;
        if (first == 0xF4) high = 0x8F;
    } else {
        return {1, false, false};
    }
    for (std::size_t i = 1; i < length; ++i) {
        if (at + i == text.size()) return {i, false, true};
        if (byte(at + i) < low || byte(at + i) > high) return {i, false, false};
        low = 0x80;
        high = 0xBF;
    }
    return {length, true, false};
}

}  // namespace

std::size_t utf8_whole(std::string_view text) noexcept {
    // Only the last three bytes can belong to an unfinished character.
    for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
        const std::size_t at = text.size() - back;
        if ((static_cast<std::uint8_t>(text[at]) & 0xC0) == 0x80) continue;
        return step_at(text, at).unfinished ? at : text.size();
    }
    return text.size();
}

std::string_view utf8_tail(std::string_view text, std::size_t bytes_max) noexcept {
    if (text.size() <= bytes_max) return text;
    text.remove_prefix(text.size() - bytes_max);
    // A character has three bytes after its first at most; more of them are no text, and cut anywhere.
    for (int i = 0; i < 3 && !text.empty() && (static_cast<std::uint8_t>(text.front()) & 0xC0) == 0x80; ++i) text.remove_prefix(1);
    return text;
}

std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const step here = step_at(text, at);
        if (here.valid) {
            out.append(text, at, here.length);
        } else {
            out.append("\xEF\xBF\xBD");
        }
        at += here.length;
    }
    return out;
}

}  // namespace hearonce::whisper
