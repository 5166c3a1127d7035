// The head of an answer as bytes.
//
// Next file: connection.cpp.
#include <hearonce/ascii.hpp>
#include <server/answer_head.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace hearonce::server {

namespace {

std::string_view reason_of(std::uint16_t status) noexcept {
    switch (status) {
        case 200: return "OK";
        case 204: return "No Content";
        case 206: return "Partial Content";
        case 301: return "Moved Permanently";
        case 302: return "Found";
        case 304: return "Not Modified";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 413: return "Content Too Large";
        case 415: return "Unsupported Media Type";
        case 417: return "Expectation Failed";
        case 422: return "Unprocessable Content";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 502: return "Bad Gateway";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        default: return "";  // The phrase is optional (RFC 9112 section 4); the blank before it is not.
    }
}

bool is_the_servers(std::string_view name) noexcept {
    static constexpr std::array<std::string_view, 5> own = {"date", "content-length", "transfer-encoding", "connection", "x-request-id"};
    return std::ranges::any_of(own, [name](std::string_view one) { return ascii::equal_in_any_case(one, name); });
}

// A line break in a value would begin a header or an answer of somebody else's making.
bool breaks_framing(const http::header& field) noexcept {
    auto control = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
    return field.name.empty() || field.name.find(':') != std::string::npos || std::ranges::any_of(field.name, control) ||
           std::ranges::any_of(field.value, control);
}

void append_number(std::string& out, std::uint64_t number) {
    std::array<char, 20> digits;
    auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    out.append(digits.data(), end);
}

}  // namespace

void write_answer_head(std::string& out, const http::response& answer, const answer_framing& how) {
    out.append("HTTP/1.1 ");
    append_number(out, answer.status);
    out.append(" ").append(reason_of(answer.status));
    out.append("\r\nDate: ").append(how.date);
    if (how.content_length) {
        out.append("\r\nContent-Length: ");
        append_number(out, *how.content_length);
    } else if (how.chunked) {
        out.append("\r\nTransfer-Encoding: chunked");
    }
    if (!how.keep_alive) {
        out.append("\r\nConnection: close");
    } else if (how.version == 10) {
        out.append("\r\nConnection: keep-alive");
    }
    out.append("\r\nX-Request-Id: ").append(how.request_id).append("\r\n");
    for (const auto& field : answer.headers) {
        if (is_the_servers(field.name) || breaks_framing(field)) continue;
        out.append(field.name).append(": ").append(field.value).append("\r\n");
    }
    out.append("\r\n");
}

}  // namespace hearonce::server
