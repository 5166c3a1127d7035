// Next file: error_response.cpp.
#include <http/event_stream.hpp>
#include <observe/json_text.hpp>

#include <cassert>

namespace hearonce::http {

using observe::append_json_string;

namespace {

constexpr std::size_t room_bytes = 192;  // For keys and the like around a text.

void append_delta(std::string& out, std::string_view text, const std::vector<json_member>& more) {
    out += R"(data: {"type":"transcript.text.delta","delta":)";
    append_json_string(out, text);
    append_more(out, more);
    out += "}\n\n";
}

void append_turn_record(std::string& out, const segment& one, std::size_t number) {
    out += "data: ";
    append_turn(out, one, number);
    out += "\n\n";
}

}  // namespace

std::string delta_event(std::string_view text) {
    std::string out;
    out.reserve(text.size() + room_bytes);
    append_delta(out, text, {});
    return out;
}

std::string piece_events(const transcript_delta& piece) {
    std::string out;
    if (!piece.text.empty() || !piece.turn) append_delta(out, piece.text, piece.more);
    if (piece.turn) append_turn_record(out, *piece.turn, static_cast<std::size_t>(piece.turn->id) + 1);
    return out;
}

std::string turn_events(const transcript& heard) {
    std::string out;
    for (std::size_t i = 0; i < heard.segments.size(); ++i) append_turn_record(out, heard.segments[i], i + 1);
    return out;
}

// An engine's usage is left out: here its schema knows tokens only, which an engine has not.
std::string done_event(const transcript& heard) {
    std::string out;
    out.reserve(heard.text.size() + room_bytes);
    out += R"(data: {"type":"transcript.text.done","text":)";
    append_json_string(out, heard.text);
    append_more(out, heard.more);
    out += "}\n\n";
    return out;
}

std::string error_event(std::string_view error_json) {
    assert(error_json.find('\n') == std::string_view::npos);
    std::string out("data: ");
    out += error_json;
    out += "\n\n";
    return out;
}

std::string render_events(const transcript& heard, const shape& wanted) {
    std::string out = delta_event(heard.text);
    if (wanted.format == response_format::diarized_json) out += turn_events(heard);
    out += done_event(heard);
    return out;
}

}  // namespace hearonce::http
