// Next file: gemini_answer.cpp.
#include <bench/upstream/gemini_rules.hpp>

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace hearonce::upstream {

namespace {

namespace json = boost::json;
using refusal = std::optional<answer>;

constexpr std::array<std::string_view, 9> models = {"gemini-3.8-flash",      "gemini-3.6-flash", "gemini-3.5-flash-lite",
                                                    "gemini-4-argon",        "gemini-4-carbon",  "gemini-4-hydrogen",
                                                    "gemini-3.5-transcribe", "gemini-2.5-flash", "gemini-2.5-pro"};

constexpr std::array<std::string_view, 6> general_types = {"audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"};
constexpr std::array<std::string_view, 8> transcriber_types = {"audio/m4a",  "audio/mp4",  "audio/opus", "audio/amr",
                                                               "audio/webm", "audio/mpeg", "audio/pcm",  "audio/x-aac"};

constexpr std::array<std::string_view, 20> config_names = {"temperature",
                                                           "topP",
                                                           "topK",
                                                           "candidateCount",
                                                           "maxOutputTokens",
                                                           "stopSequences",
                                                           "responseLogprobs",
                                                           "logprobs",
                                                           "presencePenalty",
                                                           "frequencyPenalty",
                                                           "seed",
                                                           "responseMimeType",
                                                           "responseSchema",
                                                           "responseJsonSchema",
                                                           "responseModalities",
                                                           "mediaResolution",
                                                           "speechConfig",
                                                           "thinkingConfig",
                                                           "imageConfig",
                                                           "audioTranscriptionConfig"};

refusal invalid(std::string_view message) {
    return gemini_refusal(400, "INVALID_ARGUMENT", message);
}

// "mime_type" for "mimeType": both are taken.
std::string snake_of(std::string_view camel) {
    std::string made;
    for (const char c : camel) {
        if (c >= 'A' && c <= 'Z') {
            made += '_';
            made += static_cast<char>(c + 32);
        } else {
            made += c;
        }
    }
    return made;
}

const json::value* member(const json::object& of, std::string_view camel) {
    if (const auto* found = of.if_contains(camel)) return found;
    return of.if_contains(snake_of(camel));
}

const json::object* object_member(const json::object& of, std::string_view camel) {
    const auto* found = member(of, camel);
    return found != nullptr ? found->if_object() : nullptr;
}

std::string_view text_member(const json::object& of, std::string_view camel) {
    const auto* found = member(of, camel);
    return found != nullptr && found->is_string() ? std::string_view(found->get_string()) : std::string_view();
}

bool flag_member(const json::object& of, std::string_view camel) {
    const auto* found = member(of, camel);
    return found != nullptr && found->is_bool() && found->get_bool();
}

bool is_known(const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

refusal take_inline(const json::object& data, gemini_asked& asked) {
    const auto type = text_member(data, "mimeType");
    const bool taken = is_known(general_types, type) || (asked.transcriber && is_known(transcriber_types, type));
    const auto bytes = decode_base64(text_member(data, "data"));
    if (bytes && !asked.file) asked.file = received_file{"inlineData", {}, std::string(type), bytes->bytes, bytes->sha256};
    if (!taken) return invalid("Unsupported MIME type: " + std::string(type));
    if (!bytes) return invalid("Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed");
    if (bytes->bytes == 0) return invalid("Unable to submit request because it has an empty inlineData parameter in a Part.");
    return {};
}

refusal take_part(const json::value& value, gemini_asked& asked) {
    const auto* part = value.if_object();
    if (part == nullptr) return invalid("Invalid value at 'contents[0].parts'");
    if (const auto* data = object_member(*part, "inlineData")) return take_inline(*data, asked);
    if (const auto* file = object_member(*part, "fileData"))
        return gemini_refusal(
            403, "PERMISSION_DENIED",
            "You do not have permission to access the File " + std::string(text_member(*file, "fileUri")) + " or it may not exist.");
    if (!asked.prompt.empty()) asked.prompt += '\n';
    asked.prompt += text_member(*part, "text");
    return {};
}

refusal take_contents(const json::object& body, gemini_asked& asked) {
    const auto* contents = member(body, "contents");
    const auto* list = contents != nullptr ? contents->if_array() : nullptr;
    if (list == nullptr || list->empty()) return invalid("* GenerateContentRequest.contents: contents is not specified");
    refusal first;
    for (const auto& one : *list) {
        const auto* content = one.if_object();
        const auto* parts = content != nullptr ? member(*content, "parts") : nullptr;
        if (parts == nullptr || !parts->is_array()) return invalid("* GenerateContentRequest.contents.parts: parts is not specified");
        for (const auto& part : parts->get_array()) {
            auto wrong = take_part(part, asked);
            if (wrong && !first) first = std::move(wrong);
        }
    }
    return first;
}

refusal take_transcription(const json::object& config, gemini_asked& asked) {
    asked.word_times = flag_member(config, "wordTimestamp");
    asked.diarized = flag_member(config, "diarization");
    const auto* codes = member(config, "languageCodes");
    if (codes != nullptr && codes->is_array() && !codes->get_array().empty() && codes->get_array().front().is_string())
        asked.language = codes->get_array().front().get_string();
    const auto* words = member(config, "customVocabulary");
    const auto vocabulary = words != nullptr && words->is_array() ? words->get_array().size() : 0;
    const bool smart = text_member(config, "mode") == "SMART";
    if (vocabulary > 1000) return invalid("custom_vocabulary must have at most 1000 entries.");
    if ((vocabulary > 0 || smart) && (asked.word_times || asked.diarized))
        return invalid("custom_vocabulary and SMART mode are not supported with word_timestamp or diarization.");
    return {};
}

refusal take_config(const json::object& body, gemini_asked& asked) {
    const auto* config = object_member(body, "generationConfig");
    if (config == nullptr) return {};
    asked.config = json::serialize(*config);
    for (const auto& [name, value] : *config) {
        const bool known = std::ranges::any_of(config_names, [&](std::string_view one) { return name == one || name == snake_of(one); });
        if (!known)
            return invalid("Invalid JSON payload received. Unknown name \"" + std::string(name) +
                           "\" at 'generation_config': Cannot find field.");
    }
    asked.json = text_member(*config, "responseMimeType") == "application/json";
    for (const auto* name : {"responseSchema", "responseJsonSchema"}) {
        if (const auto* schema = member(*config, name)) asked.schema = json::serialize(*schema);
    }
    if (!asked.schema.empty() && !asked.json)
        return invalid("Function calling config or response schema needs response_mime_type application/json.");
    const auto* hearing = object_member(*config, "audioTranscriptionConfig");
    // The general models ignore it without a word.
    return asked.transcriber && hearing != nullptr ? take_transcription(*hearing, asked) : refusal();
}

refusal check(const json::object& body, bool any_model, gemini_asked& asked) {
    auto wrong = take_contents(body, asked);
    auto misfit = take_config(body, asked);
    if (!any_model && !gemini_model_known(asked.model))
        return gemini_refusal(404, "NOT_FOUND",
                              "models/" + asked.model +
                                  " is not found for API version v1beta, or is not supported for generateContent. Call "
                                  "ListModels to see the list of available models and their supported methods.");
    if (asked.transcriber && member(body, "systemInstruction") != nullptr)
        return invalid("Developer instruction is not enabled for models/" + asked.model);
    return wrong ? std::move(wrong) : std::move(misfit);
}

}  // namespace

std::span<const std::string_view> gemini_models_known() noexcept {
    return models;
}

bool gemini_model_known(std::string_view id) noexcept {
    return is_known(models, id);
}

gemini_checked check_gemini(std::string_view body, const route& to, bool any_model) {
    gemini_checked made;
    made.asked.model = to.model;
    made.asked.transcriber = to.model.starts_with("gemini-3.5-transcribe");
    boost::system::error_code failed;
    const auto value = json::parse(body, failed);
    if (failed || !value.is_object()) {
        made.refusal = invalid("Invalid JSON payload received. Unexpected token.");
        return made;
    }
    made.refusal = check(value.get_object(), any_model, made.asked);
    return made;
}

}  // namespace hearonce::upstream
