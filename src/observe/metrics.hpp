// What is counted: one function an event, called on the event loops; sums are made when somebody asks.
//
// Holds: metrics, gauge, watch, totals. Each thread adds to counters of its own (a cell), so loops never fight for a cache
// line; prometheus-cpp writes the text. Names and meanings are the contract's. Next file: metrics_cell.hpp; read by
// http/stats.cpp.
#pragma once

#include <observe/came.hpp>
#include <observe/route.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prometheus {
struct MetricFamily;
}

namespace hearonce::observe {

// What is read from its owner when somebody asks, not counted here.
enum class gauge : std::uint8_t {
    work_in_flight,
    waiters,
    cache_bytes,
    cache_entries,
    audio_memory_bytes,
    connections,
    whisper_queue,
    whisper_restarts,  // A counter to the outside: it must never go down while it is watched.
};
inline constexpr std::size_t gauge_count = 8;

// How a call to a backend ended, where HTTP has no code for it.
enum class call_end : std::uint8_t { ok, error, timeout, cancelled };

// All sums at one moment; each is exact, together they may be a few events apart.
struct totals {
    struct of_backend {
        std::string name;
        std::uint64_t calls = 0;
        std::uint64_t calls_ok = 0;  // 2xx and ok
        double audio_seconds = 0;
        double call_seconds = 0;  // Sum over the calls.
    };
    std::uint64_t requests = 0;
    std::uint64_t requests_ok = 0;  // 2xx
    std::uint64_t work_led = 0;
    std::uint64_t work_joined = 0;
    std::uint64_t work_hit = 0;
    std::uint64_t work_failed = 0;
    std::uint64_t work_cancelled = 0;
    std::uint64_t saved_calls = 0;
    double saved_audio_seconds = 0;
    std::array<double, gauge_count> gauges{};  // By gauge
    std::vector<of_backend> backends;
};

// Thread-safe. Events cost a few relaxed atomic additions, no lock, no allocation.
class metrics {
    struct cell;
    struct watched;

public:
    // `threads` event loops will add; more threads than that share cells. `backends` are the configured names; a call to any
    // other name is counted as "other".
    metrics(unsigned threads, std::vector<std::string> backends);
    ~metrics();
    metrics(const metrics&) = delete;
    metrics& operator=(const metrics&) = delete;

    // A request has been answered, or ended without an answer (status 0, counted as 499).
    void request(route which, std::uint16_t status, std::chrono::nanoseconds took) noexcept;

    // Work began: this caller leads.
    void work_led() noexcept;
    // A caller began to wait on work in flight, or found its result.
    void work_joined() noexcept;
    void work_hit() noexcept;
    // A joined or found result was served: one upstream call and this much audio were saved.
    void work_saved(double audio_seconds) noexcept;
    // Work ended without a result, in addition to its work_led().
    void work_failed() noexcept;
    void work_cancelled() noexcept;

    // One call to a backend or one run of an engine has ended. `audio_seconds`: what it transcribed; 0 when it failed.
    void upstream_call(std::string_view backend, std::uint16_t http_status, std::chrono::nanoseconds took, double audio_seconds) noexcept;
    void upstream_call(std::string_view backend, call_end end, std::chrono::nanoseconds took, double audio_seconds) noexcept;

    // Takes the watch back when destroyed; must not outlive the metrics.
    class watch {
    public:
        watch() = default;
        watch(metrics* of, std::list<watched>::iterator at) : of_(of), at_(at) {}
        watch(watch&& other) noexcept : of_(std::exchange(other.of_, nullptr)), at_(other.at_) {}
        watch& operator=(watch&& other) noexcept;
        ~watch() { end(); }
        // No call of the function runs any more once this has returned.
        void end() noexcept;

    private:
        metrics* of_ = nullptr;
        std::list<watched>::iterator at_{};
    };
    // Reads `value` at each scrape, from any thread, under a lock: it must be quick and must not call metrics. Several
    // watches of one gauge are summed (each loop has its connections).
    [[nodiscard]] watch watch_gauge(gauge which, std::function<double()> value);

    totals sum() const;
    // The body of GET /metrics, Prometheus text 0.0.4, and its type.
    std::string prometheus_text() const;
    static constexpr std::string_view prometheus_type = "text/plain; version=0.0.4; charset=utf-8";

private:
    std::vector<prometheus::MetricFamily> families() const;
    void add_requests(std::vector<prometheus::MetricFamily>& out) const;
    void add_backends(std::vector<prometheus::MetricFamily>& out) const;
    std::array<double, gauge_count> gauges() const;
    cell& mine() const noexcept;
    std::size_t index_of(std::string_view backend) const noexcept;
    void count_call(std::size_t backend, std::size_t status, std::chrono::nanoseconds took, double audio_seconds) noexcept;

    std::vector<std::string> backends_;  // The last one is "other".
    std::vector<std::unique_ptr<cell>> cells_;
    mutable std::mutex watched_guard_;
    std::list<watched> watched_;
};

}  // namespace hearonce::observe
