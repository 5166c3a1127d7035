// How far a download has come: a bar that is written over on a terminal, nothing elsewhere, where it would only fill logs.
//
// Holds: transfer_text(), transfer_line. Next file: models_pull.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::cli {

// One line: name, bar, share, bytes, rate and time left where they are known. Pure. `since`: the time in which `fresh_bytes`
// of the `bytes` came; the rest was here before.
std::string transfer_text(std::string_view name, std::uint64_t bytes, std::optional<std::uint64_t> whole, std::uint64_t fresh_bytes,
                          std::chrono::milliseconds since);

// On stderr. Drawn at most ten times a second.
class transfer_line {
public:
    explicit transfer_line(std::string name);
    ~transfer_line();
    transfer_line(const transfer_line&) = delete;
    transfer_line& operator=(const transfer_line&) = delete;

    // A try begins with so many bytes here.
    void begin(std::uint64_t bytes);
    void show(std::uint64_t bytes, std::optional<std::uint64_t> whole);
    void note(std::string_view text);  // In place of the bar.
    void clear();

private:
    std::string name_;
    bool on_terminal_;
    bool shown_ = false;
    std::uint64_t before_ = 0;
    std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace hearonce::cli
