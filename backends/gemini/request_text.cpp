// Next file: prompt.cpp.
#include <backends/gemini/language.hpp>
#include <backends/gemini/model.hpp>
#include <backends/gemini/prompt.hpp>
#include <backends/gemini/request_text.hpp>
#include <observe/json_text.hpp>

#include <algorithm>

namespace hearonce::gemini {
namespace {

using observe::append_json_string;

// A comma before all members but the first.
class members {
public:
    explicit members(std::string& out) : out_(out) { out_ += '{'; }
    std::string& add(std::string_view name) {
        if (!std::exchange(first_, false)) out_ += ',';
        append_json_string(out_, name);
        return out_ += ':';
    }
    void close() { out_ += '}'; }

private:
    std::string& out_;
    bool first_ = true;
};

void append_texts(std::string& out, const std::vector<std::string>& texts) {
    out += '[';
    for (const std::string& each : texts) {
        if (out.back() != '[') out += ',';
        append_json_string(out, each);
    }
    out += ']';
}

std::vector<std::string> languages_of(const transcription_request& request) {
    std::vector<std::string> codes;
    const auto add = [&codes](std::string_view written) {
        std::string code = language_code_of(written);
        if (!code.empty() && std::ranges::find(codes, code) == codes.end()) codes.push_back(std::move(code));
    };
    if (!request.language.empty()) add(request.language);
    for (const std::string_view each : values_of(request, "languages")) add(each);
    return codes;
}

// A transcriber takes its own settings and nothing else; developer's instructions it refuses.
void append_transcriber_settings(std::string& out, const transcription_request& request) {
    const detail wanted = detail_of(request.format);
    out += R"("audioTranscriptionConfig":)";
    members config(out);
    if (const auto codes = languages_of(request); !codes.empty()) append_texts(config.add("languageCodes"), codes);
    if (wanted != detail::plain) config.add("wordTimestamp") += "true";
    if (wanted == detail::diarized) config.add("diarization") += "true";
    // Refused together with times and speakers.
    const auto keywords = values_of(request, "keywords");
    if (wanted == detail::plain && !keywords.empty()) {
        const std::vector<std::string> vocabulary(
            keywords.begin(), keywords.begin() + static_cast<std::ptrdiff_t>(std::min(keywords.size(), vocabulary_max)));
        append_texts(config.add("customVocabulary"), vocabulary);
    }
    config.close();
}

void append_thinking(members& config, std::string_view model) {
    switch (thinking_of(model)) {
        case thinking::level_low: config.add("thinkingConfig") += R"({"thinkingLevel":"LOW"})"; break;
        case thinking::budget_none: config.add("thinkingConfig") += R"({"thinkingBudget":0})"; break;
        case thinking::budget_least: config.add("thinkingConfig") += R"({"thinkingBudget":128})"; break;
        case thinking::not_at_all: break;
    }
}

constexpr std::string_view segment_schema =
    R"({"type":"OBJECT","properties":{"language":{"type":"STRING"},"segments":{"type":"ARRAY","items":{"type":"OBJECT",)"
    R"("properties":{"start":{"type":"STRING"},"end":{"type":"STRING"},"text":{"type":"STRING"}},)"
    R"("required":["start","end","text"],"propertyOrdering":["start","end","text"]}}},)"
    R"("required":["language","segments"],"propertyOrdering":["language","segments"]})";
constexpr std::string_view turn_schema =
    R"({"type":"OBJECT","properties":{"language":{"type":"STRING"},"segments":{"type":"ARRAY","items":{"type":"OBJECT",)"
    R"("properties":{"start":{"type":"STRING"},"end":{"type":"STRING"},"speaker":{"type":"STRING"},"text":{"type":"STRING"}},)"
    R"("required":["start","end","speaker","text"],"propertyOrdering":["start","end","speaker","text"]}}},)"
    R"("required":["language","segments"],"propertyOrdering":["language","segments"]})";

void append_general_settings(std::string& out, const transcription_request& request, std::string_view model) {
    members config(out);
    observe::append_json_number(config.add("temperature"), request.temperature);
    if (const auto most = output_tokens_max_of(model); most != 0) observe::append_integer(config.add("maxOutputTokens"), most);
    append_thinking(config, model);
    if (structured(request, model)) {
        config.add("responseMimeType") += R"("application/json")";
        config.add("responseSchema") += detail_of(request.format) == detail::diarized ? turn_schema : segment_schema;
    }
    config.close();
}

}  // namespace

body_frame frame_of(const transcription_request& request, std::string_view model, std::string_view type) {
    body_frame made;
    made.before = R"({"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":)";
    append_json_string(made.before, type);
    made.before += R"(,"data":")";
    made.after = R"("}})";
    if (is_transcriber(model)) {
        made.after += R"(]}],"generationConfig":{)";
        append_transcriber_settings(made.after, request);
        made.after += "}}";
        return made;
    }
    made.after += R"(,{"text":)";
    append_json_string(made.after, prompt_of(request));
    made.after += R"(}]}],"generationConfig":)";
    append_general_settings(made.after, request, model);
    made.after += '}';
    return made;
}

bool structured(const transcription_request& request, std::string_view model) noexcept {
    return detail_of(request.format) != detail::plain && !is_transcriber(model);
}

std::vector<std::string_view> values_of(const transcription_request& request, std::string_view name) {
    std::vector<std::string_view> found;
    for (const form_field& each : request.fields) {
        const std::string_view own = each.name;
        if (own == name || (own.ends_with("[]") && own.substr(0, own.size() - 2) == name)) found.push_back(each.value);
    }
    return found;
}

}  // namespace hearonce::gemini
