// A list of system calls that are allowed; all others fail with EPERM. Next file: serve.cpp.
#include <backends/whisper/worker/sandbox.hpp>

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>

namespace hearonce::whisper {
namespace {

struct free_filter {
    void operator()(void* filter) const noexcept { seccomp_release(filter); }
};

// What fcntl() may do: nothing that makes the kernel send signals (F_SETOWN, F_SETSIG, F_NOTIFY) or locks files.
constexpr std::array descriptor_commands = {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC};

// By name: not every architecture has all of them, and unknown ones are skipped.
constexpr std::array allowed = {
    // Descriptors that are open already.
    "read", "readv", "pread64", "write", "writev", "sendmsg", "sendto", "recvmsg", "recvfrom", "poll", "ppoll", "fstat", "lseek", "close",
    "shutdown",
    // Memory.
    "mmap", "munmap", "mremap", "mprotect", "madvise", "brk", "membarrier",
    // Threads of this process (clone itself is below).
    "futex", "set_robust_list", "rseq", "set_tid_address", "exit", "exit_group", "sched_yield", "sched_getaffinity", "gettid", "getpid",
    "get_robust_list", "getcpu",
    // Signals, time, chance.
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall", "clock_gettime", "clock_getres", "clock_nanosleep",
    "nanosleep", "gettimeofday", "getrandom"};

// Where clone() has its flags; s390 alone turns the first two arguments round.
#ifdef __s390__
constexpr unsigned clone_flags = 1;
#else
constexpr unsigned clone_flags = 0;
#endif

int allow_if(void* filter, int call, scmp_arg_cmp condition) {
    return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &condition);
}

// The kernel looks at the low half only of an argument of type int.
int allow_int(void* filter, int call, unsigned at, int value) {
    return allow_if(filter, call, {at, SCMP_CMP_MASKED_EQ, 0xFFFFFFFFU, static_cast<std::uint32_t>(value)});
}

// Calls that reach other processes when given their ids: for this one alone. Its own id does not change any more.
int allow_for_self(void* filter) {
    int rc = allow_int(filter, SCMP_SYS(tgkill), 0, ::getpid());  // abort() and pthread_kill().
    for (const int own : {0, ::getpid()}) {
        if (rc == 0) rc = allow_int(filter, SCMP_SYS(sched_setaffinity), 0, own);
    }
    for (const int command : descriptor_commands) {
        if (rc == 0) rc = allow_int(filter, SCMP_SYS(fcntl), 1, command);
        // The call of 32-bit machines.
        if (rc == 0) rc = allow_int(filter, SCMP_SYS(fcntl64), 1, command);
    }
    return rc;
}

bool limit(int what, rlim_t value) {
    const rlimit both{value, value};
    return ::setrlimit(static_cast<__rlimit_resource>(what), &both) == 0;
}

}  // namespace

void die_with_parent() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

std::string enter_sandbox() {
    if (!limit(RLIMIT_CORE, 0)) return std::string("setrlimit: ") + std::strerror(errno);
    ::prctl(PR_SET_DUMPABLE, 0);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return std::string("no_new_privs: ") + std::strerror(errno);
    const std::unique_ptr<void, free_filter> filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)));
    if (!filter) return "seccomp is not available";
    int rc = 0;
    for (const char* name : allowed) {
        const int call = seccomp_syscall_resolve_name(name);
        if (call != __NR_SCMP_ERROR && rc == 0) rc = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
    }
    // New threads, not new processes. clone3 hides its flags in memory: "not there" makes the C library use clone.
    if (rc == 0) rc = allow_if(filter.get(), SCMP_SYS(clone), {clone_flags, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD});
    if (rc == 0) rc = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (rc == 0) rc = allow_for_self(filter.get());
    // Thread names only.
    if (rc == 0) rc = allow_int(filter.get(), SCMP_SYS(prctl), 0, PR_SET_NAME);
    if (rc == 0) rc = seccomp_load(filter.get());
    return rc == 0 ? std::string() : std::string("seccomp: ") + std::strerror(-rc);
}

}  // namespace hearonce::whisper
