// A general model's JSON: read strictly as JSON, leniently as times. Next file: failure.cpp.
#include <backends/gemini/language.hpp>
#include <backends/gemini/transcript_of.hpp>
#include <hearonce/ascii.hpp>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hearonce::gemini {
namespace json = boost::json;
namespace {

constexpr double seconds_max = 1e6;

// What stands between ```json and ``` where a model wraps its answer as Markdown.
std::string_view unfenced(std::string_view text) noexcept {
    text = ascii::trimmed(text);
    constexpr std::string_view fence = "```";
    if (!text.starts_with(fence)) return text;
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    text = ascii::trimmed(text);
    if (text.ends_with(fence)) text.remove_suffix(fence.size());
    return text;
}

// "SS", "MM:SS", "HH:MM:SS", each with a fraction or an `s` behind it, and plain numbers.
std::optional<double> time_of(const json::value* given) noexcept {
    const json::string* text = given != nullptr ? given->if_string() : nullptr;
    if (text == nullptr || std::string_view(*text).find(':') == std::string_view::npos) return offset_of(given);
    std::string_view left = *text;
    double seconds = 0;
    for (int parts = 0; parts < 3; ++parts) {
        const std::size_t colon = std::min(left.find(':'), left.size());
        const std::string_view part = left.substr(0, colon);
        double value = -1;
        const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (failed != std::errc() || end != part.data() + part.size() || !(value >= 0 && value < seconds_max)) return std::nullopt;
        seconds = seconds * 60 + value;
        if (colon == left.size()) return std::min(seconds, seconds_max);
        left.remove_prefix(colon + 1);
    }
    return std::nullopt;
}

error unreadable() {
    return error(errc::upstream_error, "The upstream's answer cannot be read: its times are missing or cut off.")
        .with_remedy(remedy::elsewhere);
}

// False: a segment lacks what it must have.
bool add(const json::value& given, const wish& wanted, speakers& voices, transcript& into) {
    if (!given.is_object()) return false;
    const json::object& from = given.get_object();
    const json::value* text = from.if_contains("text");
    const auto start = time_of(from.if_contains("start"));
    const auto end = time_of(from.if_contains("end"));
    if (text == nullptr || !text->is_string() || !start) return false;
    const std::string_view said = ascii::trimmed(text->get_string());
    if (said.empty()) return true;
    const double most = wanted.audio_seconds.value_or(seconds_max);
    segment made;
    made.id = static_cast<std::int64_t>(into.segments.size());
    // A model guesses times: never past the recording's end, never backwards.
    const double earliest = into.segments.empty() ? 0 : into.segments.back().start_seconds;
    made.start_seconds = std::max(earliest, std::min(*start, most));
    made.end_seconds = std::max(made.start_seconds, std::min(end.value_or(*start), most));
    made.text = " ";
    made.text += said;
    if (wanted.class_of_detail == detail::diarized) made.speaker = voices.letter_of(ascii::trimmed(text_in(from, "speaker")));
    if (!into.text.empty()) into.text += ' ';
    into.text += said;
    into.segments.push_back(std::move(made));
    return true;
}

}  // namespace

result<transcript> transcript_of_json(std::string_view text, const wish& wanted) {
    transcript made;
    if (ascii::trimmed(text).empty()) return made;
    boost::system::error_code broken;
    const json::value read = json::parse(unfenced(text), broken);
    if (broken) return unreadable();
    const json::object* whole = read.if_object();
    const json::array* segments = whole != nullptr ? array_in(*whole, "segments") : read.if_array();
    if (segments == nullptr) return unreadable();
    if (whole != nullptr) made.language = language_name_of(text_in(*whole, "language"));
    speakers voices;
    for (const json::value& each : *segments) {
        if (!add(each, wanted, voices, made)) return unreadable();
    }
    return made;
}

}  // namespace hearonce::gemini
