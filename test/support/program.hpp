// Runs a real program and brings back what it said and how it ended; kills it when it does not end.
#pragma once

#include <test/support/scratch.hpp>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hearonce::test {

struct ended_program {
    int code = -1;  // Exit code; 128 + n for signal n.
    std::string out;
    std::string err;
};

// Started by the constructor. Its environment is `variables` alone. stdout goes to `out_file` and stderr to `err_descriptor`
// where they are given, else they are what wait() brings back.
class program {
public:
    program(const std::string& file, std::vector<std::string> arguments, const std::map<std::string, std::string>& variables,
            const std::string& out_file = {}, int err_descriptor = -1) {
        arguments.insert(arguments.begin(), file);
        std::vector<std::string> pairs;
        for (const auto& [name, text] : variables) pairs.push_back(name + "=" + text);
        std::vector<char*> argv, envp;
        for (auto& one : arguments) argv.push_back(one.data());
        for (auto& one : pairs) envp.push_back(one.data());
        argv.push_back(nullptr);
        envp.push_back(nullptr);
        out_ = out_file.empty() ? (place_.folder() / "out").string() : out_file;
        err_ = (place_.folder() / "err").string();
        pid_ = ::fork();
        BOOST_REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            // Files, not pipes: nothing can block on a pipe nobody reads.
            ::dup2(::open("/dev/null", O_RDONLY), 0);
            ::dup2(::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
            ::dup2(err_descriptor >= 0 ? err_descriptor : ::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
            ::execve(file.c_str(), argv.data(), envp.data());
            ::_exit(126);
        }
    }
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    ~program() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
    }

    void signal(int number) const { ::kill(pid_, number); }

    ended_program wait(int seconds = 30) {
        const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
        pollfd watched{descriptor, POLLIN, 0};
        const bool ended = ::poll(&watched, 1, seconds * 1000) == 1;
        ::close(descriptor);
        if (!ended) ::kill(pid_, SIGKILL);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = 0;
        BOOST_TEST_REQUIRE(ended, "the program did not end; stderr: " << scratch::read(err_));
        ended_program result;
        result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (out_.starts_with(place_.folder().string())) result.out = scratch::read(out_);
        result.err = scratch::read(err_);
        return result;
    }

private:
    scratch place_;
    std::string out_;
    std::string err_;
    pid_t pid_ = 0;
};

}  // namespace hearonce::test
