// Nothing follows.
#include <net/event_stream.hpp>

#include <utility>

namespace hearonce::net {
namespace {
// The longest field name that means something, its colon and blank, and a byte order mark: not counted as the peer's data.
constexpr std::size_t name_bytes_max = 16;
}  // namespace

bool event_stream::feed(std::string_view piece, const event_sink& sink) {
    while (!piece.empty() && !ended_) {
        if (std::exchange(after_cr_, false) && piece.front() == '\n') piece.remove_prefix(1);
        const std::size_t end = piece.find_first_of("\r\n");
        const std::string_view part = piece.substr(0, end);
        if (line_.size() + part.size() > record_bytes_max_ + name_bytes_max) {
            give_up_as_too_large();
        } else if (end == std::string_view::npos) {
            line_.append(part);
            break;
        } else if (line_.empty()) {
            take_line(part, sink);
        } else {
            line_.append(part);
            take_line(line_, sink);
            line_.clear();
        }
        if (ended_) break;
        after_cr_ = piece[end] == '\r';
        piece.remove_prefix(end + 1);
    }
    return !ended_;
}

void event_stream::take_line(std::string_view line, const event_sink& sink) {
    if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (line.empty()) {
        end_record(sink);
        return;
    }
    const std::size_t colon = line.find(':');
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    // A line that begins with its colon is a comment: no field has an empty name.
    take_field(line.substr(0, colon), value);
}

void event_stream::take_field(std::string_view name, std::string_view value) {
    if (name == "event") event_ = value;
    if (name != "data") return;
    if (data_.size() + value.size() + (has_data_ ? 1 : 0) > record_bytes_max_) {
        give_up_as_too_large();
        return;
    }
    if (std::exchange(has_data_, true)) data_ += '\n';
    data_ += value;
}

void event_stream::end_record(const event_sink& sink) {
    // A record without data is none.
    if (has_data_ && !sink({event_, data_})) ended_ = true;
    event_.clear();
    data_.clear();
    has_data_ = false;
}

void event_stream::give_up_as_too_large() {
    too_large_ = true;
    ended_ = true;
}

std::optional<event_record> event_stream::finish() {
    if (ended_) return std::nullopt;
    // The last line may lack its end, too. It cannot complete a record: that takes an empty one.
    if (!line_.empty()) take_line(std::exchange(line_, {}), {});
    ended_ = true;
    if (!has_data_ || too_large_) return std::nullopt;
    return event_record{event_, data_};
}

}  // namespace hearonce::net
