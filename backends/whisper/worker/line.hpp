// The helper's end of its socket: messages out, bytes and descriptors in.
//
// Holds: descriptor, line. Next file: serve.hpp.
#pragma once

#include <backends/whisper/protocol.hpp>

#include <unistd.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace hearonce::whisper {

class descriptor {
public:
    explicit descriptor(int fd) : fd_(fd) {}
    ~descriptor() { ::close(fd_); }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    int get() const noexcept { return fd_; }

private:
    int fd_;
};

// Read by one thread and written by many.
class line {
public:
    explicit line(int fd) : fd_(fd) {}

    // Ends the process when the gateway is gone.
    void send(const message& what);
    // Bytes and descriptors of one read. False at the end.
    bool receive(std::string& bytes, std::deque<std::unique_ptr<descriptor>>& descriptors);

private:
    int fd_;
    std::mutex writing_;
};

}  // namespace hearonce::whisper
