// How many files the process may have open, and what that leaves for connections.
//
// Holds: connections_within(), raise_descriptor_limit(). Next file: listener.hpp.
#pragma once

#include <cstddef>

namespace hearonce::server {

// A connection can need its own descriptor, one for a spilled recording and one towards the upstream's; the rest of the gateway
// needs some as well.
inline constexpr std::size_t descriptors_per_connection = 3;
inline constexpr std::size_t descriptors_reserved = 128;

// How many of `wanted` connections fit into `descriptors` open files; at least 1. Pure.
constexpr std::size_t connections_within(std::size_t descriptors, std::size_t wanted) noexcept {
    auto usable = descriptors > descriptors_reserved ? descriptors - descriptors_reserved : 0;
    auto fit = usable / descriptors_per_connection;
    if (fit < 1) fit = 1;
    return fit < wanted ? fit : wanted;
}

constexpr std::size_t descriptors_for(std::size_t connections) noexcept {
    return connections * descriptors_per_connection + descriptors_reserved;
}

// Raises the soft limit of open files to `wanted` where the hard limit allows; never lowers it. What is in force then.
std::size_t raise_descriptor_limit(std::size_t wanted) noexcept;

}  // namespace hearonce::server
