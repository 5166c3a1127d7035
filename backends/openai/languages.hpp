// Languages as Whisper knows them: answers name them by code or by name, clients expect the name. Pure.
//
// Holds: language_name(), written_without_spaces(). Nothing follows.
#pragma once

#include <string>
#include <string_view>

namespace hearonce::openai {

// "german" for "de", "DE", "de-AT", "German" and "german"; another name in lower case as it is; empty for what is no name.
std::string language_name(std::string_view code_or_name);

// By name: no spaces stand between its words.
bool written_without_spaces(std::string_view name) noexcept;

}  // namespace hearonce::openai
