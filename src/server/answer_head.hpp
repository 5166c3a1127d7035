// The head of an answer as bytes.
//
// Holds: answer_framing, write_answer_head(). Pure. Next file: connection.cpp.
#pragma once

#include <http/exchange.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::server {

struct answer_framing {
    unsigned version = 11;  // Of the request.
    bool keep_alive = true;
    std::optional<std::uint64_t> content_length{};  // Absent: chunked, or to the connection's end for HTTP/1.0.
    bool chunked = false;
    std::string_view request_id{};
    std::string_view date{};  // IMF-fixdate
};

// 1xx, 204 and 304 have neither body nor length (RFC 9110 section 6.4.1).
constexpr bool has_no_body(std::uint16_t status) noexcept {
    return status < 200 || status == 204 || status == 304;
}

// Appends status line, the server's own headers, the answer's and the blank line. Headers of the answer that are the server's
// (Date, Content-Length, Transfer-Encoding, Connection, X-Request-Id), and such as would break the framing, are left out.
void write_answer_head(std::string& out, const http::response& answer, const answer_framing& how);

}  // namespace hearonce::server
