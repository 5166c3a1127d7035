// Normalises what servers answer. Next file: events.cpp (the same for streams).
#include <backends/openai/answer.hpp>
#include <backends/openai/json_reading.hpp>
#include <backends/openai/languages.hpp>
#include <hearonce/ascii.hpp>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <utility>

namespace hearonce::openai {
namespace {

namespace json = boost::json;

const json::array* list_of(const json::object& from, std::string_view name) noexcept {
    const json::value* found = member(from, name);
    return found == nullptr ? nullptr : found->if_array();
}

template <class Visit>
void each_object(const json::array* list, Visit visit) {
    if (list == nullptr) return;
    for (const json::value& each : *list) {
        if (const json::object* one = each.if_object()) visit(*one);
    }
}

// whisper.cpp's server ends each segment with a line feed, in the middle of words too, and keeps the blank a segment begins
// with: without the line feeds the text is whole again. Behind a proxy that hides its name the blanks give it away.
std::string joined_lines(std::string_view text, bool whisper_server) {
    bool lines = whisper_server;
    if (!lines && text.ends_with('\n')) {
        lines = true;
        for (std::size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1)) lines = lines && text[at + 1] == ' ';
    }
    std::string out(text);
    if (lines) std::erase(out, '\n');
    return out;
}

double duration_of(const json::object& from, const answer_terms& terms) {
    if (const double said = number_of(from, "duration"); said > 0) return said;
    const json::value* usage = member(from, "usage");
    if (usage != nullptr && usage->is_object()) {
        if (const double billed = number_of(usage->get_object(), "seconds"); billed > 0) return billed;
    }
    return terms.recording_seconds;
}

// whisper.cpp gives tokens (and the times of its aligner, `t_dtw`): a word begins where a blank does.
void append_word(std::vector<word_time>& words, word_time one, bool continues) {
    if (continues && !words.empty() && !one.word.starts_with(' ')) {
        words.back().word += one.word;
        words.back().end_seconds = one.end_seconds;
        return;
    }
    one.word = ascii::trimmed(one.word);
    if (!one.word.empty()) words.push_back(std::move(one));
}

void take_words(transcript& made, const json::object& from) {
    if (const json::array* words = list_of(from, "words")) {
        each_object(words, [&made](const json::object& one) { append_word(made.words, word_of(one), false); });
        return;
    }
    const bool spaces = !written_without_spaces(made.language);
    each_object(list_of(from, "segments"), [&made, spaces](const json::object& part) {
        each_object(list_of(part, "words"),
                    [&made, spaces](const json::object& one) { append_word(made.words, word_of(one), spaces && one.contains("t_dtw")); });
    });
}

// Segments begin with a space where words have spaces between them. A server of which one does knows the rule, and the
// others of its segments go on in the middle of a word.
void begin_with_spaces(std::vector<segment>& segments) {
    for (const segment& one : segments) {
        if (one.text.starts_with(' ')) return;
    }
    for (segment& one : segments) {
        if (!one.text.empty()) one.text.insert(0, 1, ' ');
    }
}

void take_segments(transcript& made, const json::object& from, bool turns) {
    each_object(list_of(from, "segments"), [&made](const json::object& one) {
        segment part = segment_of(one, static_cast<std::int64_t>(made.segments.size()));
        while (part.text.ends_with('\n')) part.text.pop_back();
        made.segments.push_back(std::move(part));
    });
    if (!turns && !written_without_spaces(made.language)) begin_with_spaces(made.segments);
}

}  // namespace

transcript transcript_of(const json::object& from, std::string text, const answer_terms& terms) {
    transcript made;
    made.text = std::move(text);
    made.language = language_name(text_of(from, "language"));
    made.duration_seconds = duration_of(from, terms);
    if (terms.detail == detail::plain) return made;
    take_segments(made, from, terms.detail == detail::diarized);
    if (terms.detail == detail::timed) take_words(made, from);
    return made;
}

result<transcript> parse_response(std::string_view body, const answer_terms& terms) {
    const auto parsed = parse_object(body);
    const json::value* text = parsed ? member(*parsed, "text") : nullptr;
    if (text == nullptr || !text->is_string()) {
        // The work may have been done: doing it again is not for a program to decide.
        return error(errc::upstream_error, "The backend's answer is not a transcript.").with_remedy(remedy::none);
    }
    const std::string whole = joined_lines(text_of(*parsed, "text"), terms.whisper_server);
    transcript made = transcript_of(*parsed, std::string(ascii::trimmed(whole)), terms);
    made.more = kept_members(body);
    return made;
}

}  // namespace hearonce::openai
