// Where a recording goes while it arrives: hashed as it passes, kept in memory while it is short, in a file when it is long.
//
// Holds: audio_store_settings, audio_store, spool. Next file: upload.hpp.
#pragma once

#include <hearonce/audio.hpp>
#include <hearonce/error.hpp>
#include <http/audio_memory.hpp>
#include <http/sha256_stream.hpp>
#include <http/spill.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hearonce::http {

struct audio_store_settings {
    std::uint64_t memory_bytes_max = 256ull << 20;       // memory.audio
    std::uint64_t spill_above_bytes = 1ull << 20;        // memory.spill_above
    std::filesystem::path spill_directory = "/var/tmp";  // memory.spill_directory
    std::uint64_t spill_bytes_max = 8ull << 30;          // memory.spill_bytes
    std::size_t threads = 2;                             // That write the files.
    std::function<void(const std::string&)> on_failure;  // Told why a file could not be written; any thread.
};

// What all recordings share: the budget, the folder and the threads that write. One a process, made before the event loops.
// Recordings keep it alive. Thread-safe.
class audio_store {
public:
    explicit audio_store(audio_store_settings settings);

    // To be called while the event loops still exist: waits for the writes under way, whose ends are posted to the loops.
    void stop();

    std::uint64_t memory_bytes() const noexcept { return memory_.used_bytes(); }
    std::uint64_t spilled_bytes() const noexcept { return space_.used_bytes(); }

    // A look at an announced length before the body is read: errc::overloaded when it would not fit now.
    result<void> check_room(std::uint64_t announced_bytes) const;
    // For the log at the start; see spill_space::complaint().
    std::optional<std::string> complaint() const { return space_.complaint(); }

private:
    friend class spool;
    friend class spilled_bytes;
    const audio_store_settings settings_;
    audio_memory memory_;
    spill_space space_;
    boost::asio::thread_pool threads_;
};

// One recording while it arrives. Used by one coroutine at a time; must not be destroyed while flush() or finish() runs.
// Destroyed or finished, it has given back everything the result does not hold.
class spool {
public:
    explicit spool(std::shared_ptr<audio_store> store);
    ~spool();
    spool(const spool&) = delete;
    spool& operator=(const spool&) = delete;

    // Hashes and keeps `bytes`. True: await flush() before `bytes` go away, and soon (the recording goes to a file and enough
    // has come together, or the memory budget is used up). More may be appended before that as long as all of it stays.
    bool append(std::span<const std::byte> bytes);

    // Writes what waits to the file. errc::overloaded: the bound of all files is reached or the disk is full; the recording is lost.
    boost::asio::awaitable<result<void>> flush();

    // The recording with its digest, container and probed duration; the client's names are the caller's to add. Call once.
    boost::asio::awaitable<result<recording>> finish();

    std::uint64_t size_bytes() const noexcept { return size_bytes_; }

private:
    void keep(std::span<const std::byte> bytes);
    bool flush_due() const noexcept;
    int write_waiting() noexcept;
    error spill_failed(int failure) const;

    std::shared_ptr<audio_store> store_;
    sha256_stream hash_;
    std::uint64_t size_bytes_ = 0;
    std::uint64_t written_bytes_ = 0;  // To the file.
    std::uint64_t taken_bytes_ = 0;    // Of the space for files.
    bool spilling_ = false;
    bool busy_ = false;                // A write is under way.
    std::vector<audio_chunk> chunks_;  // Full but the last; not yet written.
    std::size_t last_chunk_bytes_ = 0;
    std::vector<std::span<const std::byte>> lent_;  // What no chunk was left for; belongs to the caller of append().
    spill_file file_;
};

}  // namespace hearonce::http
