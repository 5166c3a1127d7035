// One function a JSON format, and the event stream. Strings grow by appending only; the text is copied once.
//
// Next file: subtitles.cpp.
#include <hearonce/ascii.hpp>
#include <http/render.hpp>
#include <http/subtitles.hpp>
#include <observe/json_text.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace hearonce::http {

using observe::append_integer;
using observe::append_json_number;
using observe::append_json_seconds;
using observe::append_json_string;

void append_more(std::string& out, const std::vector<json_member>& more) {
    for (const json_member& one : more) {
        out += ',';
        append_json_string(out, one.name);
        out += ':';
        out += one.json;
    }
}

// One speaker's turn, in the body and as a record of the stream alike.
void append_turn(std::string& out, const segment& one, std::size_t number) {
    out += R"({"type":"transcript.text.segment","id":"seg_)";
    for (std::size_t width = 100; width > 1 && number < width; width /= 10) out += '0';
    append_integer(out, static_cast<std::int64_t>(number));
    out += R"(","start":)";
    append_json_seconds(out, one.start_seconds);
    out += R"(,"end":)";
    append_json_seconds(out, std::max(one.start_seconds, one.end_seconds));
    out += R"(,"text":)";
    append_json_string(out, ascii::trimmed(one.text));
    out += R"(,"speaker":)";
    append_json_string(out, one.speaker);
    out += '}';
}

namespace {

constexpr std::size_t room_bytes = 192;          // For keys, usage and the like around a text.
constexpr std::size_t segment_room_bytes = 256;  // For the ten keys of one segment.

// What an upstream said beside the text, its own usage among it; else what OpenAI bills: whole seconds begun, left out when
// the duration is unknown.
void append_usage(std::string& out, const transcript& heard) {
    append_more(out, heard.more);
    if (std::ranges::find(heard.more, "usage", &json_member::name) != heard.more.end()) return;
    const auto milliseconds = observe::milliseconds_of(heard.duration_seconds);
    if (milliseconds == 0) return;
    out += R"(,"usage":{"type":"duration","seconds":)";
    append_integer(out, (milliseconds + 999) / 1000);
    out += '}';
}

std::string json(const transcript& heard) {
    std::string out;
    out.reserve(heard.text.size() + room_bytes);
    out += R"({"text":)";
    append_json_string(out, heard.text);
    append_usage(out, heard);
    out += '}';
    return out;
}

std::string text(const transcript& heard) {
    std::string out;
    out.reserve(heard.text.size() + 1);
    observe::append_utf8(out, heard.text);
    out += '\n';
    return out;
}

void append_words(std::string& out, const std::vector<word_time>& words) {
    out += R"(,"words":[)";
    bool first = true;
    for (const word_time& one : words) {
        if (!std::exchange(first, false)) out += ',';
        out += R"({"word":)";
        append_json_string(out, one.word);
        out += R"(,"start":)";
        append_json_seconds(out, one.start_seconds);
        out += R"(,"end":)";
        append_json_seconds(out, std::max(one.start_seconds, one.end_seconds));
        out += '}';
    }
    out += ']';
}

void append_segment(std::string& out, const segment& one) {
    out += R"({"id":)";
    append_integer(out, one.id);
    out += R"(,"seek":)";
    append_integer(out, one.seek);
    out += R"(,"start":)";
    append_json_seconds(out, one.start_seconds);
    out += R"(,"end":)";
    append_json_seconds(out, std::max(one.start_seconds, one.end_seconds));
    out += R"(,"text":)";
    append_json_string(out, one.text);
    out += R"(,"tokens":[)";
    for (std::size_t i = 0; i < one.tokens.size(); ++i) {
        if (i != 0) out += ',';
        append_integer(out, one.tokens[i]);
    }
    out += R"(],"temperature":)";
    append_json_number(out, one.temperature);
    out += R"(,"avg_logprob":)";
    append_json_number(out, one.avg_logprob);
    out += R"(,"compression_ratio":)";
    append_json_number(out, one.compression_ratio);
    out += R"(,"no_speech_prob":)";
    append_json_number(out, one.no_speech_prob);
    out += '}';
}

std::string verbose_json(const transcript& heard, const shape& wanted) {
    std::string out;
    out.reserve(2 * heard.text.size() + room_bytes + heard.segments.size() * segment_room_bytes);
    out += wanted.task == task::translate ? R"({"task":"translate","language":)" : R"({"task":"transcribe","language":)";
    append_json_string(out, wanted.task == task::translate ? std::string_view("english") : std::string_view(heard.language));
    out += R"(,"duration":)";
    append_json_seconds(out, heard.duration_seconds);
    out += R"(,"text":)";
    append_json_string(out, heard.text);
    if (wanted.words) append_words(out, heard.words);
    if (wanted.segments) {
        out += R"(,"segments":[)";
        bool first = true;
        for (const segment& one : heard.segments) {
            if (!std::exchange(first, false)) out += ',';
            append_segment(out, one);
        }
        out += ']';
    }
    append_usage(out, heard);
    out += '}';
    return out;
}

std::string diarized_json(const transcript& heard) {
    std::string out;
    out.reserve(2 * heard.text.size() + room_bytes + heard.segments.size() * segment_room_bytes);
    out += R"({"task":"transcribe","duration":)";
    append_json_seconds(out, heard.duration_seconds);
    out += R"(,"text":)";
    append_json_string(out, heard.text);
    out += R"(,"segments":[)";
    for (std::size_t i = 0; i < heard.segments.size(); ++i) {
        if (i != 0) out += ',';
        append_turn(out, heard.segments[i], i + 1);
    }
    out += ']';
    append_usage(out, heard);
    out += '}';
    return out;
}

}  // namespace

std::string_view content_type_of(response_format format) noexcept {
    switch (format) {
        case response_format::json:
        case response_format::verbose_json:
        case response_format::diarized_json: break;
        case response_format::text:
        case response_format::srt:
        case response_format::vtt: return "text/plain; charset=utf-8";
    }
    return "application/json";
}

std::string render(const transcript& heard, const shape& wanted) {
    switch (wanted.format) {
        case response_format::json: break;
        case response_format::text: return text(heard);
        case response_format::verbose_json: return verbose_json(heard, wanted);
        case response_format::srt: return srt_of(heard);
        case response_format::vtt: return vtt_of(heard);
        case response_format::diarized_json: return diarized_json(heard);
    }
    return json(heard);
}

}  // namespace hearonce::http
