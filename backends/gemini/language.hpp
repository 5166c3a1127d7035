// Languages: codes as the upstream takes and gives them, names as answers show them. Pure functions.
//
// Holds: language_name_of(), language_code_of(), written_without_spaces(). Nothing follows.
#pragma once

#include <string>
#include <string_view>

namespace hearonce::gemini {

// Full English name in lower case of a code of BCP 47 ("en", "pt-BR", "cmn-Hans-CN") or of such a name in any case; empty when
// it is neither.
std::string_view language_name_of(std::string_view code_or_name);

// The code of what a caller wrote, as it stands where it is one; empty: no code of BCP 47 and no name we know.
std::string language_code_of(std::string_view code_or_name);

bool written_without_spaces(std::string_view code) noexcept;

}  // namespace hearonce::gemini
