// Next file: openai_models.cpp.
#include <bench/upstream/openai_answer.hpp>

#include <observe/json_text.hpp>

#include <array>
#include <cstdio>

namespace hearonce::upstream {

namespace {

using observe::append_integer;
using observe::append_json_seconds;
using observe::append_json_string;

double seconds_of(std::int64_t ms) {
    return static_cast<double>(ms) / 1000.0;
}

void append_usage(std::string& out, const openai_asked& asked, const heard& what) {
    const auto seconds = (what.duration_ms + 999) / 1000;
    if (asked.kind == model_kind::whisper || asked.kind == model_kind::diarize) {
        out += ",\"usage\":{\"type\":\"duration\",\"seconds\":";
        append_integer(out, seconds);
        out += '}';
        return;
    }
    const auto heard_tokens = seconds * 10;
    const auto said_tokens = static_cast<std::int64_t>(what.words.size());
    out += ",\"usage\":{\"type\":\"tokens\",\"input_tokens\":";
    append_integer(out, heard_tokens);
    out += ",\"input_token_details\":{\"text_tokens\":0,\"audio_tokens\":";
    append_integer(out, heard_tokens);
    out += "},\"output_tokens\":";
    append_integer(out, said_tokens);
    out += ",\"total_tokens\":";
    append_integer(out, heard_tokens + said_tokens);
    out += '}';
}

void append_logprob(std::string& out, std::string_view token) {
    out += "{\"token\":";
    append_json_string(out, token);
    out += ",\"logprob\":-0.01,\"bytes\":[";
    for (std::size_t at = 0; at < token.size(); ++at) {
        if (at > 0) out += ',';
        append_integer(out, static_cast<unsigned char>(token[at]));
    }
    out += "]}";
}

// The word as the model tells it: with its blank, but for the first.
std::string token_of(const heard& what, std::size_t index) {
    return (index == 0 ? "" : " ") + what.words[index].word;
}

void append_logprobs(std::string& out, const heard& what) {
    out += ",\"logprobs\":[";
    for (std::size_t index = 0; index < what.words.size(); ++index) {
        if (index > 0) out += ',';
        append_logprob(out, token_of(what, index));
    }
    out += ']';
}

void append_more(std::string& out, const openai_asked& asked, const heard& what) {
    if (asked.languages) {
        out += ",\"languages\":[{\"code\":";
        append_json_string(out, asked.language.empty() ? "en" : asked.language);
        out += "}]";
    }
    if (asked.logprobs) append_logprobs(out, what);
    append_usage(out, asked, what);
}

void append_times(std::string& out, std::int64_t begin_ms, std::int64_t end_ms) {
    out += "\"start\":";
    append_json_seconds(out, seconds_of(begin_ms));
    out += ",\"end\":";
    append_json_seconds(out, seconds_of(end_ms));
}

void append_words(std::string& out, const heard& what) {
    out += ",\"words\":[";
    for (const auto& one : what.words) {
        if (out.back() != '[') out += ',';
        out += "{\"word\":";
        append_json_string(out, one.word);
        out += ',';
        append_times(out, one.begin_ms, one.end_ms);
        out += '}';
    }
    out += ']';
}

void append_segments(std::string& out, const heard& what) {
    out += ",\"segments\":[";
    for (std::size_t index = 0; index < what.segments.size(); ++index) {
        const auto& one = what.segments[index];
        if (index > 0) out += ',';
        out += "{\"id\":";
        append_integer(out, static_cast<std::int64_t>(index));
        out += ",\"seek\":0,";
        append_times(out, one.begin_ms, one.end_ms);
        out += ",\"text\":";
        append_json_string(out, " " + one.text);
        out += ",\"tokens\":[50364,";
        append_integer(out, 1000 + static_cast<std::int64_t>(index));
        out += "],\"temperature\":0.0,\"avg_logprob\":-0.2,\"compression_ratio\":0.9,\"no_speech_prob\":0.01}";
    }
    out += ']';
}

// The members of a speaker's turn behind its type.
void append_turn(std::string& out, const heard_segment& one, std::size_t index) {
    std::array<char, 16> id{};
    std::snprintf(id.data(), id.size(), "seg_%03zu", index + 1);
    out.append("\"type\":\"transcript.text.segment\",\"id\":\"").append(id.data()).append("\",");
    append_times(out, one.begin_ms, one.end_ms);
    out += ",\"text\":";
    append_json_string(out, one.text);
    out += ",\"speaker\":";
    append_json_string(out, one.speaker);
}

std::string verbose_body(const openai_asked& asked, const heard& what) {
    const bool translated = asked.task == task::translate;
    std::string out = translated ? R"({"task":"translate","language":)" : R"({"task":"transcribe","language":)";
    append_json_string(out, translated || asked.language.empty() ? "english" : language_name(asked.language));
    out += ",\"duration\":";
    append_json_seconds(out, seconds_of(what.duration_ms));
    out += ",\"text\":";
    append_json_string(out, what.text);
    if (asked.words) append_words(out, what);
    if (asked.segments) append_segments(out, what);
    append_usage(out, asked, what);
    return out += '}';
}

std::string diarized_body(const openai_asked& asked, const heard& what) {
    std::string out = R"({"task":"transcribe","duration":)";
    append_json_seconds(out, seconds_of(what.duration_ms));
    out += ",\"text\":";
    append_json_string(out, what.text);
    out += ",\"segments\":[";
    for (std::size_t index = 0; index < what.segments.size(); ++index) {
        out += index == 0 ? "{" : ",{";
        append_turn(out, what.segments[index], index);
        out += '}';
    }
    out += ']';
    append_usage(out, asked, what);
    return out += '}';
}

// 00:00:01,500; WebVTT has a point.
std::string cue_time(std::int64_t ms, char point) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%02lld:%02lld:%02lld%c%03lld", static_cast<long long>(ms / 3'600'000),
                  static_cast<long long>(ms / 60'000 % 60), static_cast<long long>(ms / 1000 % 60), point,
                  static_cast<long long>(ms % 1000));
    return text.data();
}

std::string subtitles(const heard& what, bool srt) {
    const char point = srt ? ',' : '.';
    std::string out = srt ? "" : "WEBVTT\n\n";
    for (std::size_t index = 0; index < what.segments.size(); ++index) {
        const auto& one = what.segments[index];
        if (srt) out += std::to_string(index + 1) + "\n";
        out += cue_time(one.begin_ms, point) + " --> " + cue_time(one.end_ms, point) + "\n" + one.text + "\n\n";
    }
    return out;
}

std::vector<std::string> records_of(const openai_asked& asked, const heard& what, bool done_marker) {
    std::vector<std::string> all;
    std::size_t turns = 0;
    for (std::size_t index = 0; index < what.words.size(); ++index) {
        std::string one = R"(data: {"type":"transcript.text.delta","delta":)";
        append_json_string(one, token_of(what, index));
        if (asked.logprobs) {
            one += ",\"logprobs\":[";
            append_logprob(one, token_of(what, index));
            one += ']';
        }
        all.push_back(one + "}\n\n");
        if (asked.format != response_format::diarized_json || what.words[index].end_ms != what.segments[turns].end_ms) continue;
        std::string turn = "data: {";
        append_turn(turn, what.segments[turns], turns);
        ++turns;
        all.push_back(turn + "}\n\n");
    }
    std::string last = R"(data: {"type":"transcript.text.done","text":)";
    append_json_string(last, what.text);
    append_more(last, asked, what);
    all.push_back(last + "}\n\n");
    if (done_marker) all.emplace_back("data: [DONE]\n\n");
    return all;
}

}  // namespace

answer answer_openai(const openai_asked& asked, const heard& what, bool done_marker) {
    answer made;
    made.headers = {{"openai-organization", "upstream-double"}, {"openai-processing-ms", "1"},
                    {"openai-version", "2020-10-01"},           {"x-ratelimit-limit-requests", "500"},
                    {"x-ratelimit-remaining-requests", "499"},  {"x-ratelimit-reset-requests", "120ms"}};
    if (asked.stream) {
        made.content_type = "text/event-stream";
        made.records = records_of(asked, what, done_marker);
        return made;
    }
    switch (asked.format) {
        case response_format::json:
            made.body = "{\"text\":";
            append_json_string(made.body, what.text);
            append_more(made.body, asked, what);
            made.body += '}';
            return made;
        case response_format::verbose_json: made.body = verbose_body(asked, what); return made;
        case response_format::diarized_json: made.body = diarized_body(asked, what); return made;
        case response_format::text: made.body = what.text + "\n"; break;
        case response_format::srt: made.body = subtitles(what, true); break;
        case response_format::vtt: made.body = subtitles(what, false); break;
    }
    made.content_type = "text/plain; charset=utf-8";
    return made;
}

}  // namespace hearonce::upstream
