// Rounds in turn: direct, through the gateway, direct, ... so that what the machine does meanwhile meets both.
#include <bench/compare/command.hpp>

#include <bench/compare/gateway_process.hpp>
#include <bench/load/connection.hpp>
#include <bench/load/percentiles.hpp>
#include <bench/load/recordings.hpp>
#include <bench/upstream/double_server.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace hearonce::compare {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

struct flags {
    std::string gateway;
    std::size_t audio_bytes = 32 * 1024;
    unsigned requests = 500;  // Of one round.
    unsigned rounds = 5;
    unsigned threads = 1;
    bool json = false;
};

std::filesystem::path program_of(const flags& given) {
    if (!given.gateway.empty()) return given.gateway;
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "hearonce";
}

// One side of the comparison: its kept connection and all its times.
struct side {
    explicit side(std::uint16_t port) : to(port) {}
    load::connection to;
    std::vector<nanoseconds> times{};

    void ask(const load::upload_request& upload, bool counts) {
        const auto began = steady_clock::now();
        const auto answer = to.ask(upload.bytes);
        const auto took = steady_clock::now() - began;
        if (answer.status != 200 || answer.body.find(upload.text) == std::string::npos)
            throw std::runtime_error("a wrong answer (" + std::to_string(answer.status) + "): " + answer.body);
        if (counts) times.push_back(took);
    }
};

struct figures {
    double direct_p50, direct_p99, gateway_p50, gateway_p99;
    double cpu_microseconds;  // Of the gateway, a request.
    std::size_t requests;
};

figures measure(const flags& given) {
    upstream::settings how;
    how.any_model = true;
    const upstream::double_server upstream(how);
    const gateway_process gateway(program_of(given), upstream.url("/v1"), given.threads);
    side direct(upstream.port());
    side through(gateway.port());
    std::uint64_t number = 0;
    // Every recording is new, so the gateway never knows it; each side warms up first.
    const auto round = [&](side& one, unsigned requests, bool counts) {
        for (unsigned i = 0; i < requests; ++i) one.ask(load::make_upload(number++, given.audio_bytes, "whisper-1"), counts);
    };
    round(direct, 50, false);
    round(through, 50, false);
    std::chrono::microseconds cpu{0};
    for (unsigned i = 0; i < given.rounds; ++i) {
        round(direct, given.requests, true);
        const auto before = gateway.cpu();
        round(through, given.requests, true);
        cpu += gateway.cpu() - before;
    }
    using load::milliseconds_of;
    using load::percentile_of;
    return {milliseconds_of(percentile_of(direct.times, 0.5)),
            milliseconds_of(percentile_of(direct.times, 0.99)),
            milliseconds_of(percentile_of(through.times, 0.5)),
            milliseconds_of(percentile_of(through.times, 0.99)),
            static_cast<double>(cpu.count()) / static_cast<double>(through.times.size()),
            through.times.size()};
}

int run(const flags& given) {
    const auto got = measure(given);
    if (given.json) {
        std::printf(
            "{\"audio_bytes\":%zu,\"requests\":%zu,\"direct_p50_ms\":%.3f,\"direct_p99_ms\":%.3f,\"gateway_p50_ms\":%.3f,"
            "\"gateway_p99_ms\":%.3f,\"added_p50_ms\":%.3f,\"added_p99_ms\":%.3f,\"gateway_cpu_us\":%.1f}\n",
            given.audio_bytes, got.requests, got.direct_p50, got.direct_p99, got.gateway_p50, got.gateway_p99,
            got.gateway_p50 - got.direct_p50, got.gateway_p99 - got.direct_p99, got.cpu_microseconds);
        return 0;
    }
    std::printf("%zu distinct uploads of %zu bytes on one connection, %u rounds in turn\n\n", got.requests, given.audio_bytes,
                given.rounds);
    std::printf("|          | p50 ms | p99 ms |\n| -------- | ------ | ------ |\n");
    std::printf("| direct   | %6.3f | %6.3f |\n| hearonce | %6.3f | %6.3f |\n", got.direct_p50, got.direct_p99, got.gateway_p50,
                got.gateway_p99);
    std::printf("| added    | %6.3f | %6.3f |\n\nCPU of the gateway: %.1f us a request\n", got.gateway_p50 - got.direct_p50,
                got.gateway_p99 - got.direct_p99, got.cpu_microseconds);
    return 0;
}

}  // namespace

void add_compare(CLI::App& to, std::function<int()>& chosen) {
    auto* command = to.add_subcommand("compare", "What the gateway adds to the time of an upload: distinct recordings, one connection");
    auto given = std::make_shared<flags>();
    command->add_option("--gateway", given->gateway, "The program to measure (default: hearonce beside this one)")->type_name("FILE");
    command->add_option("--audio-bytes", given->audio_bytes, "Size of each recording")
        ->capture_default_str()
        ->check(CLI::Range(44, 26214400));
    command->add_option("--requests", given->requests, "Uploads a round")->capture_default_str()->check(CLI::Range(1, 1000000));
    command->add_option("--rounds", given->rounds, "Rounds, each side in turn")->capture_default_str()->check(CLI::Range(1, 1000));
    command->add_option("--threads", given->threads, "Event loops of the gateway")->capture_default_str()->check(CLI::Range(1, 64));
    command->add_flag("--json", given->json, "One line of JSON");
    command->footer("Every answer is checked against the text of its own bytes; a wrong one ends the run with 1.");
    command->callback([given, &chosen] { chosen = [given] { return run(*given); }; });
}

}  // namespace hearonce::compare
