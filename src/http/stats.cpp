// The answers of /v1/stats and /metrics, from what observe/metrics.hpp has summed.
#include <http/error_response.hpp>
#include <http/stats.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cmath>

namespace hearonce::http {
namespace {

namespace json = boost::json;

// To milliseconds: sums of seconds carry noise that would fill the page with digits.
double tidy(double seconds) noexcept {
    return std::round(seconds * 1000) / 1000;
}

std::uint64_t whole(const observe::totals& now, observe::gauge which) noexcept {
    const double value = now.gauges[static_cast<std::size_t>(which)];
    return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

// What is configured, with what has been counted for it.
json::array backends_of(const observe::totals& now, std::span<const listed_backend> backends) {
    json::array list;
    for (const listed_backend& one : backends) {
        const auto counted =
            std::find_if(now.backends.begin(), now.backends.end(), [&](const auto& each) { return each.name == one.name; });
        const observe::totals::of_backend sums = counted == now.backends.end() ? observe::totals::of_backend{} : *counted;
        json::value reason = nullptr;
        if (!one.ready && !one.reason.empty()) reason = json::string(one.reason);
        list.push_back(json::object{{"name", one.name},
                                    {"ready", one.ready},
                                    {"reason", std::move(reason)},
                                    {"calls", sums.calls},
                                    {"calls_ok", sums.calls_ok},
                                    {"audio_seconds", tidy(sums.audio_seconds)},
                                    {"call_seconds", tidy(sums.call_seconds)}});
    }
    return list;
}

}  // namespace

response stats_answer(const observe::totals& now, std::span<const listed_backend> backends, std::chrono::seconds uptime) {
    using observe::gauge;
    const json::object stats{{"version", HEARONCE_VERSION},
                             {"uptime_seconds", uptime.count()},
                             {"requests", {{"total", now.requests}, {"ok", now.requests_ok}}},
                             {"work",
                              {{"led", now.work_led},
                               {"joined", now.work_joined},
                               {"hit", now.work_hit},
                               {"failed", now.work_failed},
                               {"cancelled", now.work_cancelled},
                               {"in_flight", whole(now, gauge::work_in_flight)},
                               {"waiters", whole(now, gauge::waiters)}}},
                             {"saved", {{"upstream_calls", now.saved_calls}, {"audio_seconds", tidy(now.saved_audio_seconds)}}},
                             {"cache", {{"bytes", whole(now, gauge::cache_bytes)}, {"entries", whole(now, gauge::cache_entries)}}},
                             {"audio_memory_bytes", whole(now, gauge::audio_memory_bytes)},
                             {"connections", whole(now, gauge::connections)},
                             {"whisper", {{"queue", whole(now, gauge::whisper_queue)}, {"restarts", whole(now, gauge::whisper_restarts)}}},
                             {"backends", backends_of(now, backends)}};
    return json_answer(200, json::serialize(stats));
}

response metrics_answer(const observe::metrics& counted) {
    response answer;
    answer.headers.push_back({"Content-Type", std::string(observe::metrics::prometheus_type)});
    answer.headers.push_back({"Cache-Control", "no-store"});
    answer.body = std::make_shared<const std::string>(counted.prometheus_text());
    return answer;
}

}  // namespace hearonce::http
