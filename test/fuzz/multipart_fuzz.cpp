// Any bytes as a form: the parser never reads outside, and how the bytes are cut never changes what it finds.
//
// The first byte chooses the size of the pieces, the rest is a body whose boundary is "b". Next file: container_fuzz.cpp.
#include <http/multipart.hpp>
#include <http/part_head.hpp>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using namespace hearonce;
using namespace hearonce::http;

namespace {

// What came out, as one text: names, data and ends.
std::string events_of(const std::uint8_t* data, std::size_t size, std::size_t piece_size) {
    multipart_parser parser("b", {.parts_max = 20, .part_head_bytes_max = 400, .outside_bytes_max = 200});
    std::string out;
    for (std::size_t at = 0; at < size; at += piece_size) {
        const std::size_t length = std::min(piece_size, size - at);
        // A copy of just this size, so that a read outside is seen.
        const auto piece = std::make_unique<std::byte[]>(length);
        std::copy_n(reinterpret_cast<const std::byte*>(data) + at, length, piece.get());
        std::span<const std::byte> input(piece.get(), length);
        for (;;) {
            const std::size_t before = input.size();
            const auto next = parser.next(input);
            if (!next) return out + "\nerror";
            if (*next == multipart_parser::event::need_more) break;
            if (input.size() > before) std::abort();
            if (*next == multipart_parser::event::part)
                out += "\npart " + parser.head().name + "|" + parser.head().file_name.value_or("-") + "\n";
            if (*next == multipart_parser::event::part_end) out += "\nend";
            if (*next == multipart_parser::event::end) out += "\nall";
            if (*next != multipart_parser::event::data) continue;
            if (parser.data().empty()) std::abort();
            out.append(reinterpret_cast<const char*>(parser.data().data()), parser.data().size());
        }
        if (!input.empty()) std::abort();
    }
    return out + (parser.finish() ? "\ncomplete" : "\ncut");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t piece_size = 1 + data[0] % 40;
    const std::string whole = events_of(data + 1, size - 1, size);
    const std::string pieces = events_of(data + 1, size - 1, piece_size);
    // Data read before an error may end elsewhere, the error itself not.
    const bool failed = whole.ends_with("\nerror");
    if (failed != pieces.ends_with("\nerror")) std::abort();
    if (!failed && whole != pieces) std::abort();

    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto boundary = boundary_of(text)) {
        if (boundary->empty() || boundary->size() > boundary_bytes_max) std::abort();
    }
    if (const auto head = part_head_of(text)) {
        if (head->name.empty()) std::abort();
    }
    return 0;
}
