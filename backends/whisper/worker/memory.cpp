// setrlimit() and two files of /proc. Next file: sandbox.cpp.
#include <backends/whisper/worker/decode.hpp>
#include <backends/whisper/worker/memory.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace hearonce::whisper {
namespace {

constexpr std::uint64_t gib = 1ULL << 30;
// What the C library sets aside for each thread's heap, twice while it aligns it.
constexpr std::uint64_t heap_bytes_per_thread = 192ULL << 20;
// Samples while their buffer grows, padded once more for the spectrum, the spectrum itself; and as much again for luck.
constexpr std::uint64_t copies_of_samples = 8;
constexpr std::uint64_t stack_bytes_default = 8ULL << 20;

}  // namespace

std::uint64_t address_space_max(std::uint64_t used_bytes, std::uint64_t stack_bytes, const options& settings) {
    const auto slots = static_cast<std::uint64_t>(std::max(settings.slots, 1));
    const auto threads = slots * (static_cast<std::uint64_t>(std::max(settings.threads, 1)) + 1);
    const auto seconds = static_cast<std::uint64_t>(std::max(settings.audio_seconds_max, 1L));
    const std::uint64_t samples = seconds * samples_per_second * sizeof(float) * copies_of_samples;
    // The working memory of a job grows with the model.
    const std::uint64_t job = used_bytes + 2 * gib + samples;
    return used_bytes + gib + slots * job + threads * (stack_bytes + heap_bytes_per_thread);
}

void limit_memory(const options& settings) {
    std::ifstream about("/proc/self/statm");
    std::uint64_t pages = 0;
    if (!(about >> pages)) return;
    rlimit stack{};
    const bool told = ::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    const std::uint64_t stack_bytes = told ? stack.rlim_cur : stack_bytes_default;
    const std::uint64_t used = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    rlimit space{};
    if (::getrlimit(RLIMIT_AS, &space) != 0) return;
    // A narrower limit that the operator has set stays.
    const std::uint64_t most = std::min<std::uint64_t>(space.rlim_max, address_space_max(used, stack_bytes, settings));
    space.rlim_max = static_cast<rlim_t>(most);
    space.rlim_cur = std::min(space.rlim_cur, space.rlim_max);
    static_cast<void>(::setrlimit(RLIMIT_AS, &space));
}

void die_first() {
    std::ofstream("/proc/self/oom_score_adj") << 1000;
}

}  // namespace hearonce::whisper
