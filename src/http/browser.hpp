// What keeps foreign web pages away from the gateway and lets allowed ones in: Origin, Host, preflight, CORS.
//
// Holds: browser_rules, check_host(), check_origin(), is_preflight(), preflight_answer(), add_cors(). Pure. Ask in this order:
// check_host, check_origin, then is_preflight, all before a credential is looked at. Next file: identity.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <http/exchange.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace hearonce::http {

// The exposed headers of every answer to a page of another origin.
inline constexpr std::string_view exposed_headers = "X-Request-Id, X-Audio-Sha256, Cache-Status, Server-Timing, Retry-After";

struct browser_rules {
    bool open = true;                       // auth.mode = "open": no credential stands between a page and the gateway.
    std::vector<std::string> cors_origins;  // Serialised origins ("https://app.example"), "null", or "*" for every origin.
    std::vector<std::string> host_names;    // server.host_names, without port.
};

// A name without port, trailing dot and case: "LocalHost.:8080" → "localhost", "[::1]:80" → "[::1]". Empty when malformed.
std::string host_name_of(std::string_view host_header);

// DNS rebinding: in open mode a request from loopback must name localhost, an IP literal or one of host_names.
// errc::host_not_allowed otherwise.
result<void> check_host(const request_head& head, const browser_rules& rules);

// A request with Origin must come from a page of this gateway (Host's own origin, or the browser says
// `Sec-Fetch-Site: same-origin`) or of a listed origin. errc::origin_not_allowed otherwise. No Origin: allowed.
// Behind a proxy that ends TLS the scheme is not known here, so only a plain page of a TLS gateway counts as foreign.
result<void> check_origin(const request_head& head, const browser_rules& rules);

// OPTIONS with Access-Control-Request-Method: a browser asks before the real request. Needs no credential.
bool is_preflight(const request_head& head) noexcept;

// 204 that allows `methods` ("GET, POST") and the headers asked for, already with CORS headers; call after check_origin.
response preflight_answer(const request_head& head, const browser_rules& rules, std::string_view methods);

// Adds Access-Control-Allow-Origin, -Expose-Headers and Vary to any answer, errors included, as the caller's Origin merits.
// To an origin that is not allowed only Vary is said. An answer that has them already is left as it is.
void add_cors(response& answer, const request_head& head, const browser_rules& rules);

}  // namespace hearonce::http
