// The one budget of audio in memory, over all requests, and the chunks it is made of.
//
// Holds: audio_memory, audio_chunk. Next file: spill.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace hearonce::http {

class audio_memory;

struct audio_chunk_return {
    audio_memory* memory = nullptr;
    void operator()(std::byte* chunk) const noexcept;
};

// audio_memory::chunk_bytes bytes, not initialised. Gives itself back when destroyed.
using audio_chunk = std::unique_ptr<std::byte[], audio_chunk_return>;

// Chunks of one size are handed out until `bytes_max` is used up. Given back, they wait in a bounded free list, so that
// steady traffic allocates nothing. Thread-safe; outlives its chunks.
class audio_memory {
public:
    static constexpr std::size_t chunk_bytes = 32 * 1024;

    // `free_bytes_max`: kept for reuse beyond what is in use; it bounds what a burst leaves behind.
    explicit audio_memory(std::uint64_t bytes_max, std::uint64_t free_bytes_max = 16 * 1024 * 1024);
    ~audio_memory();
    audio_memory(const audio_memory&) = delete;
    audio_memory& operator=(const audio_memory&) = delete;

    // Empty when the budget is used up or the system has no memory: the recording then goes to a file.
    audio_chunk take() noexcept;

    // What is handed out now, whole chunks.
    std::uint64_t used_bytes() const noexcept;
    std::uint64_t bytes_max() const noexcept { return bytes_max_; }

private:
    friend struct audio_chunk_return;
    void give_back(std::byte* chunk) noexcept;

    const std::uint64_t bytes_max_;
    const std::size_t free_max_;
    mutable std::mutex mutex_;
    std::uint64_t used_bytes_ = 0;
    std::vector<std::byte*> free_;  // Most recently used last: its memory is likely still in the cache.
};

}  // namespace hearonce::http
