// Where a call goes. Pure functions.
//
// Holds: http_url, parse_url(). Next file: one_call.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::net {

struct http_url {
    bool tls = false;
    std::string host;  // Name or address, IPv6 without brackets.
    std::uint16_t port = 80;
    std::string target = "/";  // Path and query, percent-encoded, never empty.

    // As the Host header names it (RFC 9110 section 7.2): brackets around IPv6, no port where it is the scheme's own.
    std::string authority() const;
};

// An absolute http or https URL without user, password and fragment (RFC 3986); nullopt for anything else.
std::optional<http_url> parse_url(std::string_view text);

}  // namespace hearonce::net
