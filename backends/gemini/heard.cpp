// Next file: transcript_of.cpp.
#include <backends/gemini/heard.hpp>
#include <backends/gemini/language.hpp>
#include <observe/json_text.hpp>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hearonce::gemini {
namespace json = boost::json;
namespace {

constexpr double offset_seconds_max = 1e6;  // Beyond any recording; keeps what is made of it in range.
constexpr std::int64_t tokens_max = 1'000'000'000'000;

bool space(char c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool blank(std::string_view text) noexcept {
    return std::ranges::all_of(text, space);
}

std::int64_t count_in(const json::object& from, std::string_view name) noexcept {
    const json::value* found = from.if_contains(name);
    if (found == nullptr) return 0;
    const std::int64_t count = found->is_int64() ? found->get_int64() : 0;
    return std::clamp<std::int64_t>(count, 0, tokens_max);
}

bool is_thought(const json::object& part) noexcept {
    const json::value* mark = part.if_contains("thought");
    return mark != nullptr && mark->is_bool() && mark->get_bool();
}

timed_word word_of(const json::object& given) {
    timed_word made;
    made.text = text_in(given, "word");
    made.speaker = text_in(given, "speakerLabel");
    made.start_seconds = offset_of(given.if_contains("startOffset")).value_or(0);
    made.end_seconds = std::max(made.start_seconds, offset_of(given.if_contains("endOffset")).value_or(made.start_seconds));
    return made;
}

std::string joined(const std::vector<timed_word>& words, bool spaced) {
    std::string out;
    for (const timed_word& each : words) {
        if (spaced && !out.empty()) out += ' ';
        out += each.text;
    }
    return out;
}

// `text`: the part's own, which stands for the transcription's where that has none.
turn turn_of(const json::object& given, std::string_view text) {
    turn made;
    made.speaker = text_in(given, "speakerLabel");
    made.language = text_in(given, "languageCode");
    if (const json::array* words = array_in(given, "words")) {
        for (const json::value& each : *words) {
            if (!each.is_object()) continue;
            timed_word word = word_of(each.get_object());
            if (!blank(word.text)) made.words.push_back(std::move(word));
        }
    }
    made.text = blank(text) ? text_in(given, "text") : text;
    if (blank(made.text)) made.text = joined(made.words, !written_without_spaces(made.language));
    made.start_seconds = offset_of(given.if_contains("startOffset"));
    made.end_seconds = offset_of(given.if_contains("endOffset"));
    if (!made.start_seconds && !made.words.empty()) made.start_seconds = made.words.front().start_seconds;
    if (!made.end_seconds && !made.words.empty()) made.end_seconds = made.words.back().end_seconds;
    if (made.start_seconds) made.end_seconds = std::max(*made.start_seconds, made.end_seconds.value_or(*made.start_seconds));
    return made;
}

}  // namespace

std::optional<double> offset_of(const json::value* value) noexcept {
    double seconds = -1;
    if (value == nullptr) return std::nullopt;
    if (value->is_number()) {
        seconds = value->is_double() ? value->get_double() : value->is_int64() ? static_cast<double>(value->get_int64()) : -1;
    } else if (value->is_string()) {
        const std::string_view text = value->get_string();
        const char* const last = text.data() + text.size();
        const auto [end, failed] = std::from_chars(text.data(), last, seconds);
        if (failed != std::errc() || (end != last && (*end != 's' || end + 1 != last))) return std::nullopt;
    }
    if (!std::isfinite(seconds) || seconds < 0) return std::nullopt;
    return std::min(seconds, offset_seconds_max);
}

const json::object* object_in(const json::object& from, std::string_view name) noexcept {
    const json::value* found = from.if_contains(name);
    return found != nullptr ? found->if_object() : nullptr;
}

const json::array* array_in(const json::object& from, std::string_view name) noexcept {
    const json::value* found = from.if_contains(name);
    return found != nullptr ? found->if_array() : nullptr;
}

std::string_view text_in(const json::object& from, std::string_view name) noexcept {
    const json::value* found = from.if_contains(name);
    const json::string* text = found != nullptr ? found->if_string() : nullptr;
    return text != nullptr ? std::string_view(*text) : std::string_view();
}

std::string reason_word(std::string_view given) {
    const auto plain = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    const bool known = !given.empty() && given.size() <= 40 && std::ranges::all_of(given, plain);
    return known ? std::string(given) : "an unknown reason";
}

result<std::string> heard::take(const json::object& answer) {
    if (const json::object* usage = object_in(answer, "usageMetadata")) usage_ = counts_of(*usage);
    if (const json::object* feedback = object_in(answer, "promptFeedback")) {
        const std::string_view blocked = text_in(*feedback, "blockReason");
        if (!blocked.empty())
            return error(errc::upstream_error, "The upstream refused the recording: " + reason_word(blocked) + ".")
                .with_remedy(remedy::elsewhere);
    }
    const json::array* candidates = array_in(answer, "candidates");
    if (candidates == nullptr || candidates->empty() || !candidates->front().is_object()) return std::string();
    any_ = true;
    const json::object& first = candidates->front().get_object();
    if (const std::string_view reason = text_in(first, "finishReason"); !reason.empty()) reason_ = reason;
    const json::object* content = object_in(first, "content");
    const json::array* parts = content != nullptr ? array_in(*content, "parts") : nullptr;
    return parts != nullptr ? take_parts(*parts) : std::string();
}

std::string heard::take_parts(const json::array& parts) {
    std::string by_text;
    std::string by_speech;
    for (const json::value& each : parts) {
        const json::object* part = each.if_object();
        if (part == nullptr || is_thought(*part)) continue;
        const std::string_view text = text_in(*part, "text");
        const json::object* spoken = object_in(*part, "audioTranscription");
        if (spoken != nullptr) {
            turns_.push_back(turn_of(*spoken, text));
            append(by_speech, turns_.back().text, true);
        }
        append(by_text, text, spoken != nullptr || (transcriber_ && !by_text.empty()));
    }
    if (source_ == source::unknown && !blank(by_text)) source_ = source::text;
    if (source_ == source::unknown && !blank(by_speech)) source_ = source::speech;
    std::string& fresh = source_ == source::speech ? by_speech : by_text;
    text_ += fresh;
    return std::move(fresh);
}

void heard::append(std::string& fresh, std::string_view piece, bool apart) {
    const char before = !fresh.empty() ? fresh.back() : !text_.empty() ? text_.back() : ' ';
    if (apart && !piece.empty() && !space(before) && !space(piece.front())) fresh += ' ';
    fresh += piece;
}

result<void> heard::end(bool streamed) const {
    const auto failed = [](std::string why) { return error(errc::upstream_error, std::move(why)).with_remedy(remedy::elsewhere); };
    // What broke off may have been done: doing it again is not for a program to decide.
    if (reason_.empty() && streamed) return failed("The upstream's answer ended before the transcript did.").with_remedy(remedy::none);
    if (!any_) return failed("The upstream answered without a transcript.");
    if (reason_.empty() || reason_ == "STOP") return {};
    if (reason_ == "MAX_TOKENS") return failed("The upstream cut the transcript off at its length limit.");
    return failed("The upstream did not finish the transcript: " + reason_word(reason_) + ".");
}

heard::token_counts heard::counts_of(const json::object& usage) {
    token_counts made;
    made.input = count_in(usage, "promptTokenCount");
    // What a model thinks is billed as output.
    made.output = count_in(usage, "candidatesTokenCount") + count_in(usage, "thoughtsTokenCount");
    made.total = count_in(usage, "totalTokenCount");
    if (made.total == 0) made.total = made.input + made.output;
    if (const json::array* details = array_in(usage, "promptTokensDetails")) {
        for (const json::value& each : *details) {
            if (!each.is_object()) continue;
            const std::int64_t count = count_in(each.get_object(), "tokenCount");
            if (text_in(each.get_object(), "modality") == "AUDIO") made.audio += count;
            if (text_in(each.get_object(), "modality") == "TEXT") made.text += count;
        }
    }
    return made;
}

std::string heard::usage_json() const {
    std::string out;
    if (!usage_) return out;
    out = R"({"type":"tokens","input_tokens":)";
    observe::append_integer(out, usage_->input);
    out += R"(,"input_token_details":{"text_tokens":)";
    observe::append_integer(out, usage_->text);
    out += R"(,"audio_tokens":)";
    observe::append_integer(out, usage_->audio);
    out += R"(},"output_tokens":)";
    observe::append_integer(out, usage_->output);
    out += R"(,"total_tokens":)";
    observe::append_integer(out, usage_->total);
    out += '}';
    return out;
}

}  // namespace hearonce::gemini
