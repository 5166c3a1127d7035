// Finds the boundaries of a form in bytes that arrive piece by piece.
//
// Holds: multipart_parser. Next file: form.cpp.
#include <http/multipart.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace hearonce::http {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The first place of `needle`, which begins with a CR, nullptr if there is none. Audio has a CR every few hundred bytes, and
// from one to the next memchr() is twice as fast as memmem(); where they are frequent (text, or malice) memmem() goes on.
const std::byte* find_delimiter(std::span<const std::byte> in, std::string_view needle) noexcept {
    for (std::size_t tries = in.size() / 128 + 4; in.size() >= needle.size(); --tries) {
        if (tries == 0) return static_cast<const std::byte*>(::memmem(in.data(), in.size(), needle.data(), needle.size()));
        const void* at = std::memchr(in.data(), '\r', in.size() - needle.size() + 1);
        if (at == nullptr) return nullptr;
        in = in.subspan(static_cast<std::size_t>(static_cast<const std::byte*>(at) - in.data()));
        if (std::memcmp(in.data(), needle.data(), needle.size()) == 0) return in.data();
        in = in.subspan(1);
    }
    return nullptr;
}

}  // namespace

multipart_parser::multipart_parser(std::string_view boundary, multipart_limits limits)
    : limits_(limits), delimiter_("\r\n--"), matched_(2), supposed_(2) {
    // The first delimiter may stand at the very start, so the body begins as if a line break had just been read.
    assert(!boundary.empty() && boundary.size() <= boundary_bytes_max);
    assert(boundary.find('\r') == std::string_view::npos);
    delimiter_.append(boundary);
}

result<multipart_parser::event> multipart_parser::fail(std::string message) {
    state_ = state::failed;
    return error(errc::invalid_multipart, std::move(message));
}

result<multipart_parser::event> multipart_parser::next(std::span<const std::byte>& input) {
    for (;;) {
        switch (state_) {
            case state::preamble:
            case state::body: {
                const bool in_part = state_ == state::body;
                if (!scan(input)) return event::need_more;
                if (state_ == state::after_boundary) {
                    if (in_part) return event::part_end;
                    continue;
                }
                if (in_part) return event::data;
                outside_bytes_ += data_.size();
                if (outside_bytes_ > limits_.outside_bytes_max) return fail("The first boundary is not at the start of the body.");
                continue;
            }
            case state::after_boundary:
                if (input.empty()) return event::need_more;
                if (auto read = read_after_boundary(input); !read || *read != event::need_more) return read;
                continue;
            case state::head:
                if (input.empty()) return event::need_more;
                if (auto read = read_head(input); !read || *read != event::need_more) return read;
                continue;
            case state::epilogue:
                outside_bytes_ += input.size();
                input = {};
                if (outside_bytes_ > limits_.outside_bytes_max) return fail("Too much follows the final boundary.");
                return event::need_more;
            case state::failed: return error(errc::invalid_multipart);
        }
    }
}

bool multipart_parser::scan(std::span<const std::byte>& input) {
    data_ = {};
    while (data_.empty()) {
        if (matched_ == delimiter_.size()) {
            matched_ = supposed_ = 0;
            padding_bytes_ = 0;
            last_after_boundary_ = 0;
            state_ = state::after_boundary;
            return true;
        }
        if (input.empty()) return false;
        if (matched_ > 0)
            scan_held(input);
        else
            scan_fresh(input);
    }
    return true;
}

// The last piece ended with the beginning of a delimiter: it goes on here, or that beginning was data. The delimiter has its
// only CR at its start, so no other match can begin inside the part that matched.
void multipart_parser::scan_held(std::span<const std::byte>& input) {
    const std::string_view expected = std::string_view(delimiter_).substr(matched_, input.size());
    const std::string_view seen = text_of(input.first(expected.size()));
    const auto equal = static_cast<std::size_t>(std::mismatch(seen.begin(), seen.end(), expected.begin()).first - seen.begin());
    matched_ += equal;
    input = input.subspan(equal);
    if (equal == expected.size()) return;
    // Those bytes are gone from the input, but they are the delimiter's own.
    data_ = std::as_bytes(std::span(delimiter_)).subspan(supposed_, std::max(matched_, supposed_) - supposed_);
    matched_ = supposed_ = 0;
}

void multipart_parser::scan_fresh(std::span<const std::byte>& input) {
    if (const std::byte* at = find_delimiter(input, delimiter_)) {
        const auto before = static_cast<std::size_t>(at - input.data());
        data_ = input.first(before);
        input = input.subspan(before + delimiter_.size());
        matched_ = delimiter_.size();
        return;
    }
    const auto tail = input.last(std::min(input.size(), delimiter_.size() - 1));
    if (const void* at = ::memrchr(tail.data(), '\r', tail.size())) {
        const auto held = static_cast<std::size_t>(tail.data() + tail.size() - static_cast<const std::byte*>(at));
        if (std::memcmp(at, delimiter_.data(), held) == 0) matched_ = held;
    }
    data_ = input.first(input.size() - matched_);
    input = {};
}

// After a delimiter: "--" ends the form, blanks are padding, a line break begins a part.
result<multipart_parser::event> multipart_parser::read_after_boundary(std::span<const std::byte>& input) {
    const char byte = static_cast<char>(input.front());
    input = input.subspan(1);
    if (last_after_boundary_ == '-') {
        if (byte != '-') return fail("A boundary is followed by other characters.");
        state_ = state::epilogue;
        return event::end;
    }
    if (last_after_boundary_ == '\r') {
        if (byte != '\n') return fail("A boundary's line does not end with CRLF.");
        state_ = state::head;
        block_.clear();
        line_begin_ = 0;
        return event::need_more;
    }
    if (byte == ' ' || byte == '\t') {
        if (++padding_bytes_ > limits_.part_head_bytes_max) return fail("A part's head is too long.");
        return event::need_more;
    }
    const bool known = byte == '\r' || (byte == '-' && padding_bytes_ == 0);
    if (!known) return fail("A boundary is followed by other characters.");
    last_after_boundary_ = byte;
    return event::need_more;
}

// Collects lines until an empty one.
result<multipart_parser::event> multipart_parser::read_head(std::span<const std::byte>& input) {
    const void* at = std::memchr(input.data(), '\n', input.size());
    const std::size_t length =
        at == nullptr ? input.size() : static_cast<std::size_t>(static_cast<const std::byte*>(at) - input.data()) + 1;
    if (length > limits_.part_head_bytes_max - std::min(limits_.part_head_bytes_max, padding_bytes_ + block_.size()))
        return fail("A part's head is too long.");
    block_.append(text_of(input.first(length)));
    input = input.subspan(length);
    if (at == nullptr) return event::need_more;
    const std::string_view line = std::string_view(block_).substr(line_begin_);
    if (!line.ends_with("\r\n")) return fail("A line of a part's head does not end with CRLF.");
    line_begin_ = block_.size();
    if (line.size() > 2) return event::need_more;
    block_.resize(block_.size() - 2);
    return begin_part();
}

result<multipart_parser::event> multipart_parser::begin_part() {
    if (++parts_ > limits_.parts_max) return fail("The form has too many parts.");
    auto head = part_head_of(block_);
    if (!head) {
        state_ = state::failed;
        return head.error();
    }
    head_ = std::move(*head);
    state_ = state::body;
    // The empty line's break may be the delimiter's as well (a part without a body).
    matched_ = supposed_ = 2;
    return event::part;
}

result<void> multipart_parser::finish() const {
    if (state_ == state::epilogue) return {};
    const bool nothing = state_ == state::preamble && outside_bytes_ == 0 && matched_ == supposed_;
    return error(errc::invalid_multipart, nothing ? "The body is empty." : "The body ends without its final boundary.");
}

}  // namespace hearonce::http
