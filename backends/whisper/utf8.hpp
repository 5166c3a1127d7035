// Text that JSON and clients can take: valid UTF-8 whatever a model or a caller wrote.
//
// Holds: valid_utf8(), utf8_whole(), utf8_tail(). Next file: protocol.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hearonce::whisper {

// Bytes of `text` up to the end of its last complete character; the rest may be completed by what follows.
std::size_t utf8_whole(std::string_view text) noexcept;

// The last `bytes_max` bytes of `text` or less: it does not begin in the middle of a character.
std::string_view utf8_tail(std::string_view text, std::size_t bytes_max) noexcept;

// `text` with each maximal invalid piece replaced by U+FFFD (Unicode 15, section 3.9, "substitution of maximal subparts").
std::string valid_utf8(std::string_view text);

}  // namespace hearonce::whisper
