// How a caller came to a transcript; said in Cache-Status, the access log and the metrics.
//
// Holds: came.
#pragma once

#include <cstdint>
#include <string_view>

namespace hearonce::observe {

enum class came : std::uint8_t {
    not_yet,  // No work was asked for, or it was refused before.
    led,      // This request started the work.
    joined,   // It waited on work in flight.
    hit,      // It found a finished success.
};

constexpr std::string_view name_of(came how) noexcept {
    switch (how) {
        case came::led: return "led";
        case came::joined: return "joined";
        case came::hit: return "hit";
        case came::not_yet: break;
    }
    return "-";
}

}  // namespace hearonce::observe
