// Next file: one_call.cpp.
#include <net/url.hpp>

#include <net/url_port.hpp>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

namespace hearonce::net {

std::string http_url::authority() const {
    const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return port == (tls ? 443 : 80) ? name : name + ":" + std::to_string(port);
}

std::optional<http_url> parse_url(std::string_view text) {
    const auto url = boost::urls::parse_uri(text);
    if (url.has_error() || url->has_userinfo() || url->has_fragment()) return std::nullopt;
    http_url parsed;
    parsed.tls = url->scheme_id() == boost::urls::scheme::https;
    if (!parsed.tls && url->scheme_id() != boost::urls::scheme::http) return std::nullopt;
    parsed.host = std::string(url->encoded_host());
    if (parsed.host.starts_with('[') && parsed.host.ends_with(']')) parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
    // A percent sign is a zone or an encoded name: neither can be resolved or checked against a certificate as it stands.
    if (parsed.host.empty() || parsed.host.find('%') != std::string::npos) return std::nullopt;
    parsed.port = parsed.tls ? 443 : 80;
    const auto port = sound_port(*url);
    if (!port) return std::nullopt;
    if (*port != 0) parsed.port = *port;
    const auto path = url->encoded_path();
    parsed.target = path.empty() ? std::string("/") : std::string(path.data(), path.size());
    if (url->has_query()) {
        const auto query = url->encoded_query();
        parsed.target += "?" + std::string(query.data(), query.size());
    }
    return parsed;
}

}  // namespace hearonce::net
