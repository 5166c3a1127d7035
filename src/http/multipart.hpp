// The streaming parser of multipart/form-data (RFC 7578, RFC 2046 section 5.1): no I/O, no copy of what a part holds.
//
// Holds: multipart_limits, multipart_parser. Next file: form.hpp.
//
// Bytes are given as they arrive, in pieces of any size; a boundary may lie across any of their borders. What a part holds
// comes out as spans of the given bytes. Decided where the RFCs leave room:
//   - Lines end with CRLF. A bare LF is refused in a part's head and is data elsewhere: two parsers in a row must read the
//     same form.
//   - A line that begins with the delimiter and goes on otherwise is an error, not data (RFC 2046 forbids it in data).
//   - Blanks after a boundary, a preamble and an epilogue are skipped, within bounds.
//   - A part may end right after its head, without the empty line's own line break (RFC 2046's grammar allows it).
#pragma once

#include <hearonce/error.hpp>
#include <http/part_head.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hearonce::http {

struct multipart_limits {
    std::size_t parts_max = 1024;
    std::size_t part_head_bytes_max = 16 * 1024;  // Of one part, the padding after its boundary included.
    std::size_t outside_bytes_max = 64 * 1024;    // Preamble and epilogue together.
};

// One body. Not movable: spans it hands out may point into it.
class multipart_parser {
public:
    enum class event : std::uint8_t {
        need_more,  // The input is used up.
        part,       // A part begins: head().
        data,       // Bytes of the part: data(), never empty, valid as long as the input and the parser are.
        part_end,   // The part is complete.
        end,        // The final boundary was read. What follows is the epilogue.
    };

    // `boundary` as boundary_of() gives it.
    explicit multipart_parser(std::string_view boundary, multipart_limits limits = {});
    multipart_parser(const multipart_parser&) = delete;
    multipart_parser& operator=(const multipart_parser&) = delete;

    // The next event in `input`, whose front moves past what was read. Call until need_more, then give more. After an error
    // (errc::invalid_multipart) every call gives an error.
    result<event> next(std::span<const std::byte>& input);

    // To be called when the body has ended: an error when the final boundary was not there.
    result<void> finish() const;

    const part_head& head() const noexcept { return head_; }
    std::span<const std::byte> data() const noexcept { return data_; }

private:
    enum class state : std::uint8_t { preamble, body, after_boundary, head, epilogue, failed };

    result<event> fail(std::string message);
    // Moves `input` up to or past the next delimiter; true when something was found that next() reports.
    bool scan(std::span<const std::byte>& input);
    void scan_held(std::span<const std::byte>& input);
    void scan_fresh(std::span<const std::byte>& input);
    result<event> read_after_boundary(std::span<const std::byte>& input);
    result<event> read_head(std::span<const std::byte>& input);
    result<event> begin_part();

    multipart_limits limits_;
    std::string delimiter_;  // CRLF "--" boundary
    state state_ = state::preamble;
    std::size_t matched_ = 0;   // Bytes of the delimiter that the input so far ended with.
    std::size_t supposed_ = 0;  // Of those, the first ones that were not in the data.
    std::span<const std::byte> data_;
    std::size_t outside_bytes_ = 0;
    std::size_t parts_ = 0;
    std::size_t padding_bytes_ = 0;
    char last_after_boundary_ = 0;  // '-' or CR when the one before was it.
    std::string block_;             // The head being read.
    std::size_t line_begin_ = 0;    // Where in block_ its last line begins.
    part_head head_;
};

}  // namespace hearonce::http
