// The body of an outbound call, given batch by batch so that nothing has to be in memory as a whole.
//
// Holds: body_step, body_batch, body_source, text_body. Next file: one_call.hpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace hearonce::net {

enum class body_step : std::uint8_t {
    given,   // Here are bytes; none at all is the end.
    wait,    // The bytes have to be fetched first: await read_more(), then ask again.
    failed,  // The bytes cannot be had; failure() says why and the call must be given up.
};

// Buffers that are sent as they stand, without a copy and in as few writes as the connection takes them. Valid until the next
// call of anything of their source but size_bytes().
struct body_batch {
    body_step step = body_step::given;
    std::span<const boost::asio::const_buffer> buffers;
};

// What one write takes at a time (IOV_MAX is larger, Asio's own bound is 64); one is left for the request's head.
constexpr std::size_t batch_buffers_max = 63;

// Read in order from one event loop, and from the start again where a kept connection turned out to be dead.
class body_source {
public:
    virtual ~body_source() = default;
    // All bytes it will give; becomes Content-Length.
    virtual std::uint64_t size_bytes() const noexcept = 0;
    virtual body_batch next() = 0;
    // Only after next() said `wait`. Runs on the call's executor and must not block it.
    virtual boost::asio::awaitable<void> read_more() { co_return; }
    // Back to the first byte. Never while read_more() runs.
    virtual void rewind() = 0;
    virtual std::string failure() const { return {}; }
};

// A body that is in memory anyway.
class text_body final : public body_source {
public:
    explicit text_body(std::string text) : text_(std::move(text)), whole_(boost::asio::buffer(text_)) {}
    text_body(const text_body&) = delete;
    text_body& operator=(const text_body&) = delete;
    std::uint64_t size_bytes() const noexcept override { return text_.size(); }
    body_batch next() override {
        body_batch batch;
        if (!std::exchange(given_, true)) batch.buffers = std::span(&whole_, 1);
        return batch;
    }
    void rewind() override { given_ = false; }

private:
    std::string text_;
    boost::asio::const_buffer whole_;
    bool given_ = false;
};

}  // namespace hearonce::net
