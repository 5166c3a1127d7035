// Writes multipart bodies as clients do, and reads them back through the parser.
//
// Holds: form_body, parsed_part, parse(). Used by the tests of this folder.
#pragma once

#include <http/multipart.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::test {

inline std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

// A body with one boundary; parts are added in order.
class form_body {
public:
    explicit form_body(std::string boundary = "----formdata-undici-064824851295") : boundary_(std::move(boundary)) {}

    // A part with these header lines (each without its line break) and this body.
    form_body& part(std::vector<std::string> headers, std::string_view body) {
        text_ += "--" + boundary_ + "\r\n";
        for (const std::string& line : headers) text_ += line + "\r\n";
        text_ += "\r\n";
        text_ += body;
        text_ += "\r\n";
        return *this;
    }
    form_body& field(std::string_view name, std::string_view value) {
        return part({"Content-Disposition: form-data; name=\"" + std::string(name) + "\""}, value);
    }
    form_body& file(std::string_view name, std::string_view file_name, std::string_view type, std::string_view value) {
        return part({"Content-Disposition: form-data; name=\"" + std::string(name) + "\"; filename=\"" + std::string(file_name) + "\"",
                     "Content-Type: " + std::string(type)},
                    value);
    }

    const std::string& boundary() const { return boundary_; }
    // Without its final boundary.
    const std::string& open() const { return text_; }
    std::string closed() const { return text_ + "--" + boundary_ + "--\r\n"; }

private:
    std::string boundary_;
    std::string text_;
};

struct parsed_part {
    http::part_head head;
    std::string body;
    bool complete = false;
};

struct parsed {
    std::vector<parsed_part> parts;
    std::optional<error> failure;
    std::size_t data_events = 0;
    std::vector<const std::byte*> data_at;  // Where each span of data pointed.
};

// Feeds `pieces` in order, then ends the body.
inline parsed parse_pieces(std::string_view boundary, const std::vector<std::string_view>& pieces, http::multipart_limits limits = {}) {
    using event = http::multipart_parser::event;
    http::multipart_parser parser(boundary, limits);
    parsed out;
    for (const std::string_view piece : pieces) {
        auto input = bytes_of(piece);
        for (;;) {
            const auto next = parser.next(input);
            if (!next) {
                out.failure = next.error();
                return out;
            }
            if (*next == event::need_more) break;
            if (*next == event::part) out.parts.push_back({parser.head(), {}, false});
            if (*next == event::part_end) out.parts.back().complete = true;
            if (*next == event::data) {
                ++out.data_events;
                out.data_at.push_back(parser.data().data());
                out.parts.back().body.append(reinterpret_cast<const char*>(parser.data().data()), parser.data().size());
            }
        }
    }
    if (auto ended = parser.finish(); !ended) out.failure = ended.error();
    return out;
}

inline parsed parse(std::string_view boundary, std::string_view body, http::multipart_limits limits = {}) {
    return parse_pieces(boundary, {body}, limits);
}

}  // namespace hearonce::test
