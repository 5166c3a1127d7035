// Cues: their times, their text, and what keeps the one from being read as the other.
#include <hearonce/ascii.hpp>
#include <http/subtitles.hpp>
#include <observe/json_text.hpp>

#include <algorithm>

namespace hearonce::http {
namespace {

using observe::append_integer;

constexpr std::size_t cue_room_bytes = 48;  // Number and times of one cue.

// 00:01:02,345; hours take as many digits as they need.
void append_clock(std::string& out, std::int64_t milliseconds, char decimal_mark) {
    const auto two = [&out](std::int64_t value) {
        if (value < 10) out += '0';
        append_integer(out, value);
    };
    two(milliseconds / 3'600'000);
    out += ':';
    two(milliseconds / 60'000 % 60);
    out += ':';
    two(milliseconds / 1000 % 60);
    out += decimal_mark;
    if (milliseconds % 1000 < 100) out += '0';
    two(milliseconds % 1000);
}

// A cue ends at the first empty line, and "-->" belongs to its times: neither may be in its text.
void append_cue_text(std::string& out, std::string_view words) {
    const std::size_t begin = out.size();
    observe::append_utf8(out, ascii::trimmed(words));
    std::size_t end = begin;
    for (std::size_t at = begin; at < out.size(); ++at) {
        const char c = out[at] == '\n' || out[at] == '\r' ? ' ' : out[at];
        while (c == '>' && end - begin >= 2 && out[end - 1] == '-' && out[end - 2] == '-') --end;
        out[end++] = c;
    }
    out.resize(end);
}

struct cue_style {
    bool numbered;
    char decimal_mark;
};
constexpr cue_style srt_style{true, ','};
constexpr cue_style vtt_style{false, '.'};

void append_cues(std::string& out, const transcript& heard, cue_style style) {
    std::int64_t number = 0;
    std::int64_t begun = 0;
    const auto cue = [&](std::int64_t start, std::int64_t end, std::string_view words) {
        if (ascii::trimmed(words).empty()) return;
        begun = std::max(begun, start);
        if (style.numbered) {
            append_integer(out, ++number);
            out += '\n';
        }
        append_clock(out, begun, style.decimal_mark);
        out += " --> ";
        append_clock(out, std::max(begun, end), style.decimal_mark);
        out += '\n';
        append_cue_text(out, words);
        out += "\n\n";
    };
    for (const segment& one : heard.segments) {
        cue(observe::milliseconds_of(one.start_seconds), observe::milliseconds_of(one.end_seconds), one.text);
    }
    if (heard.segments.empty()) cue(0, observe::milliseconds_of(heard.duration_seconds), heard.text);
}

std::string subtitles(const transcript& heard, std::string_view head, cue_style style) {
    std::string out(head);
    out.reserve(head.size() + heard.text.size() + cue_room_bytes + heard.segments.size() * cue_room_bytes);
    append_cues(out, heard, style);
    return out;
}

}  // namespace

std::string srt_of(const transcript& heard) {
    return subtitles(heard, "", srt_style);
}
std::string vtt_of(const transcript& heard) {
    return subtitles(heard, "WEBVTT\n\n", vtt_style);
}

}  // namespace hearonce::http
