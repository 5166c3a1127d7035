// The helper as a process: started with nothing but one socket, watched by a descriptor, always reaped.
//
// Holds: owned_descriptor, helper_process. Next file: channel.hpp.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hearonce::whisper {

// A descriptor that is closed with its owner.
class owned_descriptor {
public:
    owned_descriptor() = default;
    explicit owned_descriptor(int fd) noexcept : fd_(fd) {}
    owned_descriptor(owned_descriptor&& other) noexcept : fd_(other.release()) {}
    owned_descriptor& operator=(owned_descriptor&& other) noexcept {
        reset(other.release());
        return *this;
    }
    ~owned_descriptor() { reset(); }

    int get() const noexcept { return fd_; }
    int release() noexcept { return std::exchange(fd_, -1); }
    void reset(int fd = -1) noexcept;
    explicit operator bool() const noexcept { return fd_ >= 0; }

private:
    int fd_ = -1;
};

// One started program. Signal-free: ended processes are found through a pidfd, so nobody else's children are touched.
class helper_process {
public:
    // Descriptor number at which the program finds its end of the socket.
    static constexpr int socket_number = 3;

    struct started;
    // Starts `program` with a clean environment, /dev/null as input and output, our error output, the socket, and no
    // other descriptor; in a process group of its own, so that a Ctrl-C at a terminal does not end it before its work.
    static std::optional<started> start(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                        std::string& why_not);

    // Ends it by force and waits for that; does nothing when it has been reaped.
    ~helper_process();
    helper_process(helper_process&& other) noexcept;
    helper_process& operator=(helper_process&&) = delete;

    int pid() const noexcept { return pid_; }
    // Readable when the process has ended. Stays owned by this object.
    int ended_descriptor() const noexcept { return pidfd_.get(); }
    void kill() const noexcept;
    // How it ended, in words, once it has: reaps it. nullopt while it runs.
    std::optional<std::string> reap() noexcept;
    // Waits for its end, reaps it; by force when it takes longer than `grace`. Blocks.
    void finish(std::chrono::milliseconds grace) noexcept;

private:
    helper_process(int pid, owned_descriptor pidfd) noexcept : pid_(pid), pidfd_(std::move(pidfd)) {}

    int pid_ = 0;  // 0: reaped or moved from.
    owned_descriptor pidfd_;
};

struct helper_process::started {
    helper_process process;
    owned_descriptor socket;  // Our end, non-blocking.
};

}  // namespace hearonce::whisper
