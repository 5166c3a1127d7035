// Files for recordings that are too long for memory: unlinked from the start, bounded together.
//
// Holds: spill_space, spill_file. Next file: spool.hpp.
#pragma once

#include <hearonce/error.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include <sys/uio.h>

namespace hearonce::http {

// When a refused upload may come again.
inline constexpr std::chrono::seconds overloaded_retry_after{5};

// The folder and the bytes that may lie there at one time, over all requests. Thread-safe; outlives its files.
class spill_space {
public:
    spill_space(std::filesystem::path directory, std::uint64_t bytes_max);

    // errc::overloaded when so many more would break the bound, or when the disk visibly has no room for them. Only a look:
    // the answer may be another one when the bytes arrive.
    result<void> check_room(std::uint64_t bytes) const;
    // Bytes are counted before they are written; false when the bound would be broken.
    bool take(std::uint64_t bytes) noexcept;
    void give_back(std::uint64_t bytes) noexcept;
    std::uint64_t used_bytes() const noexcept { return used_bytes_.load(std::memory_order_relaxed); }

    // A sentence when the folder cannot be used, or is kept in memory (tmpfs) and so saves none; for the start's log.
    std::optional<std::string> complaint() const;
    const std::filesystem::path& directory() const noexcept { return directory_; }

private:
    const std::filesystem::path directory_;
    const std::uint64_t bytes_max_;
    std::atomic<std::uint64_t> used_bytes_{0};
};

// One file without a name. Every function but descriptor() blocks: to be called on the spill threads only.
class spill_file {
public:
    spill_file() = default;
    ~spill_file();
    spill_file(spill_file&& other) noexcept;
    spill_file& operator=(spill_file&& other) noexcept;

    // Makes the file (O_TMPFILE, or a name that is removed at once where the file system has none). The errno on failure, else 0.
    int open(const std::filesystem::path& directory) noexcept;
    // Writes all parts at `offset`. The errno on failure, else 0; the parts are used up.
    int write(std::span<::iovec> parts, std::uint64_t offset) noexcept;

    int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_ = -1;
};

}  // namespace hearonce::http
