// The body of an outbound call, given piece by piece so that nothing has to be in memory as a whole.
//
// Holds: body_source, text_body. Next file: one_call.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace hearonce::net {

// Read once, in order, from one event loop.
class body_source {
public:
    virtual ~body_source() = default;
    // All bytes it will give; becomes Content-Length.
    virtual std::uint64_t size_bytes() const noexcept = 0;
    // The next piece, valid until the next call or the object's end; empty at the end. nullopt: the bytes cannot be had
    // (failure() says why) and the call must be given up.
    virtual std::optional<std::span<const std::byte>> next() = 0;
    virtual std::string failure() const { return {}; }
};

// A body that is in memory anyway.
class text_body final : public body_source {
public:
    explicit text_body(std::string text) : text_(std::move(text)) {}
    std::uint64_t size_bytes() const noexcept override { return text_.size(); }
    std::optional<std::span<const std::byte>> next() override {
        if (std::exchange(given_, true)) return std::span<const std::byte>();
        return std::as_bytes(std::span(text_));
    }

private:
    std::string text_;
    bool given_ = false;
};

}  // namespace hearonce::net
