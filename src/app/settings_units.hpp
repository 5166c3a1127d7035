// Sizes, lengths of time and addresses as operators write them. Pure functions.
//
// Holds: parse_size(), parse_duration(), parse_endpoint(), parse_network() and their opposites. Next file: settings_codec.hpp.
#pragma once

#include <app/settings.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::app {

// "25MiB", "1.5GiB", "64 kB", "512B", "26214400". KiB, MiB, GiB, TiB count in 1024, kB, MB, GB, TB in 1000; case is free.
// nullopt: not a size, not a whole number of bytes, or more than 2^63-1.
std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;
// The largest unit of 1024 that divides it, else the number.
std::string show_size(std::uint64_t bytes);

// "500ms", "2s", "1.5s", "10m", "1h", "1d", "1h30m"; a number without a unit counts seconds. nullopt: not a length of
// time, not a whole number of milliseconds, or more than 100 years.
std::optional<milliseconds> parse_duration(std::string_view text) noexcept;
std::string show_duration(milliseconds length);

// "127.0.0.1:8080", "[::1]:8080", "localhost:8080" (the IPv4 loopback). Port 0 takes any free one.
std::optional<boost::asio::ip::tcp::endpoint> parse_endpoint(std::string_view text);
std::string show_endpoint(const boost::asio::ip::tcp::endpoint& endpoint);

// "10.0.0.0/8", "fd00::/8", "192.0.2.7". nullopt also when bits after the prefix are set.
std::optional<network> parse_network(std::string_view text);
std::string show_network(const network& range);

}  // namespace hearonce::app
