// Records of a flight under way, then its end. Next file: render.cpp.
#include <http/error_response.hpp>
#include <http/event_stream.hpp>
#include <http/transcript_stream.hpp>

namespace hearonce::http {

namespace asio = boost::asio;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::steady_clock;

result<const transcript*> outcome_of(const work::flights::result& end) {
    switch (end.status) {
        case wait_status::done:
            if (!end.outcome->heard) return end.outcome->heard.error();
            return &*end.outcome->heard;
        case wait_status::left: return errc::caller_left;
        case wait_status::timed_out: return errc::upstream_timeout;
        case wait_status::stopped: return errc::draining;
        default: return errc::internal_error;
    }
}

transcript_stream::transcript_stream(work::flights::ticket place, std::shared_ptr<delta_log> log, services& parts, const decided& asked,
                                     steady_clock::time_point limit, access_notes& notes)
    : place_(std::move(place)),
      reader_(std::move(log)),
      parts_(parts),
      wanted_(asked.wanted),
      key_(asked.key),
      name_(asked.name),
      limit_(limit),
      entered_(steady_clock::now()),
      notes_(notes) {}

asio::awaitable<bool> transcript_stream::first() {
    auto begun = co_await reader_.wait(limit_);
    if (begun) notes_.backend = reader_.backend();
    co_return begun;
}

asio::awaitable<std::optional<std::string>> transcript_stream::next() {
    if (ended_) co_return std::nullopt;
    auto more = co_await reader_.wait(limit_);
    if (more) co_return fresh_records();
    ended_ = true;
    auto end = co_await place_.wait(limit_);
    notes_.wait = duration_cast<microseconds>(steady_clock::now() - entered_);
    if (end.outcome) notes_.upstream = end.outcome->upstream;
    if (end.status == wait_status::left) co_return std::nullopt;
    co_return last_records(end);
}

void transcript_stream::leave() {
    reader_.leave();
    place_.leave();
}

std::string transcript_stream::fresh_records() {
    std::string out;
    for (const transcript_delta* piece : reader_.take()) {
        out += piece_events(*piece);
        told_bytes_ += piece->text.size();
        turns_told_ = turns_told_ || piece->turn.has_value();
    }
    return out;
}

// The pieces are read again instead of being kept once for each reader.
bool transcript_stream::told_begins(std::string_view text) {
    reader_.rewind();
    for (const transcript_delta* piece : reader_.take()) {
        if (!text.starts_with(piece->text)) return false;
        text.remove_prefix(piece->text.size());
    }
    return true;
}

std::string transcript_stream::last_records(const work::flights::result& end) {
    const auto heard = outcome_of(end);
    if (!heard) {
        notes_.failed = heard.error().code();
        if (name_) parts_.names.release(*name_, key_.bytes);
        return error_event(error_body(heard.error()));
    }
    const transcript& text = **heard;
    if (notes_.how == observe::came::joined) parts_.counted.work_saved(text.duration_seconds);
    std::string out;
    // Joined pieces equal the text: clients show nothing else. What a backend held back to the end is told now.
    if (text.text.size() > told_bytes_ && told_begins(text.text)) out += delta_event(std::string_view(text.text).substr(told_bytes_));
    if (wanted_.format == response_format::diarized_json && !turns_told_) out += turn_events(text);
    return out + done_event(text);
}

}  // namespace hearonce::http
