// Whom an outbound TLS connection believes.
//
// Holds: make_tls_context(). Next file: connection.hpp.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <boost/system/result.hpp>

namespace hearonce::net {

using tls_context = std::shared_ptr<boost::asio::ssl::context>;

// TLS 1.2 and newer, peers verified against `ca_file` (PEM) alone, or the system's store without one. The error is one
// line for the operator. Made once and shared: reading the store takes milliseconds.
boost::system::result<tls_context, std::string> make_tls_context(const std::optional<std::filesystem::path>& ca_file = std::nullopt);

}  // namespace hearonce::net
