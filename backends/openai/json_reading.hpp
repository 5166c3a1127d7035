// JSON as other servers write it: numbers in quotes, nulls, missing members. Pure.
//
// Holds: parse_object(), member(), text_of(), number_of(), integer_of(), kept_members(), and how transcripts' parts are read.
// Next file: answer.hpp (a whole answer), events.hpp (a stream's records).
#pragma once

#include <hearonce/transcription.hpp>

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::openai {

inline constexpr std::size_t json_depth_max = 32;

// An object nested no deeper than json_depth_max; nullopt for anything else.
std::optional<boost::json::object> parse_object(std::string_view text);

// nullptr: absent or null.
const boost::json::value* member(const boost::json::object& from, std::string_view name) noexcept;

// The text of a string; empty for anything else.
std::string_view text_of(const boost::json::object& from, std::string_view name) noexcept;
// A finite number, also from a string; nullopt for anything else.
std::optional<double> number_of(const boost::json::value& from) noexcept;
double number_of(const boost::json::object& from, std::string_view name) noexcept;  // 0 for anything else.
std::int64_t integer_of(const boost::json::object& from, std::string_view name) noexcept;

// `usage`, `logprobs` and `languages` of an object as they were written, without blanks between tokens; those that are not
// what they should be (an object, lists) are left out. `valid_object`: what parse_object() took. Not made from the parsed
// values: their numbers would be written in another way.
std::vector<json_member> kept_members(std::string_view valid_object);

// One element of `segments`, or a record about a speaker's turn. `number`: its place, for those without a number.
segment segment_of(const boost::json::object& from, std::int64_t number);
word_time word_of(const boost::json::object& from);

}  // namespace hearonce::openai
