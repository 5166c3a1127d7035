// Next file: models_pull.cpp.
#include <cli/transfer_line.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace hearonce::cli {
namespace {

constexpr std::uint64_t bar_width = 20;
constexpr std::chrono::milliseconds redraw{100};

std::string mebibytes(double bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f MiB", bytes / (1024 * 1024));
    return text;
}

}  // namespace

std::string transfer_text(std::string_view name, std::uint64_t bytes, std::optional<std::uint64_t> whole, std::uint64_t fresh_bytes,
                          std::chrono::milliseconds since) {
    std::string out(name);
    if (whole && *whole > 0) {
        const double share = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(*whole));
        const auto full = static_cast<std::size_t>(share * static_cast<double>(bar_width));
        out += " [" + std::string(full, '#') + std::string(bar_width - full, '.') + "] " + std::to_string(static_cast<int>(share * 100)) +
               " %  " + mebibytes(static_cast<double>(bytes)) + " of " + mebibytes(static_cast<double>(*whole));
    } else {
        out += "  " + mebibytes(static_cast<double>(bytes));
    }
    if (fresh_bytes == 0 || since < redraw) return out;
    const double rate = static_cast<double>(fresh_bytes) * 1000 / static_cast<double>(since.count());
    out += "  " + mebibytes(rate) + "/s";
    if (whole && *whole > bytes) {
        const auto left = static_cast<long long>(static_cast<double>(*whole - bytes) / rate + 0.5);
        char text[48];
        std::snprintf(text, sizeof text, "  %lld:%02lld left", std::min(left, 359'999LL) / 60, std::min(left, 359'999LL) % 60);
        out += text;
    }
    return out;
}

transfer_line::transfer_line(std::string name)
    : name_(std::move(name)), on_terminal_(::isatty(STDERR_FILENO) == 1), began_(std::chrono::steady_clock::now()) {}

transfer_line::~transfer_line() {
    clear();
}

void transfer_line::begin(std::uint64_t bytes) {
    before_ = bytes;
    began_ = std::chrono::steady_clock::now();
}

void transfer_line::show(std::uint64_t bytes, std::optional<std::uint64_t> whole) {
    const auto now = std::chrono::steady_clock::now();
    if (!on_terminal_ || now - drawn_ < redraw) return;
    drawn_ = now;
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now - began_);
    note(transfer_text(name_, bytes, whole, bytes - std::min(bytes, before_), since));
}

void transfer_line::note(std::string_view text) {
    if (!on_terminal_) return;
    shown_ = true;
    std::cerr << "\r\x1b[K" << text << std::flush;
}

void transfer_line::clear() {
    if (std::exchange(shown_, false)) std::cerr << "\r\x1b[K" << std::flush;
}

}  // namespace hearonce::cli
