// Letters, digits and blanks as protocols know them: ASCII alone, whatever the locale says, for a rule of Unicode's or of a
// locale's would make two different names equal.
//
// Holds: is_digit(), is_letter(), is_letter_or_digit(), lower(), lowered(), equal_in_any_case(), trimmed(), without_blanks(),
// hex_of().
// Next file: error.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hearonce::ascii {

// What may stand around a header's value (RFC 9110 section 5.6.3), and what may stand around a text.
inline constexpr std::string_view blanks = " \t";
inline constexpr std::string_view white_space = " \t\r\n\v\f";

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_letter_or_digit(char c) noexcept {
    return is_letter(c) || is_digit(c);
}

constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string lowered(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = lower(c);
    return out;
}

constexpr bool equal_in_any_case(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && std::ranges::equal(a, b, {}, lower, lower);
}

// A view of `text` without those at its two ends.
constexpr std::string_view without(std::string_view unwanted, std::string_view text) noexcept {
    const auto first = text.find_first_not_of(unwanted);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(unwanted) + 1 - first);
}
constexpr std::string_view trimmed(std::string_view text) noexcept {
    return without(white_space, text);
}
constexpr std::string_view without_blanks(std::string_view value) noexcept {
    return without(blanks, value);
}

// Two lower-case digits a byte.
inline std::string hex_of(std::span<const std::byte> bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text(2 * bytes.size(), '0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        text[2 * i] = digits[std::to_integer<unsigned>(bytes[i] >> 4)];
        text[2 * i + 1] = digits[std::to_integer<unsigned>(bytes[i] & std::byte{0x0f})];
    }
    return text;
}

}  // namespace hearonce::ascii
