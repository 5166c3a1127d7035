// A streamed answer, record by record: what can be told at once, and the transcript at the end. Pure; knows no connection.
//
// Holds: event_reading. Next file: answer.hpp (the same for an answer in one piece).
#pragma once

#include <backends/openai/answer.hpp>
#include <hearonce/error.hpp>
#include <hearonce/transcription.hpp>

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::openai {

// Reads OpenAI's transcript.text.* events, LocalAI's with more members, and vLLM's chat-like chunks; unknown events are
// skipped. The texts of the pieces it gives, joined, are the transcript's text: blanks at both ends are left out as they
// pass, so nothing that was told has to be taken back.
class event_reading {
public:
    // `key`: never told, whatever the upstream quotes. Copied by nobody and used during take() only; it must live as long.
    event_reading(answer_terms terms, std::string_view key) : terms_(terms), key_(key) {}

    // One record. A piece to tell, or nothing; an error ends the reading. What comes after the end is ignored.
    result<std::optional<transcript_delta>> take(std::string_view event, std::string_view data);

    // The whole text is known: nothing more can change it, and a connection that breaks now breaks nothing.
    bool complete() const noexcept { return done_.has_value(); }

    // At the answer's end. upstream_error for a stream that ended before it said so: a part is never a success.
    result<transcript> finish() &&;

private:
    using told = std::optional<transcript_delta>;
    result<told> take_error(const boost::json::object& record) const;
    told take_delta(const boost::json::object& record, std::string_view data);
    told take_turn(const boost::json::object& record);
    told take_done(const boost::json::object& record, std::string_view data);
    told take_chunk(const boost::json::object& record);
    std::string next_text(std::string_view piece);

    answer_terms terms_;
    std::string_view key_;
    std::string text_;    // All that was told.
    std::string blanks_;  // White space that is told when something follows it.
    std::vector<segment> turns_;
    std::optional<transcript> done_;
    bool chunks_ = false;  // vLLM: the text is what was told, and its end is [DONE]: a reason to finish stands behind each 30 s.
};

}  // namespace hearonce::openai
