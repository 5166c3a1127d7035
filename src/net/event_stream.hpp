// Server-sent events out of pieces of text (WHATWG HTML, section 9.2.6). Knows no connection: feed it what `on_piece` gets.
//
// Holds: event_record, event_sink, event_stream. Nothing follows.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::net {

struct event_record {
    std::string_view event;  // The `event` field; empty when it is not named.
    std::string_view data;   // The `data` lines, joined by line feeds.
};
// The views are valid within the call. False: no more is wanted.
using event_sink = std::function<bool(const event_record& record)>;

class event_stream {
public:
    // Of a record's data, and of any single line's value: what a peer may make us hold.
    explicit event_stream(std::size_t record_bytes_max = 1024 * 1024) : record_bytes_max_(record_bytes_max) {}

    // Gives `sink` each record that this piece completes. False: the sink wanted no more, or a record is too large
    // (too_large()); what is fed afterwards is ignored.
    bool feed(std::string_view piece, const event_sink& sink);
    bool too_large() const noexcept { return too_large_; }
    // At the end of the answer: the record that no blank line ended, if it holds data. The standard drops it; servers exist
    // that end their last one like this. Valid until the object's end.
    std::optional<event_record> finish();

private:
    void take_line(std::string_view line, const event_sink& sink);
    void take_field(std::string_view name, std::string_view value);
    void end_record(const event_sink& sink);
    void give_up_as_too_large();

    std::size_t record_bytes_max_;
    std::string line_;  // Of a line whose end has not come yet.
    std::string event_;
    std::string data_;
    bool has_data_ = false;
    bool first_line_ = true;
    bool after_cr_ = false;  // A line feed that comes now belongs to the line end before it.
    bool ended_ = false;
    bool too_large_ = false;
};

}  // namespace hearonce::net
