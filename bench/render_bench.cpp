// What the hit path pays for its answer: rendering, escaping beside Boost.JSON's serialiser, counting and logging.
#include <http/render.hpp>
#include <observe/log.hpp>
#include <observe/metrics.hpp>

#include <benchmark/benchmark.h>
#include <spdlog/sinks/null_sink.h>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace {

using namespace hearonce;

transcript note(std::size_t segments) {
    transcript heard;
    heard.language = "english";
    heard.duration_seconds = static_cast<double>(segments) * 3.4;
    for (std::size_t i = 0; i < segments; ++i) {
        segment one;
        one.id = static_cast<std::int64_t>(i);
        one.start_seconds = static_cast<double>(i) * 3.4;
        one.end_seconds = one.start_seconds + 3.4;
        one.text = " Call me back tomorrow at nine, and bring \"milk\" and bread home.";
        one.tokens.assign(16, 50364);
        one.avg_logprob = -0.21;
        one.compression_ratio = 1.12;
        one.no_speech_prob = 0.013;
        heard.text += one.text;
        heard.segments.push_back(one);
    }
    return heard;
}

void json_ours(benchmark::State& state) {
    const transcript heard = note(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(http::render(heard, {}));
    state.SetBytesProcessed(static_cast<std::int64_t>(heard.text.size()) * state.iterations());
}
BENCHMARK(json_ours)->Arg(1)->Arg(4)->Arg(100);

void json_boost(benchmark::State& state) {
    const transcript heard = note(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        const boost::json::object body{{"text", heard.text}, {"usage", {{"type", "duration"}, {"seconds", 4}}}};
        benchmark::DoNotOptimize(boost::json::serialize(body));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(heard.text.size()) * state.iterations());
}
BENCHMARK(json_boost)->Arg(1)->Arg(4)->Arg(100);

void verbose_json(benchmark::State& state) {
    const transcript heard = note(static_cast<std::size_t>(state.range(0)));
    http::shape wanted;
    wanted.format = response_format::verbose_json;
    for (auto _ : state) benchmark::DoNotOptimize(http::render(heard, wanted));
}
BENCHMARK(verbose_json)->Arg(1)->Arg(4)->Arg(100);

void srt(benchmark::State& state) {
    const transcript heard = note(static_cast<std::size_t>(state.range(0)));
    http::shape wanted;
    wanted.format = response_format::srt;
    for (auto _ : state) benchmark::DoNotOptimize(http::render(heard, wanted));
}
BENCHMARK(srt)->Arg(1)->Arg(100);

// What one hit counts.
void count_hit(benchmark::State& state) {
    static observe::metrics counted(2, {"openai", "local"});
    for (auto _ : state) {
        counted.work_hit();
        counted.work_saved(3.4);
        counted.request(observe::route::transcriptions, 200, std::chrono::microseconds(90));
    }
}
BENCHMARK(count_hit)->Threads(1)->Threads(2);

void scrape(benchmark::State& state) {
    observe::metrics counted(8, {"openai", "gemini", "local"});
    counted.request(observe::route::transcriptions, 200, std::chrono::microseconds(90));
    for (auto _ : state) benchmark::DoNotOptimize(counted.prometheus_text());
}
BENCHMARK(scrape)->Unit(benchmark::kMicrosecond);

// What one access line costs the loop that says it.
void access_line(benchmark::State& state) {
    if (state.thread_index() == 0) {
        observe::log_options options;
        options.sink = std::make_shared<spdlog::sinks::null_sink_mt>();
        observe::open_log(std::move(options));
    }
    observe::access_line line;
    line.request_id = "0d6f2c1e-77aa-4a55-9a6b-2f1d0c9b8a70";
    line.method = "POST";
    line.path = observe::route::transcriptions;
    line.status = 200;
    line.client = "192.0.2.7";
    line.device = "0123456789abcdef";
    line.sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    line.how = observe::came::hit;
    line.backend = "local";
    line.received_bytes = 32331;
    line.sent_bytes = 120;
    line.total = std::chrono::microseconds(95);
    for (auto _ : state) observe::say_access(line);
    if (state.thread_index() == 0) observe::close_log();
}
BENCHMARK(access_line)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
