// GET /v1/stats: the numbers the page shows, as JSON; and GET /metrics.
//
// Holds: stats_answer(), metrics_answer(). Next file: the page.
#pragma once

#include <http/exchange.hpp>
#include <http/models_answer.hpp>
#include <observe/metrics.hpp>

#include <chrono>
#include <span>

namespace hearonce::http {

// {"version","uptime_seconds","requests":{"total","ok"},"work":{"led","joined","hit","failed","cancelled","in_flight",
// "waiters"},"saved":{"upstream_calls","audio_seconds"},"cache":{"bytes","entries"},"audio_memory_bytes","connections",
// "whisper":{"queue","restarts"},"backends":[{"name","ready","reason","calls","calls_ok","audio_seconds","call_seconds"}]}
response stats_answer(const observe::totals& now, std::span<const listed_backend> backends, std::chrono::seconds uptime);

response metrics_answer(const observe::metrics& counted);

}  // namespace hearonce::http
