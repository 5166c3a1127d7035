// The table of names. Next file: none.
#include <backends/gemini/language.hpp>
#include <hearonce/ascii.hpp>

#include <algorithm>
#include <array>

namespace hearonce::gemini {
namespace {

struct entry {
    std::string_view code;
    std::string_view name;
};

// The first of two codes with the same name is the one that is sent.
constexpr auto table = std::to_array<entry>({{"en", "english"},
                                             {"zh", "chinese"},
                                             {"de", "german"},
                                             {"es", "spanish"},
                                             {"ru", "russian"},
                                             {"ko", "korean"},
                                             {"fr", "french"},
                                             {"ja", "japanese"},
                                             {"pt", "portuguese"},
                                             {"tr", "turkish"},
                                             {"pl", "polish"},
                                             {"ca", "catalan"},
                                             {"nl", "dutch"},
                                             {"ar", "arabic"},
                                             {"sv", "swedish"},
                                             {"it", "italian"},
                                             {"id", "indonesian"},
                                             {"hi", "hindi"},
                                             {"fi", "finnish"},
                                             {"vi", "vietnamese"},
                                             {"he", "hebrew"},
                                             {"uk", "ukrainian"},
                                             {"el", "greek"},
                                             {"ms", "malay"},
                                             {"cs", "czech"},
                                             {"ro", "romanian"},
                                             {"da", "danish"},
                                             {"hu", "hungarian"},
                                             {"ta", "tamil"},
                                             {"no", "norwegian"},
                                             {"th", "thai"},
                                             {"ur", "urdu"},
                                             {"hr", "croatian"},
                                             {"bg", "bulgarian"},
                                             {"lt", "lithuanian"},
                                             {"la", "latin"},
                                             {"mi", "maori"},
                                             {"ml", "malayalam"},
                                             {"cy", "welsh"},
                                             {"sk", "slovak"},
                                             {"te", "telugu"},
                                             {"fa", "persian"},
                                             {"lv", "latvian"},
                                             {"bn", "bengali"},
                                             {"sr", "serbian"},
                                             {"az", "azerbaijani"},
                                             {"sl", "slovenian"},
                                             {"kn", "kannada"},
                                             {"et", "estonian"},
                                             {"mk", "macedonian"},
                                             {"br", "breton"},
                                             {"eu", "basque"},
                                             {"is", "icelandic"},
                                             {"hy", "armenian"},
                                             {"ne", "nepali"},
                                             {"mn", "mongolian"},
                                             {"bs", "bosnian"},
                                             {"kk", "kazakh"},
                                             {"sq", "albanian"},
                                             {"sw", "swahili"},
                                             {"gl", "galician"},
                                             {"mr", "marathi"},
                                             {"pa", "punjabi"},
                                             {"si", "sinhala"},
                                             {"km", "khmer"},
                                             {"sn", "shona"},
                                             {"yo", "yoruba"},
                                             {"so", "somali"},
                                             {"af", "afrikaans"},
                                             {"oc", "occitan"},
                                             {"ka", "georgian"},
                                             {"be", "belarusian"},
                                             {"tg", "tajik"},
                                             {"sd", "sindhi"},
                                             {"gu", "gujarati"},
                                             {"am", "amharic"},
                                             {"yi", "yiddish"},
                                             {"lo", "lao"},
                                             {"uz", "uzbek"},
                                             {"fo", "faroese"},
                                             {"ht", "haitian creole"},
                                             {"ps", "pashto"},
                                             {"tk", "turkmen"},
                                             {"nn", "nynorsk"},
                                             {"mt", "maltese"},
                                             {"sa", "sanskrit"},
                                             {"lb", "luxembourgish"},
                                             {"my", "myanmar"},
                                             {"bo", "tibetan"},
                                             {"tl", "tagalog"},
                                             {"mg", "malagasy"},
                                             {"as", "assamese"},
                                             {"tt", "tatar"},
                                             {"haw", "hawaiian"},
                                             {"ln", "lingala"},
                                             {"ha", "hausa"},
                                             {"ba", "bashkir"},
                                             {"jw", "javanese"},
                                             {"su", "sundanese"},
                                             {"yue", "cantonese"},
                                             {"cmn", "chinese"},
                                             {"fil", "tagalog"},
                                             {"iw", "hebrew"},
                                             {"nb", "norwegian"},
                                             {"jv", "javanese"},
                                             {"ga", "irish"},
                                             {"gd", "scottish gaelic"},
                                             {"eo", "esperanto"},
                                             {"ig", "igbo"},
                                             {"xh", "xhosa"},
                                             {"zu", "zulu"},
                                             {"st", "sotho"},
                                             {"rw", "kinyarwanda"},
                                             {"ky", "kyrgyz"},
                                             {"ug", "uyghur"},
                                             {"or", "odia"},
                                             {"ku", "kurdish"},
                                             {"co", "corsican"},
                                             {"fy", "frisian"},
                                             {"ceb", "cebuano"},
                                             {"ny", "chichewa"},
                                             {"sm", "samoan"},
                                             {"om", "oromo"},
                                             {"ti", "tigrinya"},
                                             {"tn", "tswana"},
                                             {"wo", "wolof"},
                                             {"ast", "asturian"},
                                             {"lg", "ganda"},
                                             {"ff", "fulah"}});

std::string_view primary(std::string_view code) noexcept {
    return code.substr(0, code.find_first_of("-_"));
}

// Letters, digits and hyphens: nothing else can stand in a tag (RFC 5646 section 2.1).
bool is_tag(std::string_view text) noexcept {
    const std::string_view first = text.substr(0, text.find('-'));
    if (first.size() < 2 || first.size() > 3 || !std::ranges::all_of(first, ascii::is_letter) || text.size() > 35) return false;
    return std::ranges::all_of(text, [](char c) { return ascii::is_letter_or_digit(c) || c == '-'; });
}

const entry* find(std::string_view code_or_name) {
    const std::string wanted = ascii::lowered(code_or_name);
    for (const entry& each : table) {
        if (each.name == wanted || each.code == primary(wanted)) return &each;
    }
    return nullptr;
}

}  // namespace

std::string_view language_name_of(std::string_view code_or_name) {
    const entry* known = find(code_or_name);
    return known != nullptr ? known->name : std::string_view();
}

std::string language_code_of(std::string_view code_or_name) {
    std::string tag(code_or_name);
    std::ranges::replace(tag, '_', '-');
    if (is_tag(tag)) return tag;
    const entry* known = find(code_or_name);
    return known != nullptr ? std::string(known->code) : std::string();
}

bool written_without_spaces(std::string_view code) noexcept {
    constexpr auto codes = std::to_array<std::string_view>({"zh", "cmn", "yue", "ja", "th", "lo", "km", "my"});
    return std::ranges::find(codes, primary(code)) != codes.end();
}

}  // namespace hearonce::gemini
