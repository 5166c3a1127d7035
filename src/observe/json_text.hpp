// Writes text and numbers into JSON, fast and without ever producing something a strict parser refuses.
//
// Holds: append_json_string(), append_json_number(), append_json_seconds(), append_integer(), append_printable(). Used by
// the log beside it and by http/render.cpp, which is on the path of every answer: appends to a string, no streams.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearonce::observe {

// A quoted JSON string (RFC 8259 section 7). What is not UTF-8 (RFC 3629: overlong forms, surrogates, cut sequences) becomes
// one U+FFFD for each longest wrong piece, as the Unicode standard recommends (section 3.9, table 3-8).
void append_json_string(std::string& out, std::string_view text);

// The same without the quotes, for text that is put together from pieces.
void append_json_escaped(std::string& out, std::string_view text);

// Plain text with wrong UTF-8 replaced in the same way; nothing is escaped.
void append_utf8(std::string& out, std::string_view text);

// A floating point number to six significant digits with at least one decimal (0.0, -0.2, 1.1e-12); what JSON cannot say
// (NaN, infinity) becomes 0.0. Six digits hide the noise of values that once were 32-bit floats.
void append_json_number(std::string& out, double value);

// A time in seconds, rounded to whole milliseconds, at least one decimal (3.4, 0.0, 61.25); negative or not finite is 0.0.
void append_json_seconds(std::string& out, double seconds);

// Whole milliseconds of a time in seconds, rounded half up; negative or not finite is 0, at most about 31,000 years.
std::int64_t milliseconds_of(double seconds) noexcept;

void append_integer(std::string& out, std::int64_t value);

// `text` for one line of a log: control characters (C0, DEL, C1: line ends and terminal sequences), quotes and backslashes
// are escaped as in JSON, and no more than `bytes_max` bytes of it are taken, cut between characters.
void append_printable(std::string& out, std::string_view text, std::size_t bytes_max);

}  // namespace hearonce::observe
