// The events of the three dialects. Next file: failures.cpp.
#include <backends/cloud/quoted_message.hpp>
#include <backends/openai/events.hpp>
#include <backends/openai/json_reading.hpp>
#include <hearonce/ascii.hpp>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <utility>

namespace hearonce::openai {
namespace {

namespace json = boost::json;

error broken_off(std::string message) {
    // The upstream had begun: the work may be done, and paid for.
    return error(errc::upstream_error, std::move(message)).with_remedy(remedy::none);
}

// true, a text or an object; absent, null, false and "" are what servers write where nothing is wrong.
bool says_error(const json::object& record) noexcept {
    const json::value* found = member(record, "error");
    if (found == nullptr) return false;
    if (const bool* flag = found->if_bool()) return *flag;
    const json::string* text = found->if_string();
    return text == nullptr || !text->empty();
}

}  // namespace

result<std::optional<transcript_delta>> event_reading::take(std::string_view event, std::string_view data) {
    if (complete()) return told();
    if (ascii::trimmed(data) == "[DONE]") {
        if (chunks_) done_ = transcript_of({}, text_, terms_);
        return told();
    }
    const auto record = parse_object(data);
    if (!record) return broken_off("The backend's stream is not readable.");
    const std::string_view type = text_of(*record, "type");
    if (event == "error" || type == "error" || says_error(*record)) return take_error(*record);
    if (type == "transcript.text.delta") return take_delta(*record, data);
    if (type == "transcript.text.segment") return take_turn(*record);
    if (type == "transcript.text.done") return take_done(*record, data);
    if (text_of(*record, "object") == "transcription.chunk") return take_chunk(*record);
    return told();
}

result<event_reading::told> event_reading::take_error(const json::object& record) const {
    const json::value* found = member(record, "error");
    std::string_view message = text_of(record, "message");
    if (found != nullptr && found->is_object()) message = text_of(found->get_object(), "message");
    if (found != nullptr && found->is_string()) message = text_of(record, "error");
    std::string text = "The backend broke off";
    if (!message.empty()) text += ": " + cloud::quoted_message(message, key_);
    return broken_off(std::move(text));
}

// What of a piece can be told now.
std::string event_reading::next_text(std::string_view piece) {
    const std::string_view content = ascii::trimmed(piece);
    if (content.empty()) {
        if (!text_.empty()) blanks_ += piece;
        return {};
    }
    const auto before = static_cast<std::size_t>(content.data() - piece.data());
    std::string out;
    // Blanks at the very beginning are left out.
    if (!text_.empty()) out.append(blanks_).append(piece.substr(0, before));
    out += content;
    blanks_ = piece.substr(before + content.size());
    text_ += out;
    return out;
}

event_reading::told event_reading::take_delta(const json::object& record, std::string_view data) {
    transcript_delta piece;
    piece.text = next_text(text_of(record, "delta"));
    for (json_member& one : kept_members(data)) {
        if (one.name == "logprobs") piece.more.push_back(std::move(one));
    }
    return piece.text.empty() && piece.more.empty() ? std::nullopt : told(std::move(piece));
}

event_reading::told event_reading::take_turn(const json::object& record) {
    if (terms_.detail != detail::diarized) return std::nullopt;
    transcript_delta piece;
    piece.turn = segment_of(record, static_cast<std::int64_t>(turns_.size()));
    turns_.push_back(*piece.turn);
    return piece;
}

event_reading::told event_reading::take_done(const json::object& record, std::string_view data) {
    const std::string_view whole = ascii::trimmed(text_of(record, "text"));
    transcript_delta rest;
    if (whole.size() > text_.size() && whole.starts_with(text_)) {
        // Told in the end only, in whole or in part; some listeners show nothing but deltas.
        rest.text = whole.substr(text_.size());
        text_ = whole;
    }
    // Where the two differ otherwise, what was told stands.
    transcript made = transcript_of(record, text_, terms_);
    if (!turns_.empty()) made.segments = std::move(turns_);
    made.more = kept_members(data);
    done_ = std::move(made);
    return rest.text.empty() ? std::nullopt : told(std::move(rest));
}

event_reading::told event_reading::take_chunk(const json::object& record) {
    chunks_ = true;
    const json::value* choices = member(record, "choices");
    const json::array* list = choices == nullptr ? nullptr : choices->if_array();
    const json::object* choice = list == nullptr || list->empty() ? nullptr : list->front().if_object();
    if (choice == nullptr) return std::nullopt;
    const json::value* delta = member(*choice, "delta");
    const bool spoken = delta != nullptr && delta->is_object();
    transcript_delta piece;
    if (spoken) piece.text = next_text(text_of(delta->get_object(), "content"));
    return piece.text.empty() ? std::nullopt : told(std::move(piece));
}

result<transcript> event_reading::finish() && {
    if (!done_) return broken_off("The backend's stream ended before its end.");
    return std::move(*done_);
}

}  // namespace hearonce::openai
