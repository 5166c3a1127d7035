// From a request to the endpoint that answers it: rules for browsers, the table of paths, credentials, and the access line.
//
// Holds: router. The server calls answer() for each request (src/server/connection.cpp); the endpoints are in
// transcriptions.hpp (the one that works), models_answer.hpp, health_answer.hpp and stats.hpp.
// Next file: transcriptions.hpp.
#pragma once

#include <http/exchange.hpp>
#include <http/services.hpp>

#include <boost/asio/awaitable.hpp>

namespace hearonce::http {

// Thread-safe: holds nothing but a reference to the parts.
class router {
public:
    explicit router(services& parts) : parts_(parts) {}

    // Answers one request and accounts for it. Throws only what an endpoint throws; the server turns that into a 500.
    boost::asio::awaitable<void> answer(exchange& request);

    // The answer to a request that the server refuses before any handler sees it (framing, drain), and its accounting.
    // `head` may be incomplete.
    response refuse(const error& why, const request_head& head) const;

    // One line of the table of paths; what it holds is router.cpp's affair.
    struct path_entry;

private:
    // Everything but the sending: an error is turned into its answer by answer() alone.
    boost::asio::awaitable<result<response>> decide(exchange& request, const path_entry* entry, access_notes& notes);

    services& parts_;
};

}  // namespace hearonce::http
