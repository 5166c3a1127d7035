// What one answer, or the chunks of a streamed one, say: text, turns, why it ended, what it cost.
//
// Holds: timed_word, turn, heard, usage_json(). Knows JSON and no connection. Next file: transcript_of.hpp.
#pragma once

#include <hearonce/error.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::gemini {

struct timed_word {
    std::string text;
    double start_seconds = 0;
    double end_seconds = 0;  // Never before the start.
    std::string speaker;     // The upstream's label; empty: the turn's.
};

// One `audioTranscription`: what somebody says without a break.
struct turn {
    std::string text;  // As given, or the words joined.
    std::string speaker;
    std::string language;                 // A code of BCP 47.
    std::optional<double> start_seconds;  // As given, else of the first word.
    std::optional<double> end_seconds;
    std::vector<timed_word> words;
};

class heard {
public:
    // `transcriber`: its parts are pieces of speech, which stand apart; another model's are pieces of a text.
    explicit heard(bool transcriber) : transcriber_(transcriber) {}

    // One complete answer or one chunk, which holds no `error`. Gives the text that it adds. upstream_error: the prompt was
    // blocked.
    result<std::string> take(const boost::json::object& answer);
    // How it ended. upstream_error: not by itself, so what was heard is not all. `streamed`: an end must have been told; one
    // answer that came as a whole may leave it out.
    result<void> end(bool streamed) const;

    const std::string& text() const noexcept { return text_; }
    const std::vector<turn>& turns() const noexcept { return turns_; }
    // OpenAI's shape of what the call cost in tokens; empty: it was not told.
    std::string usage_json() const;

private:
    std::string take_parts(const boost::json::array& parts);
    void append(std::string& fresh, std::string_view piece, bool apart);

    struct token_counts {
        std::int64_t input = 0;
        std::int64_t text = 0;
        std::int64_t audio = 0;
        std::int64_t output = 0;
        std::int64_t total = 0;
    };
    static token_counts counts_of(const boost::json::object& usage);

    bool transcriber_;
    // What says the text: its own parts, or those with transcriptions. Both may come, and then say the same.
    enum class source : std::uint8_t { unknown, text, speech };

    bool any_ = false;  // A candidate was seen.
    source source_ = source::unknown;
    std::string text_;
    std::vector<turn> turns_;
    std::string reason_;
    std::optional<token_counts> usage_;
};

// "1.250s" of protocol buffers, or a number of seconds; nullopt for anything else. Never negative.
std::optional<double> offset_of(const boost::json::value* value) noexcept;

// The member's value if it is an object, array or text, as asked; else null or empty.
const boost::json::object* object_in(const boost::json::object& from, std::string_view name) noexcept;
const boost::json::array* array_in(const boost::json::object& from, std::string_view name) noexcept;
std::string_view text_in(const boost::json::object& from, std::string_view name) noexcept;

// A word of the upstream's for a message: capitals, digits and underscores, else "an unknown reason".
std::string reason_word(std::string_view given);

}  // namespace hearonce::gemini
