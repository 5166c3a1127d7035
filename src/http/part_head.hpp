// What the headers around a form say: the boundary in the request's Content-Type, the name and file name of each part.
//
// Holds: part_head, boundary_of(), part_head_of(). Pure functions over text. Next file: multipart.hpp.
#pragma once

#include <hearonce/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace hearonce::http {

// The headers of one part (RFC 7578 section 4).
struct part_head {
    std::string name;                      // Not empty, valid UTF-8 without control characters.
    std::optional<std::string> file_name;  // Present when the part names one, empty included: then it is a file. Bytes as sent.
    std::string content_type;              // As sent; empty when the part has none.
};

// Longest boundary (RFC 2046 section 5.1.1).
inline constexpr std::size_t boundary_bytes_max = 70;

// The boundary in a request's Content-Type, 1..70 bytes of printable ASCII without quotes. Parameter names have any case,
// the value may be quoted; unquoted values may hold the characters that RFC 2046 wants quoted ('=', '/', ':'), because
// clients send them so. errc::unsupported_media_type for anything else.
result<std::string> boundary_of(std::string_view content_type);

// One part's header block, lines that end with CRLF without the empty line that ends it. errc::invalid_multipart without a
// `Content-Disposition: form-data` with a name, for control characters, and for a transfer encoding that would have to be
// undone (RFC 7578 section 4.7 forbids it).
//
// `filename*` (RFC 5987, UTF-8 only) wins over `filename`. In quoted strings `\"` and `\\` are escapes, any other backslash
// stays (old browsers send paths), and `%22` is a quote: that is how browsers write one (HTML, section 4.10.22.8).
result<part_head> part_head_of(std::string_view block);

}  // namespace hearonce::http
