// A recording's bytes in order, whether they lie in memory or in a file; other bodies are put on top of it.
//
// Holds: stored_reader. Next file: framed_recording_body.hpp.
#pragma once

#include <hearonce/audio.hpp>
#include <net/body_source.hpp>
#include <net/file_reading.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hearonce::net {

// Gives batches by the rules of body_source. Bytes in memory are given where they are; a file is read on another thread,
// `chunk_bytes` at a time. Used on one event loop.
class stored_reader {
public:
    static constexpr std::size_t chunk_bytes = 256 * 1024;

    explicit stored_reader(std::shared_ptr<const stored_bytes> bytes) : bytes_(std::move(bytes)) {}

    std::uint64_t size_bytes() const noexcept { return bytes_->size_bytes(); }
    // At most `buffers_max` buffers; an empty batch is the end, and stays so.
    body_batch next(std::size_t buffers_max = batch_buffers_max);
    boost::asio::awaitable<void> read_more();
    void rewind() noexcept;
    const std::string& failure() const noexcept { return failure_; }

private:
    body_batch next_in_memory(std::size_t buffers_max);
    body_batch next_in_file();

    std::shared_ptr<const stored_bytes> bytes_;
    std::vector<boost::asio::const_buffer> batch_;
    std::size_t piece_ = 0;         // In memory: the next one.
    std::uint64_t read_bytes_ = 0;  // In a file: so many were read.
    file_bytes chunk_;
    std::size_t ready_bytes_ = 0;  // Of the chunk, not yet given.
    std::string failure_;
};

}  // namespace hearonce::net
