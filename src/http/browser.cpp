// Names are compared in one normal form: lower case, no default port, no trailing dot.
#include <hearonce/ascii.hpp>
#include <http/browser.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace hearonce::http {
namespace {

constexpr std::string_view allow_origin = "Access-Control-Allow-Origin";

struct authority {
    std::string name;                   // Normal form; IPv6 in brackets.
    std::optional<std::uint16_t> port;  // Absent: the scheme's.
};

std::optional<std::uint16_t> port_of(std::string_view digits) noexcept {
    std::uint16_t port = 0;
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (wrong != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return port;
}

// host[:port] as in Host and Origin (RFC 9110 section 7.2, RFC 3986 section 3.2); nullopt: malformed.
std::optional<authority> authority_of(std::string_view text) {
    std::string_view name = text;
    std::string_view rest;
    if (text.starts_with('[')) {
        const auto close = text.find(']');
        if (close == std::string_view::npos) return std::nullopt;
        name = text.substr(0, close + 1);
        rest = text.substr(close + 1);
    } else if (const auto colon = text.find(':'); colon != std::string_view::npos) {
        name = text.substr(0, colon);
        rest = text.substr(colon);
    }
    authority found;
    if (!rest.empty()) {
        if (rest.front() != ':') return std::nullopt;
        rest.remove_prefix(1);
        if (!rest.empty()) {
            found.port = port_of(rest);
            if (!found.port) return std::nullopt;
        }
    }
    if (name.ends_with('.')) name.remove_suffix(1);
    if (name.empty() || name.find_first_of("@/\\ \t,") != std::string_view::npos) return std::nullopt;
    found.name = ascii::lowered(name);
    return found;
}

bool is_ip_literal(std::string_view name) {
    boost::system::error_code wrong;
    if (name.starts_with('[') && name.ends_with(']')) {
        const std::string inside(name.substr(1, name.size() - 2));
        if (inside.find('%') != std::string::npos) return false;  // A zone names one of the caller's own interfaces.
        boost::asio::ip::make_address_v6(inside, wrong);
        return !wrong;
    }
    boost::asio::ip::make_address_v4(std::string(name), wrong);
    return !wrong;
}

struct web_origin {
    std::string scheme;
    authority host;
};

std::uint16_t default_port_of(std::string_view scheme) noexcept {
    return scheme == "https" ? 443 : scheme == "http" ? 80 : 0;
}

// scheme://host[:port]; nullopt for `null`, `*` and anything malformed. A slash at the end, which a browser never sends but
// people write, is allowed.
std::optional<web_origin> origin_of(std::string_view text) {
    const auto at = text.find("://");
    if (at == std::string_view::npos || at == 0) return std::nullopt;
    std::string_view host = text.substr(at + 3);
    if (host.ends_with('/')) host.remove_suffix(1);
    auto parsed = authority_of(host);
    if (!parsed) return std::nullopt;
    return web_origin{ascii::lowered(text.substr(0, at)), std::move(*parsed)};
}

bool same_origin(const web_origin& a, const web_origin& b) {
    const std::uint16_t standard = default_port_of(a.scheme);
    return a.scheme == b.scheme && a.host.name == b.host.name && a.host.port.value_or(standard) == b.host.port.value_or(standard);
}

bool is_listed(std::string_view origin, const std::optional<web_origin>& parsed, const browser_rules& rules) {
    return std::any_of(rules.cors_origins.begin(), rules.cors_origins.end(), [&](const std::string& listed) {
        if (listed == "*" || listed == origin) return true;
        if (!parsed) return false;
        const auto wanted = origin_of(listed);
        return wanted && same_origin(*wanted, *parsed);
    });
}

// The page came from the very host and port the request goes to. What the scheme was outside a proxy is not known, so the
// port a host leaves out is that of the page's scheme.
bool is_own(const web_origin& page, const request_head& head) {
    if (page.scheme != "https" && (page.scheme != "http" || head.tls)) return false;
    const auto host = head.find("Host");
    if (!host || head.count("Host") != 1) return false;
    const auto mine = authority_of(*host);
    return mine && same_origin(page, {page.scheme, *mine});
}

bool is_allowed(std::string_view origin, const request_head& head, const browser_rules& rules) {
    if (head.count("Origin") != 1) return false;
    const auto parsed = origin_of(origin);
    if (parsed && is_own(*parsed, head)) return true;
    if (const auto site = head.find("Sec-Fetch-Site"); site && *site == "same-origin") return true;
    return is_listed(origin, parsed, rules);
}

// A list of header names as a browser sends it; anything else is not echoed.
bool is_name_list(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return ascii::is_letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~, \t").find(c) != std::string_view::npos;
    });
}

}  // namespace

std::string host_name_of(std::string_view host_header) {
    auto parsed = authority_of(host_header);
    return parsed ? std::move(parsed->name) : std::string();
}

result<void> check_host(const request_head& head, const browser_rules& rules) {
    if (!rules.open || !head.loopback) return {};
    const auto host = head.find("Host");
    if (!host || head.count("Host") != 1) return error(errc::host_not_allowed);
    const std::string name = host_name_of(*host);
    if (name == "localhost" || is_ip_literal(name)) return {};
    const bool listed = !name.empty() && std::any_of(rules.host_names.begin(), rules.host_names.end(),
                                                     [&](const std::string& one) { return host_name_of(one) == name; });
    if (listed) return {};
    return error(errc::host_not_allowed);
}

result<void> check_origin(const request_head& head, const browser_rules& rules) {
    const auto origin = head.find("Origin");
    if (!origin || is_allowed(*origin, head, rules)) return {};
    return error(errc::origin_not_allowed);
}

bool is_preflight(const request_head& head) noexcept {
    return head.method == "OPTIONS" && head.find("Origin") && head.find("Access-Control-Request-Method");
}

response preflight_answer(const request_head& head, const browser_rules& rules, std::string_view methods) {
    response answer;
    answer.status = 204;
    answer.headers.push_back({"Access-Control-Allow-Methods", std::string(methods)});
    if (const auto asked = head.find("Access-Control-Request-Headers"); asked && is_name_list(*asked)) {
        answer.headers.push_back({"Access-Control-Allow-Headers", std::string(*asked)});
    }
    if (const auto near = head.find("Access-Control-Request-Private-Network"); near && *near == "true") {
        answer.headers.push_back({"Access-Control-Allow-Private-Network", "true"});
    }
    answer.headers.push_back({"Access-Control-Max-Age", "600"});
    answer.headers.push_back({"Vary", "Access-Control-Request-Method, Access-Control-Request-Headers"});
    add_cors(answer, head, rules);
    return answer;
}

void add_cors(response& answer, const request_head& head, const browser_rules& rules) {
    // A second value of Allow-Origin would make browsers refuse the answer.
    const bool done = std::any_of(answer.headers.begin(), answer.headers.end(), [](const header& one) { return one.name == allow_origin; });
    if (done) return;
    const auto origin = head.find("Origin");
    if (origin || !rules.cors_origins.empty()) answer.headers.push_back({"Vary", "Origin"});
    if (!origin || !is_allowed(*origin, head, rules)) return;
    answer.headers.push_back({std::string(allow_origin), std::string(*origin)});
    answer.headers.push_back({"Access-Control-Expose-Headers", std::string(exposed_headers)});
}

}  // namespace hearonce::http
