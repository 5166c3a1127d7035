// The framing checks: which heads are let in, before anyone acts on them. Two readers of one byte stream (a proxy and this
// gateway) must never see different requests in it, so everything ambiguous is refused (RFC 9112 sections 2.2, 3, 5, 6, 11.2).
//
// Holds: head_limits, head_scan, read_target(), check_framing(), wants_keep_alive(), expectation_of().
// Pure. Next file: request_parser.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <http/exchange.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hearonce::server {

struct head_limits {
    std::size_t bytes_max;
    std::size_t headers_max;
    std::size_t target_bytes_max;
};

// Finds the end of a head while it arrives, looking at every byte once. It refuses early what can never become a request:
// bare CR or LF, folded lines, control characters, a first byte that begins no method, too much of anything.
class head_scan {
public:
    enum class state : std::uint8_t { more, complete, failed };

    explicit head_scan(head_limits limits) noexcept : limits_(limits) {}

    // `bytes` is everything received of this head so far; each call sees at least what the one before saw.
    state resume(std::string_view bytes) noexcept;
    // Bytes of the head with its blank line; valid when complete.
    std::size_t size() const noexcept { return line_begin_; }
    // invalid_http or header_too_large; valid when failed.
    errc failure() const noexcept { return failure_; }
    void reset() noexcept { *this = head_scan(limits_); }

private:
    state fail(errc why) noexcept;
    // Looks at one line without its CRLF.
    state take_line(std::string_view line) noexcept;

    head_limits limits_;
    std::size_t line_begin_ = 0;
    std::size_t scanned_ = 0;
    std::size_t lines_ = 0;
    errc failure_ = errc::invalid_http;
};

// Splits a request target into path and query. Absolute form (RFC 9112 section 3.2.2) also replaces the Host header by the
// target's own authority, which is the one that counts. False: not a target this server takes.
bool read_target(std::string_view target, http::request_head& head);

// Reads how the body is framed into `content_length` and `chunked`, and checks Host. The error is invalid_http.
std::optional<error> check_framing(http::request_head& head);

// Whether the caller wants the connection kept (RFC 9112 section 9.3).
bool wants_keep_alive(const http::request_head& head) noexcept;

enum class expectation : std::uint8_t { none, go_on, unknown };
// What `Expect` asks; HTTP/1.0 asks nothing (RFC 9110 section 10.1.1).
expectation expectation_of(const http::request_head& head) noexcept;

}  // namespace hearonce::server
