// Next file: session.cpp.
#include <bench/upstream/body_reader.hpp>

#include <algorithm>
#include <utility>

namespace hearonce::upstream {

body_reader::body_reader(peer& from, const http::request_head& head, server::request_parser& parser)
    : from_(from),
      parser_(parser),
      chunked_(head.chunked),
      ended_(!head.chunked && head.content_length.value_or(0) == 0),
      left_(head.content_length.value_or(0)) {}

void body_reader::take_data(std::string_view bytes) {
    data_ = std::as_bytes(std::span(bytes.data(), bytes.size()));
    bytes_ += bytes.size();
}

bool body_reader::take_sized() {
    const auto there = from_.input().bytes();
    const auto some = there.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, there.size())));
    if (some.empty()) return false;
    take_data(some);
    used_ = some.size();
    left_ -= some.size();
    ended_ = left_ == 0;
    return true;
}

bool body_reader::take_chunk() {
    const auto step = parser_.parse_chunked(from_.input().bytes());
    if (!step) return broken_ = true;
    using kind = server::request_parser::step::kind;
    if (step->is == kind::data) {
        take_data(step->data);
        used_ = step->consumed;
        return true;
    }
    from_.input().consume(step->consumed);
    return ended_ = step->is == kind::end;
}

boost::asio::awaitable<body_reader::got> body_reader::next() {
    from_.input().consume(std::exchange(used_, 0));
    data_ = {};
    for (;;) {
        if (ended_) co_return got::end;
        const bool took = chunked_ ? take_chunk() : take_sized();
        if (broken_) co_return got::broken;
        if (took && ended_ && data_.empty()) co_return got::end;
        if (took) co_return got::piece;
        const bool more = co_await from_.receive();
        if (!more) co_return got::left;
    }
}

}  // namespace hearonce::upstream
