// A recording inside JSON text: the body of a call that carries its audio inline.
//
// Holds: base64_size(), base64_of(), base64_body. Next file: base64_body.cpp; what sends it is src/net/sending.cpp.
#pragma once

#include <net/body_source.hpp>
#include <net/stored_reader.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::gemini {

// Characters that stand for so many bytes, padding included (RFC 4648 section 4).
constexpr std::uint64_t base64_size(std::uint64_t bytes) noexcept {
    return (bytes / 3 + (bytes % 3 != 0 ? 1 : 0)) * 4;
}

// Writes base64_size(bytes.size()) characters to `to` and gives the end of them.
char* base64_of(std::span<const std::byte> bytes, char* to) noexcept;

// `prefix`, the recording in base64, `suffix`. Encodes while it is sent, `batch_bytes` at a time: the whole encoding is never
// in memory, nor is a recording that lies in a file. Used on one event loop.
class base64_body final : public net::body_source {
public:
    static constexpr std::size_t batch_bytes = 48UL * 1024;  // Of audio; divisible by three.

    base64_body(std::string prefix, std::shared_ptr<const stored_bytes> recording, std::string suffix);
    std::uint64_t size_bytes() const noexcept override { return prefix_.size() + base64_size(reader_.size_bytes()) + suffix_.size(); }
    net::body_batch next() override;
    boost::asio::awaitable<void> read_more() override { return reader_.read_more(); }
    void rewind() override;
    std::string failure() const override { return reader_.failure(); }

private:
    net::body_step fetch();
    void encode_row();
    void end_audio();

    std::string prefix_;
    net::stored_reader reader_;
    std::string suffix_;
    std::vector<char> encoded_;
    std::size_t encoded_bytes_ = 0;
    std::span<const boost::asio::const_buffer> row_;  // What the reader gave and is not encoded yet.
    std::size_t skip_bytes_ = 0;                      // Of the first of them.
    std::array<std::byte, 3> carry_{};                // Bytes between two buffers that do not fill a group of three.
    std::size_t carry_bytes_ = 0;
    bool prefix_given_ = false;
    bool ended_ = false;
    std::vector<boost::asio::const_buffer> batch_;
};

}  // namespace hearonce::gemini
