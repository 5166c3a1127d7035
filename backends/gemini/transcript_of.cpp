// Next files: turns.cpp, structured.cpp.
#include <backends/gemini/language.hpp>
#include <backends/gemini/transcript_of.hpp>
#include <hearonce/ascii.hpp>

#include <algorithm>

namespace hearonce::gemini {
namespace {

std::string language_of(const heard& from, const wish& wanted) {
    if (wanted.task == task::translate) return "english";
    for (const turn& each : from.turns()) {
        const std::string_view name = language_name_of(each.language);
        if (!name.empty()) return std::string(name);
    }
    return std::string(language_name_of(wanted.language));
}

result<transcript> text_only(const heard& from) {
    transcript made;
    made.text = ascii::trimmed(from.text());
    return made;
}

}  // namespace

std::string speakers::letter_of(std::string_view label) {
    auto place = std::ranges::find(known_, label);
    if (place == known_.end()) place = known_.insert(known_.end(), std::string(label));
    auto number = static_cast<std::size_t>(place - known_.begin());
    std::string letters;
    // A to Z, then AA, AB, ...
    for (;;) {
        letters.insert(letters.begin(), static_cast<char>('A' + number % 26));
        if (number < 26) return letters;
        number = number / 26 - 1;
    }
}

result<transcript> transcript_of(const heard& from, const wish& wanted, bool streamed) {
    if (const auto ended = from.end(streamed); !ended) return ended.error();
    auto made = wanted.structured                         ? transcript_of_json(from.text(), wanted)
                : wanted.class_of_detail == detail::plain ? text_only(from)
                                                          : transcript_of_turns(from, wanted);
    if (!made) return made;
    if (made->language.empty() || wanted.task == task::translate) made->language = language_of(from, wanted);
    if (wanted.audio_seconds) {
        made->duration_seconds = *wanted.audio_seconds;
    } else if (!made->segments.empty()) {
        made->duration_seconds = std::ranges::max(made->segments, {}, &segment::end_seconds).end_seconds;
    }
    std::string usage = from.usage_json();
    if (!usage.empty()) made->more.push_back({"usage", std::move(usage)});
    return made;
}

}  // namespace hearonce::gemini
