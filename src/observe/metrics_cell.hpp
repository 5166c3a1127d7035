// Where one thread counts. Only metrics.cpp and metrics_text.cpp look in here.
//
// Holds: counter, histogram_cell, backend_cell, metrics::cell, metrics::watched.
#pragma once

#include <observe/metrics.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace hearonce::observe {

// Written by its thread, read by whoever sums. Relaxed: nothing else is ordered by it.
class counter {
public:
    void add(std::uint64_t amount) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
    std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_ = 0;
};

inline constexpr std::size_t status_slots = 500;             // HTTP's 100..599
inline constexpr std::size_t call_slots = status_slots + 4;  // ... and call_end
inline constexpr std::array<std::string_view, 4> call_end_names{"ok", "error", "timeout", "cancelled"};

// Upper bounds in microseconds: a hit takes a fraction of a millisecond, work as long as a deadline's cap allows.
inline constexpr std::array<std::int64_t, 17> histogram_bounds_microseconds{
    500,     1'000,     2'500,     5'000,     10'000,     25'000,     50'000,     100'000,    250'000,
    500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000, 30'000'000, 60'000'000, 120'000'000};

struct histogram_cell {
    std::array<counter, histogram_bounds_microseconds.size() + 1> buckets;  // Not cumulative; the last is +Inf.
    counter nanoseconds;

    void observe(std::chrono::nanoseconds took) noexcept {
        const std::int64_t shown = std::max<std::int64_t>(0, took.count());
        const auto& bounds = histogram_bounds_microseconds;
        // A bound belongs to its bucket, so what is a nanosecond longer does not.
        const auto bound = std::lower_bound(bounds.begin(), bounds.end(), (shown + 999) / 1000);
        buckets[static_cast<std::size_t>(bound - bounds.begin())].add(1);
        nanoseconds.add(static_cast<std::uint64_t>(shown));
    }
};

struct backend_cell {
    std::array<counter, call_slots> calls;
    histogram_cell seconds;
    counter audio_milliseconds;
};

// Aligned and of its own allocation, so that two loops never write to one cache line.
struct alignas(64) metrics::cell {
    explicit cell(std::size_t backend_count) : backends(backend_count) {}

    std::array<std::array<counter, status_slots>, route_names.size()> requests;
    std::array<histogram_cell, route_names.size()> request_seconds;
    counter led;
    counter joined;
    counter hit;
    counter failed;
    counter cancelled;
    counter saved_calls;
    counter saved_audio_milliseconds;
    std::vector<backend_cell> backends;
};

struct metrics::watched {
    gauge which;
    std::function<double()> value;
};

}  // namespace hearonce::observe
