// The framing checks.
//
// Next file: request_parser.cpp.
#include <hearonce/ascii.hpp>
#include <server/framing.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <string>

namespace hearonce::server {

namespace {

using ascii::equal_in_any_case;
using ascii::is_digit;
using ascii::is_letter_or_digit;
using ascii::without_blanks;

// RFC 9110 section 5.6.2
constexpr bool is_token(char c) noexcept {
    return is_letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// Control characters but TAB have no place in a head; TAB, obs-text (0x80 and above) and blanks may stand in values.
bool has_control(std::string_view line) noexcept {
    return std::ranges::any_of(line, [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

// Host and port as a URI writes them, loosely: enough that nothing else can hide in it (RFC 9110 section 7.2).
bool is_authority(std::string_view text) noexcept {
    return std::ranges::all_of(
        text, [](char c) { return is_letter_or_digit(c) || std::string_view("-._~%!$&'()*+;=:[]").find(c) != std::string_view::npos; });
}

void replace_host(http::request_head& head, std::string_view authority) {
    for (auto& field : head.headers) {
        if (equal_in_any_case(field.name, "host")) field.value = std::string(authority);
    }
}

std::optional<error> invalid(const char* why) {
    return error(errc::invalid_http, why);
}

}  // namespace

head_scan::state head_scan::fail(errc why) noexcept {
    failure_ = why;
    return state::failed;
}

head_scan::state head_scan::take_line(std::string_view line) noexcept {
    if (has_control(line)) return fail(errc::invalid_http);
    if (lines_ == 0) {
        auto first = line.find(' ');
        auto last = line.rfind(' ');
        if (first == std::string_view::npos || last == first) return fail(errc::invalid_http);
        if (last - first - 1 > limits_.target_bytes_max) return fail(errc::header_too_large);
    } else if (line.front() == ' ' || line.front() == '\t') {
        return fail(errc::invalid_http);
    } else if (lines_ > limits_.headers_max) {
        return fail(errc::header_too_large);
    }
    ++lines_;
    return state::more;
}

head_scan::state head_scan::resume(std::string_view bytes) noexcept {
    assert(bytes.size() >= scanned_);
    if (scanned_ == 0 && !bytes.empty() && !is_token(bytes.front())) return fail(errc::invalid_http);
    for (;;) {
        auto end = bytes.find('\n', scanned_);
        if (end == std::string_view::npos) break;
        scanned_ = end + 1;
        if (scanned_ > limits_.bytes_max) return fail(errc::header_too_large);
        if (end == line_begin_ || bytes[end - 1] != '\r') return fail(errc::invalid_http);
        auto line = bytes.substr(line_begin_, end - 1 - line_begin_);
        line_begin_ = scanned_;
        if (line.empty()) return lines_ == 0 ? fail(errc::invalid_http) : state::complete;
        if (take_line(line) == state::failed) return state::failed;
    }
    scanned_ = bytes.size();
    // The blank line is still to come, so at the limit there is no room for it.
    if (bytes.size() >= limits_.bytes_max) return fail(errc::header_too_large);
    return state::more;
}

bool read_target(std::string_view target, http::request_head& head) {
    if (target.empty() || !std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7f && c != '#'; })) return false;
    if (target == "*" && head.method == "OPTIONS") {
        head.path = "*";
        return true;
    }
    for (std::string_view scheme : {"http://", "https://"}) {
        if (!equal_in_any_case(target.substr(0, scheme.size()), scheme)) continue;
        target.remove_prefix(scheme.size());
        auto authority = target.substr(0, target.find_first_of("/?"));
        if (authority.empty() || !is_authority(authority)) return false;
        replace_host(head, authority);
        target.remove_prefix(authority.size());
        head.path = "/";  // An empty path is the root.
        if (target.empty()) return true;
        if (target.front() == '?') {
            head.query = std::string(target.substr(1));
            return true;
        }
        break;
    }
    if (target.front() != '/') return false;
    auto mark = target.find('?');
    head.path = std::string(target.substr(0, mark));
    head.query = mark == std::string_view::npos ? std::string() : std::string(target.substr(mark + 1));
    return true;
}

std::optional<error> check_framing(http::request_head& head) {
    auto hosts = head.count("host");
    if (hosts > 1 || (hosts == 0 && head.version == 11)) return invalid("A request needs exactly one Host header.");
    if (hosts == 1 && !is_authority(*head.find("host"))) return invalid("The Host header is not a host name.");

    auto encodings = head.count("transfer-encoding");
    auto lengths = head.count("content-length");
    head.chunked = false;
    head.content_length.reset();
    if (encodings > 0) {
        if (head.version == 10) return invalid("HTTP/1.0 has no Transfer-Encoding.");
        if (lengths > 0) return invalid("Content-Length and Transfer-Encoding exclude each other.");
        if (encodings > 1 || !equal_in_any_case(*head.find("transfer-encoding"), "chunked"))
            return invalid("The only Transfer-Encoding is chunked.");
        head.chunked = true;
    }
    if (lengths > 0) {
        auto text = *head.find("content-length");
        std::uint64_t value = 0;
        auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
        bool digits = !text.empty() && std::ranges::all_of(text, is_digit);
        if (lengths > 1 || !digits || failed != std::errc()) return invalid("Content-Length must be one decimal number.");
        head.content_length = value;
    }
    return std::nullopt;
}

bool wants_keep_alive(const http::request_head& head) noexcept {
    bool keep = head.version == 11;
    for (const auto& field : head.headers) {
        if (!equal_in_any_case(field.name, "connection")) continue;
        std::string_view rest = field.value;
        while (!rest.empty()) {
            auto comma = std::min(rest.find(','), rest.size());
            auto option = without_blanks(rest.substr(0, comma));
            rest.remove_prefix(std::min(comma + 1, rest.size()));
            if (equal_in_any_case(option, "close")) return false;
            if (equal_in_any_case(option, "keep-alive")) keep = true;
        }
    }
    return keep;
}

expectation expectation_of(const http::request_head& head) noexcept {
    auto value = head.find("expect");
    if (!value || head.version == 10) return expectation::none;
    return head.count("expect") == 1 && equal_in_any_case(*value, "100-continue") ? expectation::go_on : expectation::unknown;
}

}  // namespace hearonce::server
