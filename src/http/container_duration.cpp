// How long a recording lasts by the headers of containers made of chunks: wav, flac, mp4.
//
// Holds: wav_duration(), flac_duration(), mp4_duration(). Next file: webm_duration.cpp.
#include <http/container_bytes.hpp>

namespace hearonce::http {
namespace {

using duration = std::optional<std::chrono::milliseconds>;

// A box of ISO media (ISO 14496-12 section 4.2).
struct box {
    std::array<std::byte, 4> type{};
    std::uint64_t body = 0;  // Offset behind its header.
    std::uint64_t end = 0;   // Never beyond the limit it was read with.
};

bool is(const box& each, std::string_view type) noexcept {
    return says(each.type, 0, type);
}

std::optional<box> box_at(const byte_source& audio, std::uint64_t offset, std::uint64_t limit) noexcept {
    std::array<std::byte, 16> header{};
    if (offset > limit || limit - offset < 8 || audio.read_at(offset, std::span(header).first(8)) != 8) return std::nullopt;
    box found;
    std::copy_n(header.begin() + 4, 4, found.type.begin());
    std::uint64_t length = big_endian(part(header, 0, 4));
    std::uint64_t header_bytes = 8;
    if (length == 1) {
        if (!read_exactly(audio, offset, header)) return std::nullopt;
        length = big_endian(part(header, 8, 8));
        header_bytes = 16;
    } else if (length == 0) {
        length = limit - offset;  // To the end of the file.
    }
    if (length < header_bytes) return std::nullopt;
    found.body = offset + header_bytes;
    found.end = length > limit - offset ? limit : offset + length;
    if (found.body > found.end) return std::nullopt;
    return found;
}

std::optional<box> find_box(const byte_source& audio, std::uint64_t offset, std::uint64_t limit, std::string_view type) noexcept {
    for (int i = 0; i < chunks_max; ++i) {
        const auto each = box_at(audio, offset, limit);
        if (!each) return std::nullopt;
        if (is(*each, type)) return each;
        offset = each->end;
    }
    return std::nullopt;
}

}  // namespace

duration wav_duration(const byte_source& audio) noexcept {
    std::array<std::byte, 12> riff{};
    if (!read_exactly(audio, 0, riff)) return std::nullopt;
    const auto number = says(riff, 0, "RIFX") ? big_endian : little_endian;
    std::uint64_t bytes_per_second = 0;
    std::optional<std::uint64_t> long_size;
    std::uint64_t offset = 12;
    for (int i = 0; i < chunks_max; ++i) {
        std::array<std::byte, 8> header{};
        if (!read_exactly(audio, offset, header)) return std::nullopt;
        offset += 8;
        std::uint64_t length = number(part(header, 4, 4));
        const std::uint64_t left = audio.size_bytes() - offset;
        if (says(header, 0, "data")) {
            if (length == 0xffffffff && long_size) length = *long_size;
            // A stream's writer does not know the length: it leaves 0 or all ones, or is cut off.
            if (length == 0 || length > left) length = left;
            return time_of(length, bytes_per_second);
        }
        std::array<std::byte, 16> body{};
        const std::size_t seen = audio.read_at(offset, body);
        if (says(header, 0, "fmt ") && seen >= 12) bytes_per_second = number(part(body, 8, 4));
        if (says(header, 0, "ds64") && seen >= 16) long_size = number(part(body, 8, 8));
        if (length > left) return std::nullopt;
        offset += length + (length & 1);
    }
    return std::nullopt;
}

duration flac_duration(const byte_source& audio) noexcept {
    std::array<std::byte, 10> head{};
    if (!read_exactly(audio, 0, head)) return std::nullopt;
    // "fLaC", a block header of four bytes, then STREAMINFO (RFC 9639 section 8.2): the rate in 20 bits from its byte 10 on,
    // the number of samples in 36 bits up to its byte 18.
    std::array<std::byte, 26> info{};
    if (!read_exactly(audio, id3_bytes(head), info) || !says(info, 0, "fLaC") || (info[4] & std::byte{0x7f}) != std::byte{0})
        return std::nullopt;
    const std::uint64_t bits = big_endian(part(info, 18, 8));
    const std::uint64_t samples = bits & 0xfffffffffull;
    if (samples == 0) return std::nullopt;  // Unknown.
    return time_of(samples, bits >> 44);
}

duration mp4_duration(const byte_source& audio) noexcept {
    const auto movie = find_box(audio, 0, audio.size_bytes(), "moov");
    if (!movie) return std::nullopt;
    const auto header = find_box(audio, movie->body, movie->end, "mvhd");
    std::array<std::byte, 32> body{};
    if (!header || !read_exactly(audio, header->body, body)) return std::nullopt;
    const bool wide = body[0] == std::byte{1};
    const std::uint64_t scale = big_endian(wide ? part(body, 20, 4) : part(body, 12, 4));
    const std::uint64_t length = big_endian(wide ? part(body, 24, 8) : part(body, 16, 4));
    const std::uint64_t unknown = wide ? ~0ull : 0xffffffffull;
    if (length != 0 && length != unknown) return time_of(length, scale);
    // A fragmented file says it elsewhere, if at all.
    const auto extends = find_box(audio, movie->body, movie->end, "mvex");
    if (!extends) return std::nullopt;
    const auto extended = find_box(audio, extends->body, extends->end, "mehd");
    std::array<std::byte, 12> fragments{};
    if (!extended || audio.read_at(extended->body, fragments) < 8) return std::nullopt;
    const std::uint64_t total = big_endian(fragments[0] == std::byte{1} ? part(fragments, 4, 8) : part(fragments, 4, 4));
    if (total == 0) return std::nullopt;
    return time_of(total, scale);
}

}  // namespace hearonce::http
