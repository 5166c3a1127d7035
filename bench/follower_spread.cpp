// How far apart the callers of one flight get their answers: bursts of equal uploads on connections of their own, held until
// all of them wait, then answered. Prints the time between the first and the last answer of each burst, and the median.
//
//   follower_spread [uploads=50] [bursts=20] [kibibytes=240]
//
// The gateway runs in this process with its real server and loops; only the engine is scripted. Exit code 1: a wrong answer.
#include <app/gateway.hpp>
#include <support/form_client.hpp>
#include <support/scripted_backend.hpp>

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

using namespace hearonce::test;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr auto path = "/v1/audio/transcriptions";

// Milliseconds from the first answer to the last; negative: an answer was wrong or missing.
double burst(hearonce::app::gateway& gateway, scripted_backend& backend, std::size_t uploads, const std::string& request) {
    const auto port = gateway.listening().at(0).port();
    std::vector<std::unique_ptr<raw_client>> clients;
    std::vector<pollfd> waiting;
    backend.close_gate();
    for (std::size_t i = 0; i < uploads; ++i) {
        clients.push_back(std::make_unique<raw_client>(port));
        if (!clients.back()->send(request)) return -1;
        waiting.push_back({clients.back()->descriptor(), POLLIN, 0});
    }
    while (gateway.left().waiters < uploads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    backend.open_gate();
    clock_type::time_point first;
    clock_type::time_point last;
    for (std::size_t answered = 0; answered < uploads;) {
        if (::poll(waiting.data(), waiting.size(), 10'000) <= 0) return -1;
        last = clock_type::now();
        if (answered == 0) first = last;
        for (auto& one : waiting) {
            if (one.revents == 0) continue;
            one.fd = -1;
            ++answered;
        }
    }
    for (auto& client : clients) {
        if (read_answer(*client).status != 200) return -1;
    }
    return std::chrono::duration<double, std::milli>(last - first).count();
}

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int at, unsigned long otherwise) { return argc > at ? std::strtoul(argv[at], nullptr, 10) : otherwise; };
    const auto uploads = number(1, 50);
    const auto bursts = number(2, 20);
    const auto kibibytes = number(3, 240);

    auto backend = std::make_shared<scripted_backend>();
    hearonce::app::settings wanted;
    wanted.server.listen = {{boost::asio::ip::address_v4::loopback(), 0}};
    wanted.server.threads = std::max(1u, std::thread::hardware_concurrency());
    wanted.default_backend = "scripted";
    hearonce::app::gateway gateway(wanted,
                                   [&](boost::asio::any_io_executor) { return std::vector<std::shared_ptr<hearonce::backend>>{backend}; });
    if (!gateway.start()) return 1;

    std::vector<double> spreads;
    for (unsigned long i = 0; i < bursts; ++i) {
        std::string audio(kibibytes * 1024, 'a');
        audio.replace(0, 20, std::to_string(i) + " burst of its own....");
        const auto request = post_form(path, form_body("b1", {{"file", audio, "note.wav", "audio/wav"}}), "b1");
        spreads.push_back(burst(gateway, *backend, uploads, request));
        std::printf("burst %2lu: %.2f ms\n", i + 1, spreads.back());
    }
    const bool right = backend->runs() == bursts && std::all_of(spreads.begin(), spreads.end(), [](double one) { return one >= 0; });
    std::sort(spreads.begin(), spreads.end());
    std::printf("%lu equal uploads of %lu KiB, %zu runs for %lu bursts: median %.2f ms, worst %.2f ms\n", uploads, kibibytes,
                backend->runs(), bursts, spreads[spreads.size() / 2], spreads.back());
    gateway.drain();
    gateway.wait();
    return right ? 0 : 1;
}
