// `hearonce serve` as a process of its own, on a free port, in front of one upstream.
//
// Holds: gateway_process. Next file: command.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include <sys/types.h>

namespace hearonce::compare {

// Takes nothing of this machine's configuration or keys. Ended by the destructor.
class gateway_process {
public:
    // Returns once it listens; throws std::runtime_error with its own words when it does not within 20 s.
    gateway_process(const std::filesystem::path& program, const std::string& upstream_url, unsigned threads);
    ~gateway_process();
    gateway_process(const gateway_process&) = delete;
    gateway_process& operator=(const gateway_process&) = delete;

    std::uint16_t port() const noexcept { return port_; }
    // User and system time of the process so far.
    std::chrono::microseconds cpu() const;

private:
    pid_t pid_ = -1;
    int log_ = -1;
    std::uint16_t port_ = 0;
};

}  // namespace hearonce::compare
