// What of an upstream's words may be told on: one line, bounded, and nothing in it that looks like a key.
//
// Holds: quoted_message(). Pure. Nothing follows.
#pragma once

#include <string>
#include <string_view>

namespace hearonce::cloud {

inline constexpr std::size_t message_bytes_max = 1024;

// `message` is valid UTF-8. Words that hold eight bytes or more of `key` in a row, that begin like keys or account names of
// providers or that were made illegible with asterisks become ***: upstreams quote the key they refuse, whole or in part,
// and name the operator's organisation.
std::string quoted_message(std::string_view message, std::string_view key);

}  // namespace hearonce::cloud
