// One request being answered, as everything above the wire sees it: no socket, no Beast.
//
// Holds: header, request_head, body_pieces, response, exchange, handler. The server implements exchange (src/server/connection.cpp);
// the router calls handlers with it. Next file: router.hpp.
#pragma once

#include <hearonce/deadline.hpp>
#include <hearonce/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::http {

struct header {
    std::string name;
    std::string value;
};

// The request line and headers, checked by src/server/framing.hpp before anyone sees them.
struct request_head {
    std::string method;                           // As sent; methods are case-sensitive (RFC 9110 section 9.1).
    std::string path;                             // Of the target, percent-encoding as sent, without the query.
    std::string query;                            // Without '?'.
    unsigned version = 11;                        // 10 or 11
    std::vector<header> headers;                  // In order, names as sent, values trimmed.
    std::optional<std::uint64_t> content_length;  // Absent: chunked or no body.
    bool chunked = false;
    boost::asio::ip::address peer;  // Of the socket.
    std::uint16_t peer_port = 0;
    bool tls = false;
    bool loopback = false;                        // The socket's peer is a loopback address.
    std::string request_id;                       // The caller's X-Request-Id if printable and <= 128 bytes, else made here.
    std::chrono::steady_clock::time_point began;  // When the head was complete.

    // Value of the first header of this name (any case); nullopt when there is none.
    std::optional<std::string_view> find(std::string_view name) const noexcept;
    // How many headers have this name.
    std::size_t count(std::string_view name) const noexcept;
};

// A body that is made while it is sent. Lives on the request's loop.
class body_pieces {
public:
    virtual ~body_pieces() = default;
    // The next piece, which may be long in coming; nullopt: the end.
    virtual boost::asio::awaitable<std::optional<std::string>> next() = 0;
    // The caller has left: a next() in progress ends soon.
    virtual void leave() = 0;
};

// What is to be sent. The server adds Date, Content-Length, Connection and X-Request-Id and cuts the body for HEAD.
struct response {
    std::uint16_t status = 200;
    std::vector<header> headers;              // Content-Type among them when there is a body.
    std::shared_ptr<const std::string> body;  // Shared, so that many waiters send one rendering; null = no body.
    std::shared_ptr<body_pieces> pieces;      // In place of `body`: sent through begin(), send() and finish() by the router.
    bool close = false;                       // End the connection after this answer.
};

// One request in the hands of its handler. Lives on one event loop; call everything from there. The handler must call
// respond(), begin() or abort() exactly once; returning without any makes the server answer 500.
class exchange {
public:
    virtual ~exchange() = default;

    virtual const request_head& head() const noexcept = 0;
    virtual boost::asio::any_io_executor executor() = 0;

    // The next piece of the body as it came off the wire (chunked framing removed, trailers dropped); an empty span is its
    // end. The bytes are valid until the next call of anything here. The first call answers `Expect: 100-continue`, so a handler that refuses
    // from the headers just does not call it. errc::body_cut: the body ended early or stalled, nobody reads an answer.
    // errc::invalid_http: its chunked framing is broken; an answer can still be sent.
    virtual boost::asio::awaitable<result<std::span<const std::byte>>> read_body() = 0;

    // Calls `left` once, on this loop, when the caller's connection ends while the handler waits; never after respond() or
    // finish(). Only to be used when the body has been read to its end. An empty function takes it back.
    virtual void on_left(std::function<void()> left) = 0;

    // Sends the answer. A body that was not read is drained within a bound and the connection closes. Whether the bytes
    // reached the caller is not told: there is nothing a handler could do about it.
    virtual boost::asio::awaitable<void> respond(response answer) = 0;

    // The answer in pieces (server-sent events): begin() once in place of respond(), `answer` without a body; send() for each
    // piece, which waits while the caller reads slowly; finish() once. errc::caller_left: the connection ended, stop sending
    // (finish() may then be left out). Returning between begin() and finish() cuts the connection, so that a cut answer is
    // never taken for a whole one.
    virtual boost::asio::awaitable<result<void>> begin(response answer) = 0;
    virtual boost::asio::awaitable<result<void>> send(std::string piece) = 0;
    virtual boost::asio::awaitable<result<void>> finish() = 0;

    // Ends the connection without an answer.
    virtual void abort() noexcept = 0;
};

// Answers one request.
using handler = std::function<boost::asio::awaitable<void>(exchange&)>;

}  // namespace hearonce::http
