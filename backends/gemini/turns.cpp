// A transcriber's turns cut into segments: a sentence, or a speaker's turn, each. Next file: structured.cpp.
#include <backends/gemini/language.hpp>
#include <backends/gemini/transcript_of.hpp>
#include <hearonce/ascii.hpp>

#include <algorithm>
#include <array>

namespace hearonce::gemini {
namespace {

constexpr double pause_seconds = 1;     // Speech that goes on after it begins a new segment.
constexpr double longest_seconds = 15;  // Of a segment of a text without sentences.

bool ends_sentence(std::string_view word) noexcept {
    constexpr auto marks = std::to_array<std::string_view>({".", "?", "!", "…", "。", "？", "！"});
    for (std::string_view quote : {"\"", "'", ")", "”", "’", "»"}) {
        if (word.size() > quote.size() && word.ends_with(quote)) word.remove_suffix(quote.size());
    }
    return std::ranges::any_of(marks, [word](std::string_view mark) { return word.ends_with(mark); });
}

using words = std::vector<timed_word>;

const std::string& speaker_of(const timed_word& word, const turn& of) noexcept {
    return word.speaker.empty() ? of.speaker : word.speaker;
}

// Where a turn is cut: the number of the first word of each segment.
std::vector<std::size_t> cuts_of(const turn& of, bool diarized) {
    std::vector<std::size_t> cuts;
    for (std::size_t i = 0; i < of.words.size(); ++i) {
        const auto cut = [&] {
            if (i == 0) return true;
            const timed_word& before = of.words[i - 1];
            if (speaker_of(before, of) != speaker_of(of.words[i], of)) return true;
            if (diarized) return false;
            const bool pause = of.words[i].start_seconds - before.end_seconds >= pause_seconds;
            return pause || ends_sentence(before.text) || of.words[i].end_seconds - of.words[cuts.back()].start_seconds > longest_seconds;
        };
        if (cut()) cuts.push_back(i);
    }
    return cuts;
}

// Where each word stands in the turn's text; empty when not all of them do, in their order.
std::vector<std::size_t> places_of(const turn& of) {
    std::vector<std::size_t> places;
    std::size_t from = 0;
    for (const timed_word& each : of.words) {
        const std::string_view word = ascii::trimmed(each.text);
        const std::size_t at = of.text.find(word, from);
        if (at == std::string::npos) return {};
        places.push_back(at);
        from = at + word.size();
    }
    return places;
}

// The text of words first..last-1 as the turn writes it, punctuation included, else the words.
std::string text_of(const turn& of, const std::vector<std::size_t>& places, std::size_t first, std::size_t last) {
    if (!places.empty()) {
        const std::size_t begin = first == 0 ? 0 : places[first];
        const std::size_t end = last < places.size() ? places[last] : of.text.size();
        return std::string(ascii::trimmed(std::string_view(of.text).substr(begin, end - begin)));
    }
    const std::string_view between = written_without_spaces(of.language) ? "" : " ";
    std::string out;
    for (std::size_t i = first; i < last; ++i) {
        if (!out.empty()) out += between;
        out += ascii::trimmed(of.words[i].text);
    }
    return out;
}

class collector {
public:
    collector(transcript& into, bool diarized) : into_(into), diarized_(diarized) {}

    // False: it has no times.
    bool add(const turn& of) {
        if (of.words.empty()) {
            if (ascii::trimmed(of.text).empty()) return true;
            if (!of.start_seconds) return false;
            add_segment(std::string(ascii::trimmed(of.text)), *of.start_seconds, of.end_seconds.value_or(*of.start_seconds), of.speaker);
            return true;
        }
        const auto cuts = cuts_of(of, diarized_);
        const auto places = places_of(of);
        for (std::size_t i = 0; i < cuts.size(); ++i) {
            const std::size_t last = i + 1 < cuts.size() ? cuts[i + 1] : of.words.size();
            const timed_word& first = of.words[cuts[i]];
            add_segment(text_of(of, places, cuts[i], last), first.start_seconds, of.words[last - 1].end_seconds, speaker_of(first, of));
        }
        for (const timed_word& each : of.words)
            into_.words.push_back({std::string(ascii::trimmed(each.text)), each.start_seconds, each.end_seconds});
        return true;
    }

private:
    void add_segment(std::string text, double start, double end, const std::string& speaker) {
        segment made;
        made.id = static_cast<std::int64_t>(into_.segments.size());
        made.start_seconds = start;
        made.end_seconds = std::max(start, end);
        made.text = " " + std::move(text);
        if (diarized_) made.speaker = speakers_.letter_of(speaker);
        into_.segments.push_back(std::move(made));
    }

    transcript& into_;
    bool diarized_;
    speakers speakers_;
};

}  // namespace

result<transcript> transcript_of_turns(const heard& from, const wish& wanted) {
    transcript made;
    made.text = ascii::trimmed(from.text());
    collector into(made, wanted.class_of_detail == detail::diarized);
    bool timed = !from.turns().empty() || made.text.empty();
    for (const turn& each : from.turns()) timed = into.add(each) && timed;
    if (timed) return made;
    // A text without times can still stand for the whole of a recording whose length is known.
    if (!wanted.audio_seconds || wanted.class_of_detail == detail::diarized)
        return error(errc::upstream_error, "The upstream gave no times.").with_remedy(remedy::elsewhere);
    made.segments.clear();
    made.words.clear();
    turn whole;
    whole.text = made.text;
    whole.start_seconds = 0;
    whole.end_seconds = wanted.audio_seconds;
    into.add(whole);
    return made;
}

}  // namespace hearonce::gemini
