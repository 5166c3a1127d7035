// Next files: heard.cpp, transcript_of.cpp, failure.cpp.
#include <backends/gemini/answer_reading.hpp>
#include <hearonce/ascii.hpp>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>

namespace hearonce::gemini {
namespace json = boost::json;
namespace {

// The work may have been done: doing it again is not for a program to decide.
failed not_gemini() {
    return {error(errc::upstream_error, "The backend's answer cannot be read.").with_remedy(remedy::none),
            "the upstream answered with something that is not Gemini's JSON: is base_url right?"};
}

}  // namespace

std::string untold_blanks::pass(std::string_view piece) {
    held_ += piece;
    const std::string_view text = ascii::trimmed(held_);
    if (text.empty()) {
        if (!begun_) held_.clear();
        return {};
    }
    const auto first = begun_ ? std::size_t{0} : static_cast<std::size_t>(text.data() - held_.data());
    const auto last = static_cast<std::size_t>(text.data() + text.size() - held_.data());
    std::string out = held_.substr(first, last - first);
    held_.erase(0, last);
    begun_ = true;
    return out;
}

bool answer_reading::take(const net::http_answer& head, std::string_view piece) {
    if (head.status != 200 || !head.is_of("text/event-stream")) {
        whole_ += piece;
        return true;
    }
    streamed_ = true;
    const bool more = records_.feed(piece, [this](const net::event_record& one) { return take_record(one.data); });
    if (records_.too_large()) stop(not_gemini());
    return more;
}

bool answer_reading::take_record(std::string_view data) {
    if (data == "[DONE]") return true;  // What stands between may end streams as OpenAI does.
    boost::system::error_code broken;
    const json::value parsed = json::parse(data, broken);
    if (broken || !parsed.is_object()) return stop(not_gemini());
    return take_object(parsed.get_object());
}

bool answer_reading::take_object(const json::object& one) {
    if (const json::object* said = object_in(one, "error"))
        return stop(failure_of_record(*said, {callers_, key_->reveal(), std::chrono::system_clock::now()}));
    auto fresh = heard_.take(one);
    if (!fresh) return stop({fresh.error(), {}});
    if (!deltas_) return true;
    std::string piece = blanks_.pass(*fresh);
    if (piece.empty()) return true;
    told_ = true;
    transcript_delta delta;
    delta.text = std::move(piece);
    deltas_->append(std::move(delta));
    return true;
}

bool answer_reading::stop(failed why) {
    if (!failure_) failure_ = std::move(why);
    return false;
}

result<transcript> answer_reading::end(const net::http_answer& head, std::string& log) {
    auto made = streamed_ ? end_stream(log) : end_whole(head, log);
    if (made) return made;
    error why = made.error();
    // Events come with a 200 only; a call that was given up has no head here.
    return why.with_upstream_status(streamed_ ? 200 : head.status);
}

result<transcript> answer_reading::end_stream(std::string& log) {
    if (const auto last = records_.finish(); last && !failure_) take_record(last->data);
    if (!failure_) {
        auto made = transcript_of(heard_, wanted_, true);
        if (made) return made;
        failure_ = failed{made.error(), {}};
    }
    log = failure_->log;
    if (told_) failure_->why.with_remedy(remedy::none);
    return failure_->why;
}

result<transcript> answer_reading::end_whole(const net::http_answer& head, std::string& log) {
    // A whole answer is told as a whole, by whoever serves the readers.
    deltas_.reset();
    boost::system::error_code broken;
    json::value parsed;
    if (head.status == 200) parsed = json::parse(whole_, broken);
    if (head.status != 200) {
        stop(failure_of_answer(head, whole_, {callers_, key_->reveal(), std::chrono::system_clock::now()}));
    } else if (broken) {
        stop(not_gemini());
    } else if (const json::array* chunks = parsed.if_array()) {
        const bool good =
            std::ranges::all_of(*chunks, [this](const json::value& one) { return one.is_object() && take_object(one.get_object()); });
        if (!good) stop(not_gemini());
    } else if (!parsed.is_object()) {
        stop(not_gemini());
    } else {
        take_object(parsed.get_object());
    }
    if (!failure_) return transcript_of(heard_, wanted_, parsed.is_array());
    log = failure_->log;
    return failure_->why;
}

}  // namespace hearonce::gemini
