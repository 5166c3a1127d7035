// Next file: gemini_structured.cpp.
#include <bench/upstream/gemini_answer.hpp>

#include <observe/json_text.hpp>

#include <utility>
#include <vector>

namespace hearonce::upstream {

namespace {

using observe::append_integer;
using observe::append_json_string;

constexpr std::string_view thought = R"({"text":"**Listening** This thought is no part of the transcript.","thought":true})";

std::string text_part(std::string_view text) {
    std::string out = "{\"text\":";
    append_json_string(out, text);
    return out + "}";
}

// "0.100s", "2s": a google.protobuf.Duration.
std::string offset(std::int64_t ms) {
    auto rest = std::to_string(1000 + ms % 1000).substr(1);
    return "\"" + std::to_string(ms / 1000) + (rest == "000" ? "" : "." + rest) + "s\"";
}

struct turn {
    std::string text;
    std::string_view speaker;  // Empty: speakers are not asked for.
    std::int64_t begin_ms = 0;
    std::int64_t end_ms = 0;
};

std::string heard_part(const gemini_asked& asked, const heard& what, const turn& one, bool words_only) {
    std::string out = R"({"audioTranscription":{"languageCode":)";
    append_json_string(out, asked.language);
    if (!words_only) {
        out += ",\"text\":";
        append_json_string(out, one.text);
    }
    if (!one.speaker.empty()) out.append(",\"speakerLabel\":\"").append(one.speaker == "A" ? "spk_1" : "spk_2").append("\"");
    if (asked.word_times || words_only) {
        out += ",\"words\":[";
        for (const auto& word : what.words) {
            if (word.begin_ms < one.begin_ms || word.end_ms > one.end_ms) continue;
            if (out.back() != '[') out += ',';
            out += "{\"word\":";
            append_json_string(out, word.word);
            out += ",\"startOffset\":" + offset(word.begin_ms) + ",\"endOffset\":" + offset(word.end_ms) + "}";
        }
        out += ']';
    }
    return out + ",\"startOffset\":" + offset(one.begin_ms) + ",\"endOffset\":" + offset(one.end_ms) + "}}";
}

std::vector<std::string> transcriber_parts(const gemini_asked& asked, const heard& what, bool words_only) {
    std::vector<std::string> parts;
    if (asked.diarized) {
        for (const auto& one : what.segments)
            parts.push_back(heard_part(asked, what, {one.text, one.speaker, one.begin_ms, one.end_ms}, words_only));
        return parts;
    }
    auto whole = heard_part(asked, what, {what.text, {}, 0, what.duration_ms}, words_only);
    if (asked.word_times || words_only) return {std::move(whole)};
    // The same words twice in one part, as text and as what was heard: to be taken once.
    auto both = text_part(what.text);
    both.pop_back();
    return {both + "," + whole.substr(1)};
}

// About a third each, cut behind blanks; joined they are the text.
std::vector<std::string> text_parts(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto at = text.find(' ', text.size() / 3);
        const auto end = parts.size() == 2 || at == std::string_view::npos ? text.size() : at;
        parts.push_back(text_part(text.substr(0, end)));
        text.remove_prefix(end);
    }
    return parts;
}

void append_usage(std::string& out, const heard& what, std::size_t said_tokens) {
    const auto audio = 32 * ((what.duration_ms + 999) / 1000);
    const auto said = static_cast<std::int64_t>(said_tokens);
    out += R"("usageMetadata":{"promptTokenCount":)";
    append_integer(out, audio + 14);
    out += ",\"candidatesTokenCount\":";
    append_integer(out, said);
    out += ",\"thoughtsTokenCount\":9,\"totalTokenCount\":";
    append_integer(out, audio + 14 + said + 9);
    out += R"(,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":)";
    append_integer(out, audio);
    out += R"(},{"modality":"TEXT","tokenCount":14}]})";
}

// One response object. `reason`: its finishReason, empty in mid stream. No `parts`: the candidate has no content.
std::string response(const gemini_asked& asked, const heard& what, std::string_view parts, std::string_view reason) {
    std::string out = "{\"candidates\":[{";
    if (!parts.empty()) out.append(R"("content":{"role":"model","parts":[)").append(parts).append("]},");
    if (!reason.empty()) out.append("\"finishReason\":\"").append(reason).append("\",");
    out += "\"index\":0}],";
    append_usage(out, what, reason.empty() ? 1 : what.words.size());
    out += ",\"modelVersion\":";
    append_json_string(out, asked.model);
    return out + R"(,"responseId":"upstream-double"})";
}

// The answer's parts and how it ends.
struct said {
    std::vector<std::string> parts;
    std::string_view reason = "STOP";
};

said say(const gemini_asked& asked, const heard& what, const fault& wrong) {
    switch (wrong.answer) {
        case fault::instead::no_parts: return {{}, "SAFETY"};
        case fault::instead::recitation: return {{}, "RECITATION"};
        case fault::instead::max_tokens:
            return {{std::string(thought), text_part(what.text.substr(0, what.text.size() / 2))}, "MAX_TOKENS"};
        default: break;
    }
    said made;
    if (asked.transcriber) {
        made.parts = transcriber_parts(asked, what, wrong.answer == fault::instead::words_only);
    } else {
        made.parts = text_parts(asked.json ? filled_in(asked.schema, what, asked.language) : what.text);
    }
    made.parts.emplace(made.parts.begin(), thought);
    return made;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string out;
    for (const auto& one : parts) out.append(out.empty() ? "" : ",").append(one);
    return out;
}

// One object a part; the last tells how it ends.
std::vector<std::string> responses(const gemini_asked& asked, const heard& what, const said& all) {
    std::vector<std::string> made;
    for (std::size_t index = 0; index < all.parts.size(); ++index)
        made.push_back(response(asked, what, all.parts[index], index + 1 == all.parts.size() ? all.reason : ""));
    if (made.empty()) made.push_back(response(asked, what, {}, all.reason));
    return made;
}

std::string model_object(std::string_view id) {
    return R"({"name":"models/)" + std::string(id) + R"(","version":"001","displayName":")" + std::string(id) +
           R"(","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"]})";
}

}  // namespace

answer answer_gemini(const gemini_asked& asked, const route& to, const heard& what, const fault& wrong) {
    std::vector<std::string> all = {
        R"({"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":110,"totalTokenCount":110},)"
        R"("modelVersion":"upstream-double"})"};
    const bool streamed = to.what == ask::gemini_stream;
    if (wrong.answer != fault::instead::blocked) {
        const auto made = say(asked, what, wrong);
        all = streamed ? responses(asked, what, made) : std::vector{response(asked, what, joined(made.parts), made.reason)};
    }
    answer made;
    made.content_type = to.sse ? "text/event-stream" : "application/json; charset=UTF-8";
    if (to.sse) {
        for (const auto& one : all) made.records.push_back("data: " + one + "\r\n\r\n");
    } else {
        made.body = streamed ? "[" + joined(all) + "]" : std::move(all.front());
    }
    return made;
}

answer gemini_models() {
    answer made;
    made.content_type = "application/json; charset=UTF-8";
    made.body = "{\"models\":[";
    for (const auto id : gemini_models_known()) made.body.append(made.body.back() == '[' ? "" : ",").append(model_object(id));
    made.body += "]}";
    return made;
}

answer gemini_model(std::string_view id) {
    if (!gemini_model_known(id))
        return gemini_refusal(404, "NOT_FOUND", "Model is not found: models/" + std::string(id) + " for api version v1beta");
    answer made;
    made.content_type = "application/json; charset=UTF-8";
    made.body = model_object(id);
    return made;
}

}  // namespace hearonce::upstream
