// What an upload costs beside its hash: bytes through the parser, the hash and the spool, against SHA-256 over the same bytes.
//
// Arguments: size of the recording in KiB; the pieces are 64 KiB, as they come from a socket. The bodies are read from one
// buffer over and over, so both sides find them in the same cache.
#include <http/upload.hpp>
#include <work/work_key.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <benchmark/benchmark.h>

#include <exception>
#include <optional>
#include <string>

using namespace hearonce;
using namespace hearonce::http;

namespace {

constexpr std::size_t piece_bytes = 64 * 1024;

std::string recording_of(std::size_t size) {
    std::string out(size, '\0');
    std::uint64_t state = 1;
    for (char& each : out) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        each = static_cast<char>(state >> 56);
    }
    return out;
}

std::string form_of(const std::string& audio) {
    const std::string line = "--openai-byn7fgbw0z4\r\nContent-Disposition: form-data; name=";
    return line + "\"file\"; filename=\"tone.wav\"\r\nContent-Type: application/octet-stream\r\n\r\n" + audio + "\r\n" + line +
           "\"model\"\r\n\r\nwhisper-1\r\n" + line + "\"language\"\r\n\r\nde\r\n--openai-byn7fgbw0z4--\r\n";
}

std::span<const std::byte> piece_of(const std::string& text, std::size_t at) {
    return std::as_bytes(std::span(text)).subspan(at, std::min(piece_bytes, text.size() - at));
}

void hash_alone(benchmark::State& state) {
    const std::string audio = recording_of(static_cast<std::size_t>(state.range(0)) * 1024);
    for (auto _ : state) {
        sha256_stream hash;
        for (std::size_t at = 0; at < audio.size(); at += piece_bytes) hash.update(piece_of(audio, at));
        benchmark::DoNotOptimize(hash.finish());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(audio.size()));
}

void parse_alone(benchmark::State& state) {
    const std::string body = form_of(recording_of(static_cast<std::size_t>(state.range(0)) * 1024));
    for (auto _ : state) {
        multipart_parser parser("openai-byn7fgbw0z4");
        for (std::size_t at = 0; at < body.size(); at += piece_bytes) {
            auto piece = piece_of(body, at);
            while (*parser.next(piece) != multipart_parser::event::need_more) {
            }
        }
        benchmark::DoNotOptimize(parser.finish());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}

boost::asio::awaitable<std::optional<received_upload>> receive(std::shared_ptr<audio_store> store, const std::string& body) {
    upload upload("openai-byn7fgbw0z4", task::transcribe, {}, std::move(store));
    for (std::size_t at = 0; at < body.size(); at += piece_bytes) {
        const auto fed = upload.feed(piece_of(body, at));
        if (!fed) co_return std::nullopt;
        if (!*fed) continue;
        const auto flushed = co_await upload.flush();
        if (!flushed) co_return std::nullopt;
    }
    auto received = co_await upload.finish();
    if (!received) co_return std::nullopt;
    co_return std::move(*received);
}

// Everything from the first byte to a recording and a request. `spill_above` decides between memory and file.
void upload_whole(benchmark::State& state, std::uint64_t spill_above) {
    const std::size_t size = static_cast<std::size_t>(state.range(0)) * 1024;
    const std::string body = form_of(recording_of(size));
    audio_store_settings settings;
    settings.spill_above_bytes = spill_above;
    const auto store = std::make_shared<audio_store>(settings);
    boost::asio::io_context loop(1);
    for (auto _ : state) {
        bool good = false;
        auto ended = [&](std::exception_ptr thrown, const std::optional<received_upload>& received) {
            good = !thrown && received && received->audio.bytes->size_bytes() == size;
        };
        boost::asio::co_spawn(loop, receive(store, body), ended);
        loop.run();
        loop.restart();
        if (!good) state.SkipWithError("upload failed");
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

void upload_in_memory(benchmark::State& state) {
    upload_whole(state, 64ull << 20);
}
void upload_to_file(benchmark::State& state) {
    upload_whole(state, 1ull << 20);
}

void key(benchmark::State& state) {
    transcription_request request;
    request.model = "whisper-1";
    request.fields = {{"language", "de"},
                      {"prompt", std::string(static_cast<std::size_t>(state.range(0)), 'p')},
                      {"temperature", "0"},
                      {"timestamp_granularities[]", "word"}};
    const std::vector<std::string> route{"openai", "local"};
    const sha256_digest audio{};
    for (auto _ : state) benchmark::DoNotOptimize(work::work_key_of("alice", "phone-1", audio, route, request));
}

BENCHMARK(hash_alone)->Arg(32)->Arg(240)->Arg(2048)->Arg(20480);
BENCHMARK(parse_alone)->Arg(32)->Arg(240)->Arg(2048)->Arg(20480);
BENCHMARK(upload_in_memory)->Arg(32)->Arg(240)->Arg(2048)->Arg(20480)->UseRealTime();
BENCHMARK(upload_to_file)->Arg(2048)->Arg(20480)->UseRealTime()->MeasureProcessCPUTime();
BENCHMARK(key)->Arg(20)->Arg(1000);

}  // namespace

BENCHMARK_MAIN();
