// One answer as it arrives, whole or in events: what can be told at once, and the transcript at the end.
//
// Holds: answer_reading, untold_blanks. Knows no connection: it is fed what `on_piece` gets. Next file: heard.hpp.
#pragma once

#include <backends/gemini/failure.hpp>
#include <backends/gemini/heard.hpp>
#include <backends/gemini/transcript_of.hpp>
#include <hearonce/delta_log.hpp>
#include <hearonce/secret.hpp>
#include <net/event_stream.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::gemini {

// Takes the blanks off both ends of a text that passes piece by piece.
class untold_blanks {
public:
    // What of the text so far can be told, because it is not at an end of it.
    std::string pass(std::string_view piece);

private:
    std::string held_;
    bool begun_ = false;
};

class answer_reading {
public:
    // `key`: whose it is, says `callers`. `deltas`: null: nobody reads along.
    answer_reading(wish wanted, bool transcriber, std::shared_ptr<const secret> key, bool callers, std::shared_ptr<delta_log> deltas)
        : wanted_(std::move(wanted)), key_(std::move(key)), callers_(callers), deltas_(std::move(deltas)), heard_(transcriber) {}

    // False: no more is wanted; end() says why.
    bool take(const net::http_answer& head, std::string_view piece);
    // At the end of the answer, or when take() wanted no more. `log`: for the operator, may stay empty.
    result<transcript> end(const net::http_answer& head, std::string& log);
    // Nothing that was told can be taken back.
    bool told() const noexcept { return told_; }
    bool stopped() const noexcept { return failure_.has_value(); }
    // A stream said that it was over: a connection that breaks now breaks nothing.
    bool complete() const { return streamed_ && !failure_ && heard_.end(true).has_value(); }

private:
    bool take_record(std::string_view data);
    bool take_object(const boost::json::object& one);
    bool stop(failed why);
    result<transcript> end_stream(std::string& log);
    result<transcript> end_whole(const net::http_answer& head, std::string& log);

    wish wanted_;
    std::shared_ptr<const secret> key_;
    bool callers_;
    std::shared_ptr<delta_log> deltas_;
    heard heard_;
    net::event_stream records_{record_bytes_max};
    untold_blanks blanks_;
    std::string whole_;  // An answer that is no stream of events.
    std::optional<failed> failure_;
    bool streamed_ = false;
    bool told_ = false;

    static constexpr std::size_t record_bytes_max = 4UL * 1024 * 1024;
};

}  // namespace hearonce::gemini
