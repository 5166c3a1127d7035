// Tolerant reading. Next file: kept_members.cpp, then answer.cpp.
#include <backends/openai/json_reading.hpp>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <charconv>
#include <cmath>

namespace hearonce::openai {

namespace json = boost::json;

std::optional<json::object> parse_object(std::string_view text) {
    json::parse_options strict;
    strict.max_depth = json_depth_max;
    json::error_code ec;
    json::value parsed = json::parse(text, ec, {}, strict);
    if (ec || !parsed.is_object()) return std::nullopt;
    return std::move(parsed.get_object());
}

const json::value* member(const json::object& from, std::string_view name) noexcept {
    const json::value* found = from.if_contains(name);
    return found == nullptr || found->is_null() ? nullptr : found;
}

std::string_view text_of(const json::object& from, std::string_view name) noexcept {
    const json::value* found = from.if_contains(name);
    const json::string* text = found == nullptr ? nullptr : found->if_string();
    return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

std::optional<double> number_of(const json::value& from) noexcept {
    double number = 0;
    if (const auto* whole = from.if_int64()) {
        number = static_cast<double>(*whole);
    } else if (const auto* large = from.if_uint64()) {
        number = static_cast<double>(*large);
    } else if (const auto* real = from.if_double()) {
        number = *real;
    } else if (const auto* text = from.if_string()) {
        const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), number);
        if (failure != std::errc() || end != text->data() + text->size()) return std::nullopt;
    } else {
        return std::nullopt;
    }
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

double number_of(const json::object& from, std::string_view name) noexcept {
    const json::value* found = from.if_contains(name);
    return found == nullptr ? 0 : number_of(*found).value_or(0);
}

namespace {
std::int64_t whole(double number) noexcept {
    // Doubles hold whole numbers up to here, and a larger id or token is none.
    constexpr double most = 9007199254740992.0;
    return std::abs(number) <= most ? static_cast<std::int64_t>(number) : 0;
}
}  // namespace

std::int64_t integer_of(const json::object& from, std::string_view name) noexcept {
    return whole(number_of(from, name));
}

segment segment_of(const json::object& from, std::int64_t number) {
    segment made;
    const json::value* id = member(from, "id");
    // Speakers' turns have names like "seg_001".
    const auto numbered = id == nullptr ? std::nullopt : number_of(*id);
    made.id = numbered ? whole(*numbered) : number;
    made.seek = integer_of(from, "seek");
    made.start_seconds = number_of(from, "start");
    made.end_seconds = number_of(from, "end");
    made.text = text_of(from, "text");
    if (const json::value* tokens = member(from, "tokens"); tokens != nullptr && tokens->is_array()) {
        made.tokens.reserve(tokens->get_array().size());
        for (const json::value& each : tokens->get_array()) {
            if (const auto token = number_of(each)) made.tokens.push_back(whole(*token));
        }
    }
    made.temperature = number_of(from, "temperature");
    made.avg_logprob = number_of(from, "avg_logprob");
    made.compression_ratio = number_of(from, "compression_ratio");
    made.no_speech_prob = number_of(from, "no_speech_prob");
    made.speaker = text_of(from, "speaker");
    return made;
}

word_time word_of(const json::object& from) {
    word_time made;
    made.word = text_of(from, "word");
    // LocalAI
    if (made.word.empty()) made.word = text_of(from, "text");
    made.start_seconds = number_of(from, "start");
    made.end_seconds = number_of(from, "end");
    return made;
}

}  // namespace hearonce::openai
