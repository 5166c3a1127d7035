// Counts come out under the contract's names, whoever counted them.
#include <observe/metrics.hpp>

#include <boost/test/unit_test.hpp>

#include <latch>
#include <set>
#include <sstream>
#include <thread>

using namespace hearonce::observe;
using namespace std::chrono_literals;

namespace {

// The value of a sample line, -1 when there is none.
double value_of(const std::string& text, const std::string& sample) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(sample + " ")) return std::stod(line.substr(sample.size() + 1));
    }
    return -1;
}

std::set<std::string> typed(const std::string& text) {
    std::set<std::string> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# TYPE ")) all.insert(line.substr(7));
    }
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(metrics_)

BOOST_AUTO_TEST_CASE(exactly_the_contracts_names) {
    const std::set<std::string> names{"hearonce_requests_total counter",
                                      "hearonce_request_seconds histogram",
                                      "hearonce_work_total counter",
                                      "hearonce_work_in_flight gauge",
                                      "hearonce_waiters gauge",
                                      "hearonce_upstream_calls_total counter",
                                      "hearonce_upstream_seconds histogram",
                                      "hearonce_audio_seconds_total counter",
                                      "hearonce_saved_upstream_calls_total counter",
                                      "hearonce_saved_audio_seconds_total counter",
                                      "hearonce_cache_bytes gauge",
                                      "hearonce_cache_entries gauge",
                                      "hearonce_audio_memory_bytes gauge",
                                      "hearonce_connections gauge",
                                      "hearonce_whisper_queue gauge",
                                      "hearonce_whisper_restarts_total counter"};
    BOOST_TEST((typed(metrics(1, {}).prometheus_text()) == names));
}

BOOST_AUTO_TEST_CASE(at_the_start_everything_is_zero) {
    const std::string text = metrics(2, {"local"}).prometheus_text();
    for (const char* outcome : {"led", "joined", "hit", "failed", "cancelled"}) {
        BOOST_TEST(value_of(text, std::string("hearonce_work_total{outcome=\"") + outcome + "\"}") == 0);
    }
    for (const char* name : {"saved_upstream_calls_total", "saved_audio_seconds_total", "work_in_flight", "waiters", "cache_bytes",
                             "cache_entries", "audio_memory_bytes", "connections", "whisper_queue", "whisper_restarts_total"}) {
        BOOST_TEST(value_of(text, std::string("hearonce_") + name) == 0);
    }
    BOOST_TEST(value_of(text, "hearonce_audio_seconds_total{backend=\"local\"}") == 0);
    BOOST_TEST(value_of(text, "hearonce_upstream_seconds_count{backend=\"local\"}") == 0);
    BOOST_TEST(text.find("other") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(requests) {
    metrics counted(1, {});
    counted.request(route::transcriptions, 200, 3ms);
    counted.request(route::transcriptions, 200, 5ms);
    counted.request(route::transcriptions, 0, 200s);
    counted.request(route::page, 99, 1ms);
    counted.request(route::page, 600, 1ms);
    counted.request(route::page, 599, 1ms);
    counted.request(route::page, 100, -1ms);
    const std::string text = counted.prometheus_text();
    BOOST_TEST(value_of(text, R"(hearonce_requests_total{route="/v1/audio/transcriptions",status="200"})") == 2);
    BOOST_TEST(value_of(text, R"(hearonce_requests_total{route="/v1/audio/transcriptions",status="499"})") == 1);
    BOOST_TEST(value_of(text, R"(hearonce_requests_total{route="/",status="499"})") == 2);
    BOOST_TEST(value_of(text, R"(hearonce_requests_total{route="/",status="599"})") == 1);
    BOOST_TEST(value_of(text, R"(hearonce_requests_total{route="/",status="100"})") == 1);
    BOOST_TEST(value_of(text, R"(hearonce_request_seconds_count{route="/v1/audio/transcriptions"})") == 3);
    BOOST_TEST(value_of(text, R"(hearonce_request_seconds_sum{route="/v1/audio/transcriptions"})") == 200.008);
    BOOST_TEST(counted.sum().requests == 7U);
    BOOST_TEST(counted.sum().requests_ok == 2U);
}

BOOST_AUTO_TEST_CASE(buckets_are_cumulative_and_include_their_bound) {
    metrics counted(1, {});
    for (const auto took : {std::chrono::nanoseconds(5ms), std::chrono::nanoseconds(5ms) - 1ns, std::chrono::nanoseconds(5ms) + 1ns,
                            std::chrono::nanoseconds(121s), 0ns}) {
        counted.request(route::live, 200, took);
    }
    const std::string text = counted.prometheus_text();
    const auto bucket = [&](const char* bound) {
        return value_of(text, std::string(R"(hearonce_request_seconds_bucket{route="/health/live",le=")") + bound + "\"}");
    };
    BOOST_TEST(bucket("0.0005") == 1);
    BOOST_TEST(bucket("0.0025") == 1);
    BOOST_TEST(bucket("0.005") == 3);
    BOOST_TEST(bucket("0.01") == 4);
    BOOST_TEST(bucket("120") == 4);
    BOOST_TEST(bucket("+Inf") == 5);
}

BOOST_AUTO_TEST_CASE(work) {
    metrics counted(1, {});
    counted.work_led();
    counted.work_led();
    counted.work_joined();
    counted.work_joined();
    counted.work_saved(2.5);
    counted.work_hit();
    counted.work_saved(1.5);
    counted.work_hit();
    counted.work_saved(-1);
    counted.work_failed();
    counted.work_cancelled();
    const std::string text = counted.prometheus_text();
    BOOST_TEST(value_of(text, R"(hearonce_work_total{outcome="led"})") == 2);
    BOOST_TEST(value_of(text, R"(hearonce_work_total{outcome="joined"})") == 2);
    BOOST_TEST(value_of(text, R"(hearonce_work_total{outcome="hit"})") == 2);
    BOOST_TEST(value_of(text, R"(hearonce_work_total{outcome="failed"})") == 1);
    BOOST_TEST(value_of(text, R"(hearonce_work_total{outcome="cancelled"})") == 1);
    BOOST_TEST(value_of(text, "hearonce_saved_upstream_calls_total") == 3);
    BOOST_TEST(value_of(text, "hearonce_saved_audio_seconds_total") == 4);
}

BOOST_AUTO_TEST_CASE(calls) {
    metrics counted(1, {"openai", "local"});
    counted.upstream_call("openai", 200, 1s, 10);
    counted.upstream_call("openai", 429, 1ms, 0);
    counted.upstream_call("openai", 0, 1ms, 0);
    counted.upstream_call("local", call_end::ok, 2s, 20);
    counted.upstream_call("local", call_end::timeout, 1ms, 0);
    counted.upstream_call("local", call_end::cancelled, 1ms, 0);
    counted.upstream_call("removed", call_end::error, 1ms, 0);
    const std::string text = counted.prometheus_text();
    const auto calls_of = [&](const char* backend, const char* status) {
        return value_of(text, std::string(R"(hearonce_upstream_calls_total{backend=")") + backend + R"(",status=")" + status + "\"}");
    };
    BOOST_TEST(calls_of("openai", "200") == 1);
    BOOST_TEST(calls_of("openai", "429") == 1);
    BOOST_TEST(calls_of("openai", "error") == 1);
    BOOST_TEST(calls_of("local", "ok") == 1);
    BOOST_TEST(calls_of("local", "timeout") == 1);
    BOOST_TEST(calls_of("local", "cancelled") == 1);
    BOOST_TEST(calls_of("other", "error") == 1);
    BOOST_TEST(value_of(text, R"(hearonce_audio_seconds_total{backend="openai"})") == 10);
    BOOST_TEST(value_of(text, R"(hearonce_upstream_seconds_count{backend="local"})") == 3);
    const totals sums = counted.sum();
    BOOST_REQUIRE(sums.backends.size() == 3U);
    BOOST_TEST(sums.backends[0].calls == 3U);
    BOOST_TEST(sums.backends[0].calls_ok == 1U);
    BOOST_TEST(sums.backends[1].audio_seconds == 20);
    BOOST_TEST(sums.backends[1].calls_ok == 1U);
}

// The names a caller can choose never become labels: whatever is asked, the text stays this small.
BOOST_AUTO_TEST_CASE(callers_cannot_grow_the_labels) {
    metrics counted(1, {"local"});
    for (int i = 0; i < 1000; ++i) counted.upstream_call("name" + std::to_string(i), 200, 1ms, 0);
    for (std::uint16_t status = 0; status < 1000; ++status) counted.request(route::other, status, 1ms);
    const std::string text = counted.prometheus_text();
    BOOST_TEST(text.find("name1") == std::string::npos);
    BOOST_TEST(std::count(text.begin(), text.end(), '\n') < 700);
}

BOOST_AUTO_TEST_CASE(gauges_are_read_when_asked_and_summed) {
    metrics counted(2, {});
    double first = 3;
    {
        const auto one = counted.watch_gauge(gauge::connections, [&] { return first; });
        const auto two = counted.watch_gauge(gauge::connections, [] { return 4; });
        const auto restarts = counted.watch_gauge(gauge::whisper_restarts, [] { return 2; });
        BOOST_TEST(value_of(counted.prometheus_text(), "hearonce_connections") == 7);
        BOOST_TEST(value_of(counted.prometheus_text(), "hearonce_whisper_restarts_total") == 2);
        first = 10;
        BOOST_TEST(value_of(counted.prometheus_text(), "hearonce_connections") == 14);
        BOOST_TEST(value_of(counted.prometheus_text(), "hearonce_waiters") == 0);
    }
    BOOST_TEST(value_of(counted.prometheus_text(), "hearonce_connections") == 0);
}

BOOST_AUTO_TEST_CASE(watches_move_and_end) {
    metrics counted(1, {});
    const auto connections = [&] { return counted.sum().gauges[static_cast<std::size_t>(gauge::connections)]; };
    metrics::watch kept;
    {
        auto made = counted.watch_gauge(gauge::connections, [] { return 1; });
        kept = std::move(made);
    }
    BOOST_TEST(connections() == 1);
    kept = counted.watch_gauge(gauge::connections, [] { return 5; });
    BOOST_TEST(connections() == 5);
    metrics::watch moved(std::move(kept));
    BOOST_TEST(connections() == 5);
    moved.end();
    moved.end();
    BOOST_TEST(connections() == 0);
}

BOOST_AUTO_TEST_CASE(no_event_is_lost_between_threads) {
    for (const unsigned loops : {0U, 1U, 4U, 1000U}) {
        metrics counted(loops, {"local"});
        constexpr int threads = 4;
        constexpr int each = 5000;
        std::latch together(threads + 1);
        {
            std::vector<std::jthread> all;
            for (int t = 0; t < threads; ++t) {
                all.emplace_back([&] {
                    together.arrive_and_wait();
                    for (int i = 0; i < each; ++i) {
                        counted.request(route::transcriptions, 200, 1ms);
                        counted.work_joined();
                        counted.work_saved(0.001);
                        counted.upstream_call("local", 200, 1ms, 0.001);
                    }
                });
            }
            // Asking meanwhile neither blocks nor disturbs them.
            together.arrive_and_wait();
            for (int i = 0; i < 5; ++i) BOOST_TEST(counted.sum().requests <= static_cast<std::uint64_t>(threads) * each);
        }
        const totals sums = counted.sum();
        BOOST_TEST(sums.requests == static_cast<std::uint64_t>(threads) * each);
        BOOST_TEST(sums.saved_calls == static_cast<std::uint64_t>(threads) * each);
        BOOST_TEST(sums.saved_audio_seconds == 20.0);
        BOOST_TEST(sums.backends[0].calls == static_cast<std::uint64_t>(threads) * each);
        BOOST_TEST(sums.backends[0].audio_seconds == 20.0);
    }
}

BOOST_AUTO_TEST_CASE(names) {
    BOOST_TEST(name_of(route::transcriptions) == "/v1/audio/transcriptions");
    BOOST_TEST(name_of(route::other) == "other");
    BOOST_TEST(name_of(came::led) == "led");
    BOOST_TEST(name_of(came::not_yet) == "-");
}

BOOST_AUTO_TEST_SUITE_END()
