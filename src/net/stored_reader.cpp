// Next file: framed_recording_body.cpp.
#include <net/stored_reader.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace hearonce::net {

namespace asio = boost::asio;

body_batch stored_reader::next(std::size_t buffers_max) {
    if (!failure_.empty()) return {body_step::failed, {}};
    return bytes_->file_descriptor() < 0 ? next_in_memory(buffers_max) : next_in_file();
}

body_batch stored_reader::next_in_memory(std::size_t buffers_max) {
    const auto pieces = bytes_->pieces();
    batch_.clear();
    for (; piece_ < pieces.size() && batch_.size() < buffers_max; ++piece_) {
        const auto piece = pieces[piece_];
        if (!piece.empty()) batch_.emplace_back(piece.data(), piece.size());
    }
    return {body_step::given, batch_};
}

body_batch stored_reader::next_in_file() {
    batch_.clear();
    if (ready_bytes_ == 0) return {read_bytes_ < size_bytes() ? body_step::wait : body_step::given, {}};
    batch_.emplace_back(chunk_->data(), std::exchange(ready_bytes_, 0));
    return {body_step::given, batch_};
}

asio::awaitable<void> stored_reader::read_more() {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(chunk_bytes, size_bytes() - read_bytes_));
    // Taken out meanwhile: should this wait be cancelled, the thread still writes to it and it is used no more.
    file_bytes into = std::exchange(chunk_, nullptr);
    if (!into) into = std::make_shared<std::vector<std::byte>>();
    into->resize(wanted);
    const auto got = co_await read_file(bytes_, read_bytes_, into);
    if (got.failure != 0) {
        failure_ = "the recording cannot be read: " + std::generic_category().message(got.failure);
    } else if (got.bytes < wanted) {
        failure_ = "the recording became shorter while it was read";
    } else {
        chunk_ = std::move(into);
        read_bytes_ += wanted;
        ready_bytes_ = wanted;
    }
}

void stored_reader::rewind() noexcept {
    piece_ = 0;
    read_bytes_ = 0;
    ready_bytes_ = 0;
    failure_.clear();
}

}  // namespace hearonce::net
