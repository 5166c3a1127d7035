// Next file: openai_answer.cpp.
#include <bench/upstream/openai_rules.hpp>
#include <hearonce/ascii.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace hearonce::upstream {

namespace {

using format = response_format;
using refusal = std::optional<answer>;

constexpr std::array<std::pair<std::string_view, model_kind>, 8> models = {{{"whisper-1", model_kind::whisper},
                                                                            {"whisper-large-v3", model_kind::whisper},
                                                                            {"whisper-large-v3-turbo", model_kind::whisper},
                                                                            {"gpt-4o-transcribe", model_kind::gpt4o},
                                                                            {"gpt-4o-mini-transcribe", model_kind::gpt4o},
                                                                            {"gpt-4o-mini-transcribe-2025-12-15", model_kind::gpt4o},
                                                                            {"gpt-4o-transcribe-diarize", model_kind::diarize},
                                                                            {"gpt-transcribe", model_kind::transcribe}}};

constexpr std::array<std::pair<std::string_view, format>, 6> formats = {{{"json", format::json},
                                                                         {"text", format::text},
                                                                         {"srt", format::srt},
                                                                         {"verbose_json", format::verbose_json},
                                                                         {"vtt", format::vtt},
                                                                         {"diarized_json", format::diarized_json}}};

constexpr std::array<std::string_view, 10> extensions = {"flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm"};

bool takes(model_kind kind, const std::string& model, format wanted) {
    const bool plain = wanted == format::json || wanted == format::text;
    switch (kind) {
        case model_kind::diarize: return plain || wanted == format::diarized_json;
        case model_kind::gpt4o:
        case model_kind::transcribe: return plain;
        case model_kind::whisper:
        case model_kind::unknown: break;
    }
    if (model.starts_with("whisper-large-v3")) return plain || wanted == format::verbose_json;
    return wanted != format::diarized_json;
}

refusal wrong(std::string_view message, std::string_view param = {}, std::string_view code = {}) {
    return openai_refusal(400, message, "invalid_request_error", param, code);
}

refusal check_file(const form_reader& form, openai_asked& asked) {
    const auto& files = form.files();
    const auto found = std::ranges::find(files, "file", &received_file::field);
    if (found == files.end()) return wrong("You must provide a 'file' in the form.", "file");
    asked.file = *found;
    const auto& name = asked.file.name;
    const auto dot = name.rfind('.');
    const auto ending = ascii::lowered(dot == std::string::npos ? std::string() : name.substr(dot + 1));
    if (std::ranges::find(extensions, ending) == extensions.end())
        return wrong("Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'oga', 'ogg', 'wav', 'webm']");
    if (asked.file.bytes == 0) return wrong("Audio file is too short. Minimum audio length is 0.1 seconds.", "file", "audio_too_short");
    return {};
}

refusal check_model(const form_reader& form, const route& to, bool any_model, openai_asked& asked) {
    const auto* named = form.field("model");
    asked.model = !to.model.empty() ? to.model : named ? *named : std::string();
    if (asked.model.empty()) return wrong("you must provide a model parameter", "model");
    asked.kind = kind_of_model(asked.model);
    if (asked.kind == model_kind::unknown && any_model) asked.kind = model_kind::whisper;
    if (asked.kind == model_kind::unknown)
        return openai_refusal(404, "The model `" + asked.model + "` does not exist or you do not have access to it.",
                              "invalid_request_error", {}, "model_not_found");
    if (asked.task == task::translate && asked.kind != model_kind::whisper)
        return wrong("The model `" + asked.model + "` does not support translations.", "model");
    return {};
}

refusal check_format(const form_reader& form, openai_asked& asked) {
    const auto* text = form.field("response_format");
    if (text == nullptr || text->empty()) return {};
    const auto found = std::ranges::find_if(formats, [text](const auto& one) { return one.first == *text; });
    const bool fits = found != formats.end() && takes(asked.kind, asked.model, found->second) &&
                      (asked.task != task::translate || found->second != format::diarized_json);
    // The real one names the model as it is called inside, so nothing may match on it.
    if (!fits)
        return wrong(
            "response_format '" + *text + "' is not compatible with model '" + asked.model + "-api-ev3'. Use 'json' or 'text' instead.",
            "response_format", "unsupported_value");
    asked.format = found->second;
    return {};
}

refusal check_temperature(const form_reader& form) {
    const auto* text = form.field("temperature");
    if (text == nullptr || text->empty()) return {};
    double value = 0;
    const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (failed == std::errc() && end == text->data() + text->size() && value >= 0 && value <= 1) return {};
    return wrong("Invalid value for 'temperature': expected a number between 0 and 1.", "temperature");
}

refusal check_stream(const form_reader& form, openai_asked& asked) {
    const auto* text = form.field("stream");
    if (text == nullptr || text->empty()) return {};
    if (*text != "true" && *text != "false") return wrong("Invalid type for 'stream': expected a boolean.", "stream");
    asked.stream = *text == "true" && asked.kind != model_kind::whisper && asked.task == task::transcribe;
    return {};
}

refusal check_granularities(const form_reader& form, openai_asked& asked) {
    bool words = false;
    bool segments = false;
    for (const auto& [name, value] : form.fields()) {
        if (name != "timestamp_granularities[]") continue;
        if (asked.kind == model_kind::diarize)
            return wrong("timestamp_granularities is not supported by this model.", "timestamp_granularities");
        words = words || value == "word";
        segments = segments || value == "segment";
        if (value != "word" && value != "segment")
            return wrong("Invalid value: '" + value + "'. Supported values are: 'word' and 'segment'.", "timestamp_granularities");
    }
    // With another format than verbose_json they are ignored: the AI SDK sends them with json.
    asked.words = words;
    asked.segments = segments || !words;
    return {};
}

refusal check_include(const form_reader& form, openai_asked& asked) {
    for (const auto& [name, value] : form.fields()) {
        if (name != "include[]") continue;
        if (value != "logprobs") return wrong("Invalid value: '" + value + "'. Supported values are: 'logprobs'.", "include");
        if (asked.kind != model_kind::gpt4o || asked.format != format::json)
            return wrong("logprobs are only available with response_format json and this model does not return them.", "include");
        asked.logprobs = true;
    }
    return {};
}

bool is_keyword(std::string_view text) {
    return !text.empty() && text.find_first_of("<>\r\n") == std::string_view::npos;
}

refusal check_lists(const form_reader& form, openai_asked& asked) {
    std::size_t speakers = 0;
    asked.languages = asked.kind == model_kind::transcribe;
    for (const auto& [name, value] : form.fields()) {
        if (name == "language") asked.language = value;
        if (name == "languages[]" || name == "keywords[]") {
            if (asked.kind != model_kind::transcribe) return wrong(name + " is not supported by this model.", name);
            if (name == "keywords[]" && !is_keyword(value)) return wrong("A keyword must be one line without '<' or '>'.", name);
            if (name == "languages[]" && form.field("language")) return wrong("Use either language or languages.", name);
        }
        if (name == "prompt" && asked.kind == model_kind::diarize && !value.empty())
            return wrong("Prompt is not supported for diarization models.", "prompt");
        if (name == "known_speaker_names[]") ++speakers;
    }
    if (speakers > 4) return wrong("At most 4 known speakers are supported.", "known_speaker_names");
    return {};
}

}  // namespace

model_kind kind_of_model(std::string_view model) noexcept {
    const auto found = std::ranges::find_if(models, [model](const auto& one) { return one.first == model; });
    return found == models.end() ? model_kind::unknown : found->second;
}

answer openai_too_large(std::uint64_t bytes) {
    return openai_refusal(413, "Maximum content size limit (26214400) exceeded (" + std::to_string(bytes) + " bytes read)", "server_error");
}

openai_checked check_openai(const form_reader& form, const route& to, bool any_model) {
    openai_checked made;
    auto& asked = made.asked;
    asked.task = to.what == ask::translation ? task::translate : task::transcribe;
    made.refusal = check_model(form, to, any_model, asked);
    if (!made.refusal) made.refusal = check_format(form, asked);
    if (!made.refusal) made.refusal = check_temperature(form);
    if (!made.refusal) made.refusal = check_stream(form, asked);
    if (!made.refusal) made.refusal = check_granularities(form, asked);
    if (!made.refusal) made.refusal = check_include(form, asked);
    if (!made.refusal) made.refusal = check_lists(form, asked);
    if (!made.refusal) made.refusal = check_file(form, asked);
    return made;
}

}  // namespace hearonce::upstream
