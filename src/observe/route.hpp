// The paths the gateway serves, as labels: a fixed set, so that nobody can grow the metrics by asking for new paths.
//
// Holds: route. Next file: metrics.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hearonce::observe {

enum class route : std::uint8_t { transcriptions, translations, models, live, ready, metrics, stats, page, openapi, other };

inline constexpr std::array<std::string_view, 10> route_names{"/v1/audio/transcriptions",
                                                              "/v1/audio/translations",
                                                              "/v1/models",
                                                              "/health/live",
                                                              "/health/ready",
                                                              "/metrics",
                                                              "/v1/stats",
                                                              "/",
                                                              "/openapi.json",
                                                              "other"};

constexpr std::string_view name_of(route which) noexcept {
    return route_names[static_cast<std::size_t>(which)];
}

}  // namespace hearonce::observe
