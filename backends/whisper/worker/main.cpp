// hearonce-whisper: recognises speech, by hand from a file or as the gateway's local engine from a socket.
// Next file: serve.cpp.
#include <backends/whisper/worker/memory.hpp>
#include <backends/whisper/worker/options.hpp>
#include <backends/whisper/worker/print.hpp>
#include <backends/whisper/worker/sandbox.hpp>
#include <backends/whisper/worker/serve.hpp>
#include <backends/whisper/worker/to_flac.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace {

using namespace hearonce::whisper;

int fail(std::string_view why) {
    std::fprintf(stderr, "hearonce-whisper: %.*s\n", static_cast<int>(why.size()), why.data());
    return 1;
}

// The OpenMP runtime reads its settings before main(), so the program begins once more where they do not suit. Threads that
// spin while they wait for each other are several times slower as soon as anything else runs on the machine; threads bound
// to processors need a call that the sandbox refuses.
void suit_openmp(char** argv) {
    bool suits = true;
    if (::getenv("OMP_WAIT_POLICY") == nullptr && ::getenv("GOMP_SPINCOUNT") == nullptr) {
        ::setenv("OMP_WAIT_POLICY", "passive", 1);
        suits = false;
    }
    for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) {
        if (::getenv(name) == nullptr) continue;
        ::unsetenv(name);
        suits = false;
    }
    if (suits) return;
    ::execv("/proc/self/exe", argv);  // Where that fails it is only slower.
}

// One file, in the same sandbox as the gateway's jobs.
int by_hand(const options& wanted) {
    const int descriptor = ::open(wanted.file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return fail(wanted.file + ": " + std::strerror(errno));
    const auto with = load_model(wanted.model);
    if (!with) return fail(with.error().message());
    limit_memory(wanted);
    if (const std::string why = enter_sandbox(); !why.empty()) return fail("the sandbox cannot be entered: " + why);
    const start_job wishes{1, wanted.language, wanted.prompt, wanted.temperature, wanted.translate, false};
    const std::atomic<bool> cancelled = false;
    const auto end = run_job(*with, descriptor, wishes, wanted, cancelled, [](std::size_t, bool) {}, [](const std::string&) {});
    if (!end) return fail(end.error().message());
    const std::string text = print(*end, wanted.format);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const auto parsed = parse_options(argc, argv);
        if (const int* status = std::get_if<int>(&parsed)) return *status;
        const auto& wanted = std::get<options>(parsed);
        if (wanted.to_flac) transcode_once(wanted);
        if (wanted.serve_fd >= 0) serve(wanted);
        suit_openmp(argv);
        return by_hand(wanted);
    } catch (const std::exception& thrown) {
        return fail(thrown.what());
    }
}
