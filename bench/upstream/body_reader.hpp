// A request's body, piece by piece, out of a peer's bytes.
//
// Holds: body_reader. Next file: session.cpp.
#pragma once

#include <bench/upstream/peer.hpp>

#include <http/exchange.hpp>
#include <server/request_parser.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearonce::upstream {

class body_reader {
public:
    enum class got : std::uint8_t {
        piece,   // data()
        end,     // That was all.
        broken,  // The framing is wrong.
        left,    // The peer ended before the body did.
    };

    // All three must outlive it. `parser` has read the head.
    body_reader(peer& from, const http::request_head& head, server::request_parser& parser);

    boost::asio::awaitable<got> next();
    // Valid until the next call.
    std::span<const std::byte> data() const noexcept { return data_; }
    std::uint64_t bytes() const noexcept { return bytes_; }

private:
    // Takes a piece out of what has been received; false: more is needed.
    bool take_sized();
    bool take_chunk();
    void take_data(std::string_view bytes);

    peer& from_;
    server::request_parser& parser_;
    bool chunked_;
    bool ended_;
    bool broken_ = false;
    std::uint64_t left_;  // Of Content-Length.
    std::uint64_t bytes_ = 0;
    std::size_t used_ = 0;  // Of the input, by the last piece; consumed when that piece is done with.
    std::span<const std::byte> data_;
};

}  // namespace hearonce::upstream
