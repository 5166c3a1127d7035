// A recording with text before and after it: the body of a form that carries a file.
//
// Holds: framed_recording_body. Nothing follows; what sends it is sending.cpp.
#pragma once

#include <net/body_source.hpp>
#include <net/stored_reader.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hearonce::net {

// Holds the recording until it is destroyed; copies none of it when it is in memory.
class framed_recording_body final : public body_source {
public:
    framed_recording_body(std::string prefix, std::shared_ptr<const stored_bytes> recording, std::string suffix);
    std::uint64_t size_bytes() const noexcept override { return prefix_.size() + reader_.size_bytes() + suffix_.size(); }
    body_batch next() override;
    boost::asio::awaitable<void> read_more() override { return reader_.read_more(); }
    void rewind() override;
    std::string failure() const override { return reader_.failure(); }

private:
    std::string prefix_;
    stored_reader reader_;
    std::string suffix_;
    std::vector<boost::asio::const_buffer> batch_;
    bool prefix_given_ = false;
    bool suffix_given_ = false;
};

}  // namespace hearonce::net
