// The table. Nothing follows.
#include <backends/openai/languages.hpp>
#include <hearonce/ascii.hpp>

#include <algorithm>
#include <array>

namespace hearonce::openai {
namespace {

struct entry {
    std::string_view code;
    std::string_view name;
};

// Whisper's hundred, and the codes others use for four of them. Ordered by code.
// clang-format off
constexpr std::array<entry, 104> table{{
    {"af", "afrikaans"}, {"am", "amharic"}, {"ar", "arabic"}, {"as", "assamese"}, {"az", "azerbaijani"}, {"ba", "bashkir"},
    {"be", "belarusian"}, {"bg", "bulgarian"}, {"bn", "bengali"}, {"bo", "tibetan"}, {"br", "breton"}, {"bs", "bosnian"},
    {"ca", "catalan"}, {"cs", "czech"}, {"cy", "welsh"}, {"da", "danish"}, {"de", "german"}, {"el", "greek"}, {"en", "english"},
    {"es", "spanish"}, {"et", "estonian"}, {"eu", "basque"}, {"fa", "persian"}, {"fi", "finnish"}, {"fil", "tagalog"},
    {"fo", "faroese"}, {"fr", "french"}, {"gl", "galician"}, {"gu", "gujarati"}, {"ha", "hausa"}, {"haw", "hawaiian"}, {"he", "hebrew"},
    {"hi", "hindi"}, {"hr", "croatian"}, {"ht", "haitian creole"}, {"hu", "hungarian"}, {"hy", "armenian"}, {"id", "indonesian"},
    {"is", "icelandic"}, {"it", "italian"}, {"iw", "hebrew"}, {"ja", "japanese"}, {"jv", "javanese"}, {"jw", "javanese"},
    {"ka", "georgian"}, {"kk", "kazakh"}, {"km", "khmer"}, {"kn", "kannada"}, {"ko", "korean"}, {"la", "latin"},
    {"lb", "luxembourgish"}, {"ln", "lingala"}, {"lo", "lao"}, {"lt", "lithuanian"}, {"lv", "latvian"}, {"mg", "malagasy"},
    {"mi", "maori"}, {"mk", "macedonian"}, {"ml", "malayalam"}, {"mn", "mongolian"}, {"mr", "marathi"}, {"ms", "malay"},
    {"mt", "maltese"}, {"my", "myanmar"}, {"nb", "norwegian"}, {"ne", "nepali"}, {"nl", "dutch"}, {"nn", "nynorsk"},
    {"no", "norwegian"}, {"oc", "occitan"}, {"pa", "punjabi"}, {"pl", "polish"}, {"ps", "pashto"}, {"pt", "portuguese"},
    {"ro", "romanian"}, {"ru", "russian"}, {"sa", "sanskrit"}, {"sd", "sindhi"}, {"si", "sinhala"}, {"sk", "slovak"},
    {"sl", "slovenian"}, {"sn", "shona"}, {"so", "somali"}, {"sq", "albanian"}, {"sr", "serbian"}, {"su", "sundanese"},
    {"sv", "swedish"}, {"sw", "swahili"}, {"ta", "tamil"}, {"te", "telugu"}, {"tg", "tajik"}, {"th", "thai"}, {"tk", "turkmen"},
    {"tl", "tagalog"}, {"tr", "turkish"}, {"tt", "tatar"}, {"uk", "ukrainian"}, {"ur", "urdu"}, {"uz", "uzbek"}, {"vi", "vietnamese"},
    {"yi", "yiddish"}, {"yo", "yoruba"}, {"yue", "cantonese"}, {"zh", "chinese"},
}};
// clang-format on
static_assert(std::ranges::is_sorted(table, {}, &entry::code));

constexpr std::size_t name_bytes_max = 64;

bool can_be_a_name(char c) noexcept {
    return (c >= 'a' && c <= 'z') || c == ' ' || c == '-' || c == '_' || c == '\'' || c == '(' || c == ')';
}

}  // namespace

std::string language_name(std::string_view code_or_name) {
    if (code_or_name.size() > name_bytes_max) return {};
    std::string lower = ascii::lowered(code_or_name);
    if (!std::ranges::all_of(lower, can_be_a_name)) return {};
    // "de-at" and "zh_hans" are spoken like "de" and "zh".
    const std::string_view primary = std::string_view(lower).substr(0, lower.find_first_of("-_"));
    const auto found = std::ranges::lower_bound(table, primary, {}, &entry::code);
    if (found != table.end() && found->code == primary) return std::string(found->name);
    return lower;
}

bool written_without_spaces(std::string_view name) noexcept {
    constexpr std::string_view names[] = {"chinese", "cantonese", "japanese", "thai", "lao", "myanmar", "khmer", "tibetan"};
    return std::ranges::find(names, name) != std::end(names);
}

}  // namespace hearonce::openai
