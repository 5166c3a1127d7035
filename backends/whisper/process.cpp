// posix_spawn and pidfd. Next file: channel.cpp.
#include <backends/whisper/process.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

extern char** environ;

namespace hearonce::whisper {
namespace {

constexpr int pid_namespace = 3;  // P_PIDFD, which older C libraries do not name.

struct spawn_plan {
    spawn_plan() {
        posix_spawn_file_actions_init(&files);
        posix_spawnattr_init(&attributes);
    }
    ~spawn_plan() {
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }
    spawn_plan(const spawn_plan&) = delete;
    spawn_plan& operator=(const spawn_plan&) = delete;

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
};

void plan_descriptors(spawn_plan& plan, int socket) {
    posix_spawn_file_actions_addopen(&plan.files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&plan.files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&plan.files, socket, helper_process::socket_number);
    // Sockets of callers and upstreams must not live on in the helper.
    posix_spawn_file_actions_addclosefrom_np(&plan.files, helper_process::socket_number + 1);
}

void plan_signals(spawn_plan& plan) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&plan.attributes, &none);
    posix_spawnattr_setsigdefault(&plan.attributes, &all);
    posix_spawnattr_setpgroup(&plan.attributes, 0);
    posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

bool binds_threads(std::string_view entry) {
    return entry.starts_with("OMP_PROC_BIND=") || entry.starts_with("OMP_PLACES=") || entry.starts_with("GOMP_CPU_AFFINITY=");
}

// The settings of the OpenMP runtime go through, but for those that bind threads to processors, a call the sandbox refuses.
// Nothing else does, keys of upstreams least of all.
std::vector<std::string> clean_environment() {
    std::vector<std::string> out = {"LC_ALL=C.UTF-8", "GGML_NO_BACKTRACE=1"};
    bool waiting_chosen = false;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        const std::string_view entry = *each;
        if (!entry.starts_with("OMP_") && !entry.starts_with("GOMP_")) continue;
        if (binds_threads(entry)) continue;
        if (entry.starts_with("OMP_WAIT_POLICY=") || entry.starts_with("GOMP_SPINCOUNT=")) waiting_chosen = true;
        out.emplace_back(entry);
    }
    // Threads that spin while they wait for each other get in the way of the gateway on the same processors.
    if (!waiting_chosen) out.emplace_back("OMP_WAIT_POLICY=passive");
    return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& each : texts) out.push_back(each.data());
    out.push_back(nullptr);
    return out;
}

std::string ending_of(const siginfo_t& how) {
    if (how.si_code == CLD_EXITED) return "ended with status " + std::to_string(how.si_status);
    return "was ended by signal " + std::to_string(how.si_status);
}

// True when the process has ended, which reaps it. Without WNOHANG it waits for that.
bool wait_for(int pidfd, siginfo_t& how, int flags) noexcept {
    for (;;) {
        how = {};
        const int rc = ::waitid(static_cast<idtype_t>(pid_namespace), static_cast<id_t>(pidfd), &how, WEXITED | flags);
        if (rc == 0 && how.si_pid != 0) return true;
        // Asio makes descriptors non-blocking, and a pidfd like that turns every wait into a look.
        const bool runs = rc == 0 || errno == EAGAIN;
        if (!runs && errno != EINTR) return true;  // Somebody else has reaped it.
        if (runs && (flags & WNOHANG) != 0) return false;
        pollfd ended{pidfd, POLLIN, 0};
        if (runs) ::poll(&ended, 1, -1);
    }
}

}  // namespace

void owned_descriptor::reset(int fd) noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
}

std::optional<helper_process::started> helper_process::start(const std::filesystem::path& program,
                                                             const std::vector<std::string>& arguments, std::string& why_not) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        why_not = std::string("socketpair: ") + std::strerror(errno);
        return std::nullopt;
    }
    owned_descriptor ours(ends[0]);
    owned_descriptor theirs(ends[1]);
    // dup2 onto itself would keep close-on-exec.
    if (theirs.get() == socket_number) theirs.reset(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, socket_number + 1));
    ::fcntl(ours.get(), F_SETFL, ::fcntl(ours.get(), F_GETFL) | O_NONBLOCK);

    spawn_plan plan;
    plan_descriptors(plan, theirs.get());
    plan_signals(plan);
    std::vector<std::string> words = {program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> environment = clean_environment();
    pid_t pid = 0;
    const int rc =
        ::posix_spawn(&pid, program.c_str(), &plan.files, &plan.attributes, pointers_to(words).data(), pointers_to(environment).data());
    if (rc != 0) {
        why_not = program.string() + ": " + std::strerror(rc);
        return std::nullopt;
    }
    owned_descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd) {
        why_not = std::string("pidfd_open: ") + std::strerror(errno);
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return std::nullopt;
    }
    return started{helper_process(pid, std::move(pidfd)), std::move(ours)};
}

helper_process::helper_process(helper_process&& other) noexcept : pid_(std::exchange(other.pid_, 0)), pidfd_(std::move(other.pidfd_)) {}

helper_process::~helper_process() {
    finish(std::chrono::milliseconds::zero());
}

void helper_process::kill() const noexcept {
    if (pid_ != 0) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

std::optional<std::string> helper_process::reap() noexcept {
    siginfo_t how;
    if (pid_ == 0 || !wait_for(pidfd_.get(), how, WNOHANG)) return std::nullopt;
    pid_ = 0;
    return ending_of(how);
}

void helper_process::finish(std::chrono::milliseconds grace) noexcept {
    if (pid_ == 0) return;
    pollfd ended{pidfd_.get(), POLLIN, 0};
    if (grace.count() > 0) ::poll(&ended, 1, static_cast<int>(grace.count()));
    kill();  // Of no effect on one that has ended.
    siginfo_t how;
    wait_for(pidfd_.get(), how, 0);
    pid_ = 0;
}

}  // namespace hearonce::whisper
