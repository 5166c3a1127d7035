// Reading and giving back finished recordings.
//
// Holds: bytes_in_memory, spilled_bytes, stored_source. Next file: spool.cpp.
#include <http/stored.hpp>

#include <boost/asio/post.hpp>

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

namespace hearonce::http {

bytes_in_memory::bytes_in_memory(std::shared_ptr<audio_store> store, std::vector<audio_chunk> chunks, std::size_t last_bytes)
    : store_(std::move(store)), chunks_(std::move(chunks)) {
    assert(last_bytes <= audio_memory::chunk_bytes);
    pieces_.reserve(chunks_.size());
    for (const audio_chunk& chunk : chunks_)
        pieces_.emplace_back(chunk.get(), &chunk == &chunks_.back() ? last_bytes : audio_memory::chunk_bytes);
    for (const auto& piece : pieces_) size_bytes_ += piece.size();
}

spilled_bytes::spilled_bytes(std::shared_ptr<audio_store> store, spill_file file, std::uint64_t size, std::uint64_t taken)
    : store_(std::move(store)), file_(std::move(file)), size_bytes_(size), taken_bytes_(taken) {
    assert(size_bytes_ == taken_bytes_);
}

spilled_bytes::~spilled_bytes() {
    store_->space_.give_back(taken_bytes_);
    // The job holds the file alone: were it to hold the store, the store's threads could come to wait for themselves.
    try {
        boost::asio::post(store_->threads_, [file = std::make_unique<spill_file>(std::move(file_))] {});
    } catch (const std::exception&) {
        // No memory for the job: the file was or will be closed here.
    }
}

std::size_t stored_source::read_at(std::uint64_t offset, std::span<std::byte> into) const noexcept {
    std::size_t done = 0;
    if (offset >= bytes_.size_bytes()) return 0;
    if (bytes_.file_descriptor() >= 0) {
        while (done < into.size()) {
            const ssize_t got =
                ::pread(bytes_.file_descriptor(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }
    for (const auto& piece : bytes_.pieces()) {
        if (offset >= piece.size()) {
            offset -= piece.size();
            continue;
        }
        const auto from = piece.subspan(static_cast<std::size_t>(offset));
        const std::size_t step = std::min(from.size(), into.size() - done);
        std::memcpy(into.data() + done, from.data(), step);
        done += step;
        offset = 0;
        if (done == into.size()) break;
    }
    return done;
}

}  // namespace hearonce::http
