// Counts and recycles the chunks in which recordings are kept.
//
// Holds: audio_memory. Next file: spill.cpp.
#include <http/audio_memory.hpp>

#include <algorithm>
#include <cassert>
#include <new>

namespace hearonce::http {

void audio_chunk_return::operator()(std::byte* chunk) const noexcept {
    memory->give_back(chunk);
}

audio_memory::audio_memory(std::uint64_t bytes_max, std::uint64_t free_bytes_max)
    : bytes_max_(bytes_max), free_max_(static_cast<std::size_t>(std::min(bytes_max, free_bytes_max) / chunk_bytes)) {
    // Reserved here so that giving back never allocates.
    free_.reserve(free_max_);
}

audio_memory::~audio_memory() {
    assert(used_bytes_ == 0);
    for (std::byte* chunk : free_) delete[] chunk;
}

audio_chunk audio_memory::take() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (bytes_max_ - used_bytes_ < chunk_bytes) return {};
        used_bytes_ += chunk_bytes;
        if (!free_.empty()) {
            audio_chunk chunk(free_.back(), {this});
            free_.pop_back();
            return chunk;
        }
    }
    audio_chunk chunk(new (std::nothrow) std::byte[chunk_bytes], {this});
    if (chunk == nullptr) {
        const std::lock_guard lock(mutex_);
        used_bytes_ -= chunk_bytes;
    }
    return chunk;
}

void audio_memory::give_back(std::byte* chunk) noexcept {
    {
        const std::lock_guard lock(mutex_);
        assert(used_bytes_ >= chunk_bytes);
        used_bytes_ -= chunk_bytes;
        if (free_.size() < free_max_) {
            free_.push_back(chunk);
            return;
        }
    }
    delete[] chunk;
}

std::uint64_t audio_memory::used_bytes() const noexcept {
    const std::lock_guard lock(mutex_);
    return used_bytes_;
}

}  // namespace hearonce::http
