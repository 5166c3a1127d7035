// Starting, watching and ending a program; a recording as a descriptor.
#define BOOST_TEST_MODULE whisper_process
#include "support.hpp"

#include <backends/whisper/audio_file.hpp>
#include <backends/whisper/process.hpp>

#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace {

using namespace hearonce::whisper;
using namespace hearonce::whisper::test;
using steady = std::chrono::steady_clock;

helper_process::started shell(const std::string& script) {
    std::string why;
    auto made = helper_process::start("/bin/sh", {"-c", script}, why);
    BOOST_REQUIRE_MESSAGE(made.has_value(), why);
    return std::move(*made);
}

bool readable_within(int fd, int milliseconds) {
    pollfd watched{fd, POLLIN, 0};
    return ::poll(&watched, 1, milliseconds) == 1;
}

// All the program writes to its socket until it closes it.
std::string all_from(const owned_descriptor& socket) {
    std::string out;
    char room[4096];
    for (;;) {
        BOOST_REQUIRE(readable_within(socket.get(), 10'000));
        const ssize_t n = ::read(socket.get(), room, sizeof room);
        if (n <= 0) return out;
        out.append(room, static_cast<std::size_t>(n));
    }
}

std::string content_of(int fd) {
    std::string out;
    char room[4096];
    ssize_t n = 0;
    while ((n = ::pread(fd, room, sizeof room, static_cast<off_t>(out.size()))) > 0) out.append(room, static_cast<std::size_t>(n));
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(process)

BOOST_AUTO_TEST_CASE(it_has_the_socket_and_nothing_else_of_ours) {
    ::setenv("OPENAI_API_KEY", "sk-secret", 1);
    ::setenv("OMP_NUM_THREADS", "3", 1);
    // A descriptor without close-on-exec, as Asio's sockets are.
    const owned_descriptor leaky(::open("/dev/null", O_RDONLY));
    auto made = shell("{ env; echo fds; ls /proc/self/fd; echo in; readlink /proc/self/fd/0; readlink /proc/self/fd/1 <&0 2>&0; } >&3");
    const std::string said = all_from(made.socket);
    BOOST_TEST_MESSAGE(said);
    BOOST_TEST(said.find("sk-secret") == std::string::npos);
    BOOST_TEST(said.find("HOME=") == std::string::npos);
    BOOST_TEST(said.find("OMP_NUM_THREADS=3") != std::string::npos);
    BOOST_TEST(said.find("OMP_WAIT_POLICY=passive") != std::string::npos);
    BOOST_TEST(said.find("GGML_NO_BACKTRACE=1") != std::string::npos);
    BOOST_TEST(said.find("/dev/null") != std::string::npos);
    // 0, 1, 2, the socket, and the folder `ls` reads (4): not `leaky`.
    const std::string fds = said.substr(said.find("fds\n") + 4);
    BOOST_TEST(fds.substr(0, fds.find("in\n")) == "0\n1\n2\n3\n4\n");
    ::unsetenv("OPENAI_API_KEY");
    ::unsetenv("OMP_NUM_THREADS");
}

BOOST_AUTO_TEST_CASE(threads_are_not_bound_to_processors) {
    for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) ::setenv(name, "0", 1);
    auto made = shell("env >&3");
    const std::string said = all_from(made.socket);
    for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) {
        BOOST_TEST(said.find(name) == std::string::npos);
        ::unsetenv(name);
    }
}

BOOST_AUTO_TEST_CASE(what_the_operator_says_of_threads_waiting_is_kept) {
    ::setenv("OMP_WAIT_POLICY", "active", 1);
    auto made = shell("env >&3");
    const std::string said = all_from(made.socket);
    BOOST_TEST(said.find("OMP_WAIT_POLICY=active") != std::string::npos);
    BOOST_TEST(said.find("passive") == std::string::npos);
    ::unsetenv("OMP_WAIT_POLICY");
}

BOOST_AUTO_TEST_CASE(its_end_is_seen_and_told) {
    for (const auto& [script, words] : {std::pair("exit 0", "ended with status 0"), std::pair("exit 7", "ended with status 7"),
                                        std::pair("kill -SEGV $$", "was ended by signal 11")}) {
        auto made = shell(script);
        BOOST_REQUIRE(readable_within(made.process.ended_descriptor(), 10'000));
        const auto how = made.process.reap();
        BOOST_REQUIRE(how.has_value());
        BOOST_TEST(*how == words);
        BOOST_TEST(!made.process.reap().has_value());
    }
}

BOOST_AUTO_TEST_CASE(while_it_runs_there_is_no_end) {
    auto made = shell("read line <&3; exit 4");
    BOOST_TEST(!made.process.reap().has_value());
    BOOST_TEST(!readable_within(made.process.ended_descriptor(), 0));
    BOOST_TEST(made.process.pid() > 0);
    made.socket.reset();  // The end of the socket ends it.
    BOOST_REQUIRE(readable_within(made.process.ended_descriptor(), 10'000));
    BOOST_TEST(made.process.reap().value() == "ended with status 4");
}

BOOST_AUTO_TEST_CASE(signals_are_as_new_and_the_terminal_cannot_reach_it) {
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
    auto made = shell("grep -E 'SigBlk|SigIgn' /proc/self/status >&3; cut -d' ' -f5 /proc/$$/stat >&3");
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    const std::string said = all_from(made.socket);
    BOOST_TEST_MESSAGE(said);
    BOOST_TEST(said.find("SigBlk:\t0000000000000000") != std::string::npos);
    // 32 and 33 belong to the C library.
    const std::string ignored = said.substr(said.find("SigIgn:\t") + 8, 16);
    BOOST_TEST((std::stoull(ignored, nullptr, 16) & ~0x180000000ULL) == 0U);
    BOOST_TEST(said.find("\n" + std::to_string(made.process.pid()) + "\n") != std::string::npos);  // Its own group.
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_there_is_told) {
    std::string why;
    BOOST_TEST(!helper_process::start("/nowhere/hearonce-whisper", {}, why).has_value());
    BOOST_TEST(why.find("/nowhere/hearonce-whisper: No such file") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(its_owner_takes_it_along_and_leaves_no_zombie) {
    int pid = 0;
    {
        auto made = shell("trap '' TERM INT HUP; while :; do sleep 1; done");
        pid = made.process.pid();
        const helper_process moved = std::move(made.process);
        BOOST_TEST(::kill(pid, 0) == 0);
    }
    BOOST_TEST(::kill(pid, 0) == -1);
    BOOST_TEST(errno == ESRCH);
}

// Asio makes what it watches non-blocking.
BOOST_AUTO_TEST_CASE(a_watched_descriptor_changes_nothing) {
    auto made = shell("read line <&3; exec sleep 60");
    ::fcntl(made.process.ended_descriptor(), F_SETFL, O_NONBLOCK);
    BOOST_TEST(!made.process.reap().has_value());
    const int pid = made.process.pid();
    made.process.finish(0ms);
    BOOST_TEST(::kill(pid, 0) == -1);
}

BOOST_AUTO_TEST_CASE(finishing_waits_for_a_good_end_and_forces_a_bad_one) {
    auto good = shell("read line <&3; exit 0");
    good.socket.reset();
    auto began = steady::now();
    good.process.finish(5s);
    BOOST_TEST((steady::now() - began < 4s));
    auto bad = shell("exec sleep 60");
    const int pid = bad.process.pid();
    began = steady::now();
    bad.process.finish(50ms);
    BOOST_TEST((steady::now() - began >= 45ms));
    BOOST_TEST((steady::now() - began < 5s));
    BOOST_TEST(::kill(pid, 0) == -1);
    bad.process.finish(1h);  // Of no effect.
    bad.process.kill();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(audio)

BOOST_AUTO_TEST_CASE(bytes_in_memory_become_a_file_nobody_can_change) {
    std::string bytes(300'001, 'x');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 % 251);
    const owned_descriptor file = descriptor_of(bytes_in_memory(bytes));
    BOOST_REQUIRE(file);
    BOOST_TEST((content_of(file.get()) == bytes));
    BOOST_TEST(::pwrite(file.get(), "y", 1, 0) == -1);
    BOOST_TEST(::ftruncate(file.get(), 1) == -1);
    BOOST_TEST((::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0) == MAP_FAILED));
    BOOST_TEST((::fcntl(file.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

// More than one call takes (IOV_MAX), with empty ones between.
BOOST_AUTO_TEST_CASE(any_number_of_pieces_is_written_in_their_order) {
    std::string bytes(50'000, 'x');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 % 251);
    for (const std::size_t count : {1U, 2U, 1023U, 1024U, 1025U, 2048U, 2049U, 5000U}) {
        BOOST_TEST_INFO_SCOPE(count);
        const owned_descriptor file = descriptor_of(bytes_in_memory(bytes, count));
        BOOST_REQUIRE(file);
        BOOST_TEST((content_of(file.get()) == bytes));
    }
}

// The file's size limit makes the kernel take a part of a call: the rest is written on, and what does not fit is a failure.
BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_whole_is_none) {
    const pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit small{10'001, 10'001};
        ::setrlimit(RLIMIT_FSIZE, &small);
        const bool fits = static_cast<bool>(descriptor_of(bytes_in_memory(std::string(10'001, 'x'), 7)));
        const bool more = static_cast<bool>(descriptor_of(bytes_in_memory(std::string(10'002, 'x'), 7)));
        ::_exit(fits && !more ? 0 : 1);
    }
    int status = 0;
    BOOST_REQUIRE_EQUAL(::waitpid(child, &status, 0), child);
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(no_bytes_become_an_empty_file) {
    const owned_descriptor file = descriptor_of(bytes_in_memory(""));
    BOOST_REQUIRE(file);
    BOOST_TEST(content_of(file.get()).empty());
}

BOOST_AUTO_TEST_CASE(a_spilled_file_is_lent_for_reading_only) {
    const bytes_in_file spilled("spilled bytes");
    const owned_descriptor file = descriptor_of(spilled);
    BOOST_REQUIRE(file);
    BOOST_TEST(file.get() != spilled.file_descriptor());
    BOOST_TEST(content_of(file.get()) == "spilled bytes");
    BOOST_TEST(::lseek(file.get(), 0, SEEK_CUR) == 0);  // An offset of its own.
    BOOST_TEST(::pwrite(file.get(), "y", 1, 0) == -1);
    BOOST_TEST(errno == EBADF);
}

BOOST_AUTO_TEST_SUITE_END()
