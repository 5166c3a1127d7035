// The name of this machine to a gateway: random, made once, kept. A gateway joins and finds again only what one device sent.
//
// Holds: random_hex(), valid_device_id(), stored_device_id(). Next file: send.cpp.
#pragma once

#include <app/load_settings.hpp>
#include <app/private_file.hpp>

#include <string>
#include <string_view>

namespace hearonce::cli {

// `bytes` random bytes as lower-case hex.
std::string random_hex(std::size_t bytes);

// 1 to 128 printable ASCII characters, as X-Device-Id takes them.
bool valid_device_id(std::string_view id) noexcept;

// From $XDG_STATE_HOME/hearonce/device-id (else ~/.local/state), made there (0600) when it is missing or unusable.
boost::system::result<std::string, app::file_problem> stored_device_id(const app::environment& variables);

}  // namespace hearonce::cli
