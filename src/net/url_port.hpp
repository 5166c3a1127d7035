// A second look at a URL's port: Boost.URL 1.81 wraps numbers above 65535 around and takes `http://a:x` for a path `x`.
//
// Holds: sound_port(). Next file: url.cpp.
#pragma once

#include <boost/url/url_view.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hearonce::net {

// The port, 0 when none is named; nullopt when what stands there is no port from 1 to 65535.
inline std::optional<std::uint16_t> sound_port(const boost::urls::url_view& url) {
    const std::string_view path(url.encoded_path().data(), url.encoded_path().size());
    if (!path.empty() && path.front() != '/') return std::nullopt;
    const std::string_view digits(url.port().data(), url.port().size());
    std::uint16_t port = 0;
    if (digits.empty()) return port;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    const bool whole = failure == std::errc() && end == digits.data() + digits.size();
    return whole && port != 0 ? std::optional(port) : std::nullopt;
}

}  // namespace hearonce::net
