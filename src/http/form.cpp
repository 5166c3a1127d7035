// Reads the fields of a transcription form.
//
// Holds: form. Next file: upload.cpp.
#include <http/form.hpp>
#include <http/utf8.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace hearonce::http {
namespace {

error invalid(std::string message, std::string_view param) {
    return error(errc::invalid_parameter, std::move(message), std::string(param));
}

std::optional<response_format> format_of(std::string_view text) noexcept {
    constexpr std::array<std::pair<std::string_view, response_format>, 6> formats{{{"json", response_format::json},
                                                                                   {"text", response_format::text},
                                                                                   {"srt", response_format::srt},
                                                                                   {"verbose_json", response_format::verbose_json},
                                                                                   {"vtt", response_format::vtt},
                                                                                   {"diarized_json", response_format::diarized_json}}};
    for (const auto& [name, format] : formats) {
        if (text == name) return format;
    }
    return std::nullopt;
}

result<void> read_format(const std::string& value, transcription_request& request) {
    const auto format = format_of(value);
    // A translation is never told by speakers (openapi: CreateTranslationRequest).
    if (!format || (request.task == task::translate && *format == response_format::diarized_json)) {
        const std::string_view speakers = request.task == task::translate ? "" : ", 'diarized_json'";
        std::string accepted = "'json', 'text', 'srt', 'verbose_json', 'vtt'";
        accepted += speakers;
        return error(errc::unsupported_value, "response_format is not supported. Use one of " + accepted + ".", "response_format");
    }
    request.format = *format;
    return {};
}

result<void> read_stream(const std::string& value, transcription_request& request) {
    // Python's str(True) is in the field as well.
    const bool yes = value == "1" || value == "true" || value == "True";
    const bool no = value == "0" || value == "false" || value == "False";
    if (!yes && !no) return invalid("stream must be 'true' or 'false'.", "stream");
    request.stream = yes;
    return {};
}

result<void> read_temperature(const std::string& value, transcription_request& request) {
    double number = 0;
    const char* end = value.data() + value.size();
    const auto [stop, failure] = std::from_chars(value.data(), end, number);
    // Written so that "nan" is refused.
    if (failure != std::errc() || stop != end || !(number >= 0 && number <= 1))
        return invalid("temperature must be a number between 0 and 1.", "temperature");
    request.temperature = number;
    return {};
}

result<void> read_granularity(const std::string& name, const std::string& value, bool& words, bool& segments) {
    if (value == "word")
        words = true;
    else if (value == "segment")
        segments = true;
    else
        return invalid("timestamp_granularities must be 'word' or 'segment'.", name);
    return {};
}

bool is_granularity(std::string_view name) noexcept {
    return name == "timestamp_granularities[]" || name == "timestamp_granularities";
}

// Fields that become members; the value is not empty.
result<void> read_known(const form_field& field, transcription_request& request, bool& words, bool& segments) {
    const std::string& name = field.name;
    if (name == "response_format") return read_format(field.value, request);
    if (name == "stream") return read_stream(field.value, request);
    if (name == "temperature") return read_temperature(field.value, request);
    if (is_granularity(name)) return read_granularity(name, field.value, words, segments);
    const bool is_text = name == "model" || name == "language" || name == "prompt";
    if (is_text && !valid_utf8(field.value)) return invalid(name + " is not valid UTF-8.", name);
    if (name == "model") {
        if (field.value.size() > model_bytes_max || !printable_utf8(field.value))
            return invalid("model is too long or holds control characters.", name);
        request.model = field.value;
    } else if (name == "language") {
        request.language = field.value;
    } else if (name == "prompt") {
        request.prompt = field.value;
    }
    return {};
}

bool is_forwarded(std::string_view name) noexcept {
    return name != "model" && name != "response_format" && name != "stream";
}

}  // namespace

bool takes_many_values(std::string_view name) noexcept {
    constexpr std::string_view lists[] = {"timestamp_granularities", "include", "languages", "keywords", "known_speaker_names",
                                          "known_speaker_references"};
    return name.ends_with("[]") || std::find(std::begin(lists), std::end(lists), name) != std::end(lists);
}

result<void> form::add(std::string name, std::string value) {
    if (name.empty() || !printable_utf8(name)) return error(errc::invalid_parameter, "A field's name is not valid UTF-8 text.");
    fields_.push_back({std::move(name), std::move(value)});
    return {};
}

result<void> form::check_repeats() const {
    std::vector<std::string_view> names;
    names.reserve(fields_.size());
    for (const form_field& field : fields_) {
        if (!takes_many_values(field.name)) names.push_back(field.name);
    }
    // Sorted, so that a form of many fields costs no more than it is long.
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return {};
    const std::string name(*twice);
    return error(errc::duplicate_parameter, "'" + name + "' was sent more than once.", name);
}

result<transcription_request> form::finish() && {
    if (auto checked = check_repeats(); !checked) return checked.error();
    transcription_request request;
    request.task = task_;
    bool words = false;
    bool segments = false;
    std::erase_if(fields_, [](const form_field& field) { return field.value.empty(); });
    for (const form_field& field : fields_) {
        if (auto read = read_known(field, request, words, segments); !read) return read.error();
    }
    // Clients send granularities together with json, which has no times: they stay fields, and so part of the key, and mean
    // nothing. What the engine is asked for then depends on the keyed fields and the class of detail alone.
    if (detail_of(request.format) == detail::timed && (words || segments)) {
        request.word_times = words;
        request.segment_times = segments;
    }
    std::erase_if(fields_, [](const form_field& field) { return !is_forwarded(field.name); });
    request.fields = std::move(fields_);
    return request;
}

}  // namespace hearonce::http
