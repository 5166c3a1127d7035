// Whether bytes are valid UTF-8, and whether a text can stand in a header, a message or a log line.
//
// Holds: valid_utf8(), printable_utf8(). Next file: part_head.hpp.
#pragma once

#include <cstddef>
#include <string_view>

namespace hearonce::http {

// Length of the well-formed sequence at the start of `text`, 0 if there is none (Unicode 15 table 3-7: no overlong forms, no
// surrogates, nothing above U+10FFFF).
constexpr std::size_t utf8_sequence_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    const auto tail = [&](std::size_t at) { return (byte(at) & 0xc0u) == 0x80u; };
    const unsigned first = byte(0);
    if (text.empty()) return 0;
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = first == 0xed ? 0x9f : 0xbf;
        return byte(1) >= low && byte(1) <= high && tail(2) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const unsigned low = first == 0xf0 ? 0x90 : 0x80;
        const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
        return byte(1) >= low && byte(1) <= high && tail(2) && tail(3) ? 4 : 0;
    }
    return 0;
}

constexpr bool valid_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = utf8_sequence_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

// Valid UTF-8 without control characters of ASCII: safe to quote in a message.
constexpr bool printable_utf8(std::string_view text) noexcept {
    for (const char each : text) {
        if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f) return false;
    }
    return valid_utf8(text);
}

}  // namespace hearonce::http
