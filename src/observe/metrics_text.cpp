// GET /metrics: the contract's names over the sums, written by prometheus-cpp.
#include <observe/metrics_cell.hpp>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>

namespace hearonce::observe {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily family(std::string name, std::string help, MetricType type) {
    MetricFamily out;
    out.name = std::move(name);
    out.help = std::move(help);
    out.type = type;
    return out;
}

using labels = std::vector<ClientMetric::Label>;

ClientMetric counted(labels of, double value) {
    ClientMetric out;
    out.label = std::move(of);
    out.counter.value = value;
    return out;
}

ClientMetric gauged(double value) {
    ClientMetric out;
    out.gauge.value = value;
    return out;
}

// One histogram summed over all cells; `pick` finds it in a cell.
template <class Cells, class Pick>
ClientMetric histogram(labels of, const Cells& cells, Pick pick) {
    ClientMetric out;
    out.label = std::move(of);
    std::uint64_t below = 0;
    std::uint64_t nanoseconds = 0;
    for (std::size_t i = 0; i <= histogram_bounds_microseconds.size(); ++i) {
        for (const auto& one : cells) below += pick(*one).buckets[i].read();
        const bool last = i == histogram_bounds_microseconds.size();
        const double bound = last ? std::numeric_limits<double>::infinity() : static_cast<double>(histogram_bounds_microseconds[i]) / 1e6;
        out.histogram.bucket.push_back({below, bound});
    }
    for (const auto& one : cells) nanoseconds += pick(*one).nanoseconds.read();
    out.histogram.sample_count = below;
    out.histogram.sample_sum = static_cast<double>(nanoseconds) / 1e9;
    return out;
}

std::string status_text(std::size_t slot) {
    return slot < status_slots ? std::to_string(slot + 100) : std::string(call_end_names[slot - status_slots]);
}

template <class Cells, class Pick>
std::uint64_t summed(const Cells& cells, Pick pick) {
    std::uint64_t all = 0;
    for (const auto& one : cells) all += pick(*one).read();
    return all;
}

}  // namespace

void metrics::add_requests(std::vector<MetricFamily>& out) const {
    auto requests =
        family("hearonce_requests_total", "Requests answered, by route and HTTP status (499: the caller left first).", MetricType::Counter);
    auto seconds = family("hearonce_request_seconds", "From a request's head to the end of its answer.", MetricType::Histogram);
    for (std::size_t r = 0; r < route_names.size(); ++r) {
        const std::string name(route_names[r]);
        bool any = false;
        for (std::size_t slot = 0; slot < status_slots; ++slot) {
            const auto sum = summed(cells_, [&](const cell& one) -> const counter& { return one.requests[r][slot]; });
            if (sum == 0) continue;
            any = true;
            requests.metric.push_back(counted({{"route", name}, {"status", status_text(slot)}}, static_cast<double>(sum)));
        }
        if (!any) continue;
        seconds.metric.push_back(
            histogram({{"route", name}}, cells_, [&](const cell& one) -> const histogram_cell& { return one.request_seconds[r]; }));
    }
    out.push_back(std::move(requests));
    out.push_back(std::move(seconds));
}

void metrics::add_backends(std::vector<MetricFamily>& out) const {
    auto calls =
        family("hearonce_upstream_calls_total", "Calls to a backend and runs of an engine, by how they ended.", MetricType::Counter);
    auto seconds = family("hearonce_upstream_seconds", "How long those calls took.", MetricType::Histogram);
    auto audio = family("hearonce_audio_seconds_total", "Audio a backend has transcribed.", MetricType::Counter);
    for (std::size_t b = 0; b < backends_.size(); ++b) {
        bool any = false;
        for (std::size_t slot = 0; slot < call_slots; ++slot) {
            const auto sum = summed(cells_, [&](const cell& one) -> const counter& { return one.backends[b].calls[slot]; });
            if (sum == 0) continue;
            any = true;
            calls.metric.push_back(counted({{"backend", backends_[b]}, {"status", status_text(slot)}}, static_cast<double>(sum)));
        }
        // A configured backend is shown from the start; "other" only if there is one.
        if (!any && b + 1 == backends_.size()) continue;
        const auto milliseconds = summed(cells_, [&](const cell& one) -> const counter& { return one.backends[b].audio_milliseconds; });
        seconds.metric.push_back(histogram({{"backend", backends_[b]}}, cells_,
                                           [&](const cell& one) -> const histogram_cell& { return one.backends[b].seconds; }));
        audio.metric.push_back(counted({{"backend", backends_[b]}}, static_cast<double>(milliseconds) / 1000));
    }
    out.push_back(std::move(calls));
    out.push_back(std::move(seconds));
    out.push_back(std::move(audio));
}

std::vector<MetricFamily> metrics::families() const {
    const totals now = sum();
    std::vector<MetricFamily> out;
    add_requests(out);
    auto work =
        family("hearonce_work_total", "Pieces of work, by how a caller came to them and how they ended badly.", MetricType::Counter);
    const auto outcome = [&work](std::string_view name, std::uint64_t count) {
        work.metric.push_back(counted({{"outcome", std::string(name)}}, static_cast<double>(count)));
    };
    outcome("led", now.work_led);
    outcome("joined", now.work_joined);
    outcome("hit", now.work_hit);
    outcome("failed", now.work_failed);
    outcome("cancelled", now.work_cancelled);
    out.push_back(std::move(work));
    add_backends(out);

    const auto single = [&out](std::string name, std::string help, MetricType type, double value) {
        auto one = family(std::move(name), std::move(help), type);
        one.metric.push_back(type == MetricType::Counter ? counted({}, value) : gauged(value));
        out.push_back(std::move(one));
    };
    const auto watched_value = [&](std::string name, std::string help, gauge which, MetricType type = MetricType::Gauge) {
        single(std::move(name), std::move(help), type, now.gauges[static_cast<std::size_t>(which)]);
    };
    single("hearonce_saved_upstream_calls_total", "Calls that joins and hits made unnecessary.", MetricType::Counter,
           static_cast<double>(now.saved_calls));
    single("hearonce_saved_audio_seconds_total", "Audio that was not transcribed again.", MetricType::Counter, now.saved_audio_seconds);
    watched_value("hearonce_work_in_flight", "Pieces of work running now.", gauge::work_in_flight);
    watched_value("hearonce_waiters", "Callers waiting on work now.", gauge::waiters);
    watched_value("hearonce_cache_bytes", "Size of the finished results kept.", gauge::cache_bytes);
    watched_value("hearonce_cache_entries", "Finished results kept.", gauge::cache_entries);
    watched_value("hearonce_audio_memory_bytes", "Audio in memory now, over all requests.", gauge::audio_memory_bytes);
    watched_value("hearonce_connections", "Client connections open now.", gauge::connections);
    watched_value("hearonce_whisper_queue", "Recordings waiting for the local engine.", gauge::whisper_queue);
    watched_value("hearonce_whisper_restarts_total", "Restarts of the local engine's process.", gauge::whisper_restarts,
                  MetricType::Counter);
    return out;
}

std::string metrics::prometheus_text() const {
    return prometheus::TextSerializer().Serialize(families());
}

}  // namespace hearonce::observe
