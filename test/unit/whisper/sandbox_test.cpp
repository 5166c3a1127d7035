// The filter itself, looked at from inside: a child enters it and tries what must not work and what must.
#define BOOST_TEST_MODULE whisper_sandbox
#include <backends/whisper/worker/memory.hpp>
#include <backends/whisper/worker/sandbox.hpp>

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

namespace {

using namespace hearonce::whisper;

// What the probe gave inside the sandbox (0..99), 100 when there is no sandbox, or minus the signal that ended it.
template <class Probe>
int inside(Probe probe) {
    const pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
        // The test framework's own would carry on with the tests in here.
        for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP}) ::signal(number, SIG_DFL);
        if (!enter_sandbox().empty()) ::_exit(100);
        ::_exit(probe());
    }
    int status = 0;
    BOOST_REQUIRE_EQUAL(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

constexpr int refused = 10;
constexpr int done = 11;

int outcome_of(long rc) {
    if (rc >= 0) return done;
    return errno == EPERM ? refused : errno == ENOSYS ? 12 : 13;
}

// By hand, as a sanitizer looks at the objects of std::thread with calls that are refused in here.
int make_a_thread() {
    pthread_t made{};
    if (::pthread_create(&made, nullptr, [](void* given) { return given; }, nullptr) != 0) return refused;
    return ::pthread_join(made, nullptr) == 0 ? done : refused;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sandbox)

BOOST_AUTO_TEST_CASE(no_signal_reaches_another_process) {
    const pid_t parent = ::getpid();
    // Signal 0 asks for permission alone; outside it is given.
    BOOST_TEST(::syscall(SYS_tgkill, parent, parent, 0) == 0);
    BOOST_TEST(inside([=] { return outcome_of(::syscall(SYS_tgkill, parent, parent, 0)); }) == refused);
    BOOST_TEST(inside([=] { return outcome_of(::syscall(SYS_tgkill, parent | 1LL << 40, parent, 0)); }) == refused);
    BOOST_TEST(inside([=] { return outcome_of(::syscall(SYS_tkill, parent, 0)); }) == refused);
    BOOST_TEST(inside([=] { return outcome_of(::kill(parent, 0)); }) == refused);
    BOOST_TEST(inside([=] { return outcome_of(::kill(0, 0)); }) == refused);
    BOOST_TEST(inside([=] { return outcome_of(::syscall(SYS_pidfd_open, parent, 0)); }) == refused);
    siginfo_t with{};
    with.si_code = SI_QUEUE;
    BOOST_TEST(inside([=]() mutable { return outcome_of(::syscall(SYS_rt_sigqueueinfo, parent, SIGUSR1, &with)); }) == refused);
}

BOOST_AUTO_TEST_CASE(its_own_threads_get_signals_and_abort_ends_it) {
    BOOST_TEST(inside([] { return outcome_of(::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), 0)); }) == done);
    BOOST_TEST(inside([]() -> int { return outcome_of(::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), SIGKILL)); }) == -SIGKILL);
}

BOOST_AUTO_TEST_CASE(descriptors_are_read_and_marked_and_nothing_else) {
    for (const int command : {F_GETFD, F_GETFL}) BOOST_TEST(inside([=] { return outcome_of(::fcntl(1, command)); }) == done);
    BOOST_TEST(inside([] { return outcome_of(::fcntl(1, F_SETFD, FD_CLOEXEC)); }) == done);
    BOOST_TEST(inside([] { return outcome_of(::fcntl(1, F_SETFL, ::fcntl(1, F_GETFL))); }) == done);
    BOOST_TEST(inside([] { return outcome_of(::fcntl(1, F_DUPFD_CLOEXEC, 0)); }) == done);
    const pid_t parent = ::getpid();
    BOOST_TEST(inside([=] { return outcome_of(::syscall(SYS_fcntl, 1, F_SETOWN, parent)); }) == refused);
    BOOST_TEST(inside([=] { return outcome_of(::syscall(SYS_fcntl, 1, F_SETSIG, SIGKILL)); }) == refused);
    BOOST_TEST(inside([=] { return outcome_of(::syscall(SYS_fcntl, 1, F_NOTIFY, 0)); }) == refused);
    BOOST_TEST(inside([=] { return outcome_of(::syscall(SYS_fcntl, 1, F_DUPFD, 0)); }) == refused);
}

BOOST_AUTO_TEST_CASE(only_its_own_processors_are_chosen) {
    cpu_set_t all;
    BOOST_REQUIRE_EQUAL(::sched_getaffinity(0, sizeof all, &all), 0);
    const pid_t parent = ::getpid();
    BOOST_TEST(inside([=] { return outcome_of(::sched_setaffinity(0, sizeof all, &all)); }) == done);
    BOOST_TEST(inside([=] { return outcome_of(::sched_setaffinity(::getpid(), sizeof all, &all)); }) == done);
    BOOST_TEST(inside([=] { return outcome_of(::sched_setaffinity(parent, sizeof all, &all)); }) == refused);
}

BOOST_AUTO_TEST_CASE(no_files_no_network_no_processes) {
    BOOST_TEST(inside([] { return outcome_of(::open("/etc/passwd", O_RDONLY)); }) == refused);
    BOOST_TEST(inside([] { return outcome_of(::socket(AF_INET, SOCK_STREAM, 0)); }) == refused);
    BOOST_TEST(inside([] { return outcome_of(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }) == refused);
    BOOST_TEST(inside([] { return outcome_of(::syscall(SYS_execve, "/bin/true", nullptr, nullptr)); }) == refused);
    const pid_t parent = ::getpid();
    BOOST_TEST(inside([=] { return outcome_of(::syscall(SYS_ptrace, 16, parent, 0, 0)); }) == refused);
    BOOST_TEST(inside(make_a_thread) == done);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(room_grows_with_what_was_configured) {
    constexpr std::uint64_t gib = 1ULL << 30;
    constexpr std::uint64_t stack = 8ULL << 20;
    options one;
    one.threads = 4;
    const std::uint64_t least = address_space_max(gib, stack, one);
    BOOST_TEST(least > 5 * gib);  // The model once more, and room for two hours of samples.
    BOOST_TEST(least < 16 * gib);
    options more = one;
    more.slots = 2;
    BOOST_TEST(address_space_max(gib, stack, more) > least + 3 * gib);
    more = one;
    more.threads = 5;
    BOOST_TEST(address_space_max(gib, stack, more) > least + stack);
    more = one;
    more.audio_seconds_max = 14'400;
    BOOST_TEST(address_space_max(gib, stack, more) >= least + 7200ULL * 16'000 * 4 * 2);
    BOOST_TEST(address_space_max(2 * gib, stack, one) >= least + 2 * gib);
    more.slots = 64;
    more.threads = 256;
    more.audio_seconds_max = 86'400;
    BOOST_TEST(address_space_max(64 * gib, stack, more) > 64 * 64 * gib);  // No overflow.
}

BOOST_AUTO_TEST_CASE(the_kernel_is_told_whom_to_take_first) {
    const pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
        die_first();
        int score = 0;
        std::ifstream("/proc/self/oom_score_adj") >> score;
        ::_exit(score == 1000 ? 0 : 1);
    }
    int status = 0;
    BOOST_REQUIRE_EQUAL(::waitpid(child, &status, 0), child);
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
