// One HTTP(S) request to another server and its answer, over a connection of its own or one that was kept.
//
// Holds: call_request, call_limits, http_answer, call_failure, call(). Next file: one_call.cpp (the order of the steps).
#pragma once

#include <hearonce/deadline.hpp>
#include <net/body_source.hpp>
#include <net/tls.hpp>
#include <net/url.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::net {

struct http_header {
    std::string name;
    std::string value;
};

struct http_answer {
    std::uint16_t status = 0;
    std::vector<http_header> headers;
    std::string body;  // Empty where the request had an `on_piece`.

    // Value of the first header of this name, any case.
    std::optional<std::string_view> find(std::string_view name) const noexcept;
    // Whether Content-Type names this media type, whatever its parameters (RFC 9110 section 8.3.1).
    bool is_of(std::string_view media_type) const noexcept;
};

// Is given the body of the final answer piece by piece as it arrives, with the answer's status and headers; never an empty
// piece, so never called for an answer without a body. Runs on the call's executor and must not block. False ends the call; so does
// an exception, which comes out of call().
using piece_sink = std::function<bool(const http_answer& head, std::string_view piece)>;

struct call_request {
    http_url url;
    std::string method = "GET";
    std::vector<http_header> headers;   // Host, Content-Length, Connection and User-Agent are added.
    std::shared_ptr<body_source> body;  // nullptr: none. Shared, as sending may outlast the call by an instant.
    tls_context tls;                    // Needed for https. Connections are kept for this very context.
    bool keep_alive = false;            // Take a kept connection of this event loop, and keep this one for the next call.
    piece_sink on_piece;                // Empty: the body is collected.
};

struct call_limits {
    deadline all = deadline::never();                              // The whole call.
    std::chrono::milliseconds connect = std::chrono::seconds(10);  // Name, connection and TLS handshake together.
    std::chrono::milliseconds stall = std::chrono::seconds(30);    // Sending without a byte taken.
    std::chrono::milliseconds silence = std::chrono::minutes(5);   // After the last byte sent, and between bytes received.
    std::chrono::milliseconds idle = std::chrono::seconds(30);     // How long the connection is kept; servers close after 60 s and more.
    std::uint64_t answer_bytes_max = 16ULL * 1024 * 1024;          // Of the body, collected or given in pieces.
};

// How far a call came; what may be tried again without the work being done twice depends on it.
enum class call_stage : std::uint8_t {
    connecting,  // Nothing was sent.
    sending,     // The body was not sent as a whole.
    waiting,     // All was sent, no byte of an answer came back: the work may be done.
    receiving,   // The answer had begun.
};

struct call_failure {
    call_stage stage = call_stage::connecting;
    bool fresh = true;  // The connection was made for this call (or was being made), so what failed is the peer, not its age.
    bool timed_out = false;
    bool cancelled = false;     // By whoever called.
    bool body_failed = false;   // The body could not be read: the caller's own matter.
    bool unsendable = false;    // The request cannot be written as HTTP (a line break in a header): the caller's own matter.
    bool distrusted = false;    // The peer's certificate: trying again changes nothing.
    bool sink_stopped = false;  // `on_piece` wanted no more.
    std::string message;        // One line: what was tried and what happened.
};
[[noreturn]] void throw_exception_from_error(const call_failure& why, const boost::source_location& where);

using call_result = boost::system::result<http_answer, call_failure>;

// Runs on the calling coroutine's executor, which must be one thread's. Every status is an answer. An answer that comes
// before the body was sent as a whole ends the sending. Cancelling (terminal) closes the connection and ends with
// `cancelled`. Redirects are not followed: a key must not travel to another host. A kept connection that fails before a byte
// of the answer came is an old one the peer had given up; the call is then made once more over a fresh one (RFC 9112
// section 9.3.1), the body rewound.
boost::asio::awaitable<call_result> call(call_request request, call_limits limits);

// Ends the kept connections of an event loop, whose waits would keep run() from returning by itself. On the loop's thread.
void close_idle_connections(boost::asio::execution_context& loop);

}  // namespace hearonce::net
