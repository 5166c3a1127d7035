// The HTTP server: listens, speaks HTTP/1.1 and TLS, and gives each request to one handler.
//
// Holds: refusal_renderer, server. A request's way: listener.hpp (accept) -> connection.hpp (head, handler, answer) -> the handler.
// Next file: settings.hpp; then listener.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <http/exchange.hpp>
#include <server/settings.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hearonce::server {

// Renders an answer that the server gives by itself: a head it does not let in, a request that comes during a drain, a handler
// that failed. `head` is as far as it was understood; method, path and headers may be empty. Called once for each such answer.
using refusal_renderer = std::function<http::response(const error& why, const http::request_head& head)>;

// All functions may be called from any thread, but construct, start and destroy it from one. It neither runs nor ends the
// loops, and must be destroyed before they are. Each loop is run by at most one thread.
class server {
public:
    // Binds every address, so a port in use is found before anything else starts; accepts nobody yet. The first loop does the
    // accepting. `handler` and `refusals` are called on every loop. Without `refusals`, http::error_response() renders them.
    // Throws setup_error.
    server(settings how, std::span<boost::asio::io_context* const> loops, http::handler handler, refusal_renderer refusals = {});
    // Closes what is still open. After a drain() that has ended there is nothing.
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    // Begins to accept.
    void start();

    // Where it listens, with real port numbers.
    std::vector<boost::asio::ip::tcp::endpoint> local_endpoints() const;
    // The limit that is kept: settings::connections_max, or less where the process may not open so many files.
    std::size_t connections_max() const noexcept;

    // Reads certificate and key again; new connections get them. Empty: done, else the sentence why the old ones stay.
    std::string reload_certificate();

    // Ends in good order. It goes on listening while requests begun before are answered with `Connection: close`; later ones,
    // on new connections as on old ones, get 503 `draining`, and who asks nothing for a second is closed. When no request begun
    // before is left, whoever the kernel has accepted is refused in the same way and the listeners and the rest close, which
    // takes two seconds at most. What is still there after `limit` is closed hard; limit 0 closes everything at once. `done` is
    // called once, on the first loop, when the last connection has ended, or a little after the hard close if a handler will
    // not end. A second call can only shorten the limit; its `done` is called as well.
    void drain(std::chrono::milliseconds limit, std::function<void()> done);
    bool draining() const noexcept;

    std::size_t connections() const noexcept;       // Open now.
    std::uint64_t accepted_total() const noexcept;  // Since the start.

private:
    class impl;
    std::shared_ptr<impl> impl_;
};

}  // namespace hearonce::server
