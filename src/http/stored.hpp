// Finished recordings: in chunks of memory or in an unlinked file.
//
// Holds: bytes_in_memory, spilled_bytes, stored_source. Next file: spool.cpp.
#pragma once

#include <hearonce/audio.hpp>
#include <http/container.hpp>
#include <http/spool.hpp>

#include <memory>
#include <span>
#include <vector>

namespace hearonce::http {

class bytes_in_memory final : public stored_bytes {
public:
    // All chunks are full but the last, which holds `last_bytes`.
    bytes_in_memory(std::shared_ptr<audio_store> store, std::vector<audio_chunk> chunks, std::size_t last_bytes);
    std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
    std::span<const std::span<const std::byte>> pieces() const noexcept override { return pieces_; }
    int file_descriptor() const noexcept override { return -1; }

private:
    std::shared_ptr<audio_store> store_;  // First, so that it outlives the chunks.
    std::vector<audio_chunk> chunks_;
    std::vector<std::span<const std::byte>> pieces_;
    std::uint64_t size_bytes_ = 0;
};

class spilled_bytes final : public stored_bytes {
public:
    // `taken` bytes of the space for files are this object's to give back.
    spilled_bytes(std::shared_ptr<audio_store> store, spill_file file, std::uint64_t size, std::uint64_t taken);
    // The file is closed on the store's threads: freeing the blocks of a long one takes a while.
    ~spilled_bytes() override;
    std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
    std::span<const std::span<const std::byte>> pieces() const noexcept override { return {}; }
    int file_descriptor() const noexcept override { return file_.descriptor(); }

private:
    std::shared_ptr<audio_store> store_;
    spill_file file_;
    std::uint64_t size_bytes_;
    std::uint64_t taken_bytes_;
};

// Reads anywhere in a finished recording. Blocks when it is in a file.
class stored_source final : public byte_source {
public:
    explicit stored_source(const stored_bytes& bytes) : bytes_(bytes) {}
    std::uint64_t size_bytes() const noexcept override { return bytes_.size_bytes(); }
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const noexcept override;

private:
    const stored_bytes& bytes_;
};

}  // namespace hearonce::http
