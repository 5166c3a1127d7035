// Recordings that lie in memory or in a file, for tests of a backend that sends them on.
#pragma once

#include <hearonce/audio.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

namespace hearonce::test {

class text_bytes final : public stored_bytes {
public:
    // In pieces of so many bytes, as the spool keeps them.
    explicit text_bytes(std::string text, std::size_t piece_bytes = 7) : text_(std::move(text)) {
        const auto all = std::as_bytes(std::span(text_));
        for (std::size_t at = 0; at < all.size(); at += piece_bytes)
            pieces_.push_back(all.subspan(at, std::min(piece_bytes, all.size() - at)));
    }
    std::uint64_t size_bytes() const noexcept override { return text_.size(); }
    std::span<const std::span<const std::byte>> pieces() const noexcept override { return pieces_; }
    int file_descriptor() const noexcept override { return -1; }

private:
    std::string text_;
    std::vector<std::span<const std::byte>> pieces_;
};

class file_bytes final : public stored_bytes {
public:
    // `claimed_bytes`: more than there are makes a file that cannot be read to its end.
    file_bytes(const std::string& text, std::uint64_t claimed_bytes) : file_(std::tmpfile()), size_(claimed_bytes) {
        if (file_ == nullptr || std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0) std::abort();
    }
    ~file_bytes() override { std::fclose(file_); }
    std::uint64_t size_bytes() const noexcept override { return size_; }
    std::span<const std::span<const std::byte>> pieces() const noexcept override { return {}; }
    int file_descriptor() const noexcept override { return ::fileno(file_); }

private:
    std::FILE* file_;
    std::uint64_t size_;
};

inline std::shared_ptr<recording> recording_of(std::shared_ptr<const stored_bytes> bytes, container kind = container::wav,
                                               std::string name = "note.wav", std::string type = "audio/wav") {
    auto made = std::make_shared<recording>();
    made->bytes = std::move(bytes);
    made->kind = kind;
    made->client_file_name = std::move(name);
    made->client_content_type = std::move(type);
    return made;
}

inline std::shared_ptr<recording> recording_of(const std::string& text, container kind = container::wav, std::string name = "note.wav",
                                               std::string type = "audio/wav") {
    return recording_of(std::make_shared<text_bytes>(text), kind, std::move(name), std::move(type));
}

}  // namespace hearonce::test
