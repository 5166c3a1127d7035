// The request's head as it goes over the wire (RFC 9112 sections 3 and 5). A pure function.
//
// Holds: request_head, head_of(). Next file: idle_connections.hpp (which connection takes it).
#pragma once

#include <net/one_call.hpp>

#include <string>

namespace hearonce::net {

struct request_head {
    std::string text;
    std::string refusal;  // Why it cannot be written: one line that names the header but not its value, which may be a secret.
};

// Refuses what would end a line early or change the message's framing: a method or header name that is no token, control
// characters in the target or a header's value, a Content-Length, Transfer-Encoding, Connection or Host of the caller's own.
request_head head_of(const call_request& request);

}  // namespace hearonce::net
