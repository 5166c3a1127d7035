// How long a WebM recording lasts: by its header, else by the last block that a browser's recorder wrote.
//
// Holds: webm_duration(). Next file: stream_duration.cpp.
#include <http/container_bytes.hpp>

#include <bit>
#include <memory>

namespace hearonce::http {
namespace {

using duration = std::optional<std::chrono::milliseconds>;

// An element of EBML (RFC 8794 section 5 and 6).
struct element {
    std::uint64_t id = 0;  // With its length marker, as specifications write it.
    std::uint64_t body = 0;
    std::uint64_t end = 0;
};

std::optional<element> element_at(const byte_source& audio, std::uint64_t offset, std::uint64_t limit) noexcept {
    std::array<std::byte, 12> header{};
    if (offset >= limit) return std::nullopt;
    const std::size_t seen = audio.read_at(offset, header);
    const auto id_bytes = static_cast<std::size_t>(std::countl_zero(std::to_integer<std::uint8_t>(header[0]))) + 1;
    if (id_bytes > 4 || seen < id_bytes + 1) return std::nullopt;
    const auto size_bytes = static_cast<std::size_t>(std::countl_zero(std::to_integer<std::uint8_t>(header[id_bytes]))) + 1;
    if (size_bytes > 8 || seen < id_bytes + size_bytes) return std::nullopt;
    element found;
    found.id = big_endian(part(header, 0, id_bytes));
    found.body = offset + id_bytes + size_bytes;
    const std::uint64_t all_ones = (1ull << (7 * size_bytes)) - 1;
    const std::uint64_t length = big_endian(part(header, id_bytes, size_bytes)) & all_ones;
    if (found.body > limit) return std::nullopt;
    // All ones: the writer did not know the length yet.
    found.end = length == all_ones || length > limit - found.body ? limit : found.body + length;
    return found;
}

std::optional<element> find_element(const byte_source& audio, std::uint64_t offset, std::uint64_t limit, std::uint64_t id) noexcept {
    for (int i = 0; i < chunks_max; ++i) {
        const auto each = element_at(audio, offset, limit);
        if (!each) return std::nullopt;
        if (each->id == id) return each;
        offset = each->end;
    }
    return std::nullopt;
}

// An element's bytes as a number; 0 for one that is longer than a number can be.
std::uint64_t number_in(const byte_source& audio, const element& from) noexcept {
    std::array<std::byte, 8> bytes{};
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(from.end - from.body, 9));
    if (length > 8 || audio.read_at(from.body, std::span(bytes).first(length)) != length) return 0;
    return big_endian(part(bytes, 0, length));
}

// Where the last cluster begins. Recorders write clusters of half a minute at most, so the end of the file is enough.
std::optional<std::uint64_t> last_cluster(const byte_source& audio) {
    constexpr std::size_t window_bytes = 64 * 1024;
    constexpr std::uint64_t searched_bytes_max = 1024 * 1024;
    constexpr std::string_view id = "\x1f\x43\xb6\x75";
    const auto memory = std::make_unique_for_overwrite<char[]>(window_bytes);
    const std::uint64_t size = audio.size_bytes();
    const std::uint64_t first = size - std::min(size, searched_bytes_max);
    for (std::uint64_t end = size; end > first + id.size();) {
        const std::uint64_t begin = end - std::min<std::uint64_t>(end - first, window_bytes);
        const std::size_t read =
            audio.read_at(begin, std::as_writable_bytes(std::span(memory.get(), static_cast<std::size_t>(end - begin))));
        const std::size_t at = std::string_view(memory.get(), read).rfind(id);
        if (at != std::string_view::npos) return begin + at;
        // The windows overlap, so that an id on their border is seen.
        end = begin + (begin > first ? id.size() - 1 : 0);
    }
    return std::nullopt;
}

// The tick at which the last block of this cluster begins (Matroska: SimpleBlock, or Block in a BlockGroup).
std::optional<std::uint64_t> last_tick(const byte_source& audio, std::uint64_t cluster_offset) noexcept {
    // Half a minute in blocks of 10 ms and more.
    constexpr int blocks_max = 4096;
    const std::uint64_t size = audio.size_bytes();
    const auto cluster = element_at(audio, cluster_offset, size);
    if (!cluster) return std::nullopt;
    std::optional<std::uint64_t> begin, last;
    std::uint64_t offset = cluster->body;
    for (int i = 0; i < blocks_max; ++i) {
        const auto each = element_at(audio, offset, cluster->end);
        if (!each) break;
        offset = each->end;
        if (each->id == 0xe7) last = begin = number_in(audio, *each);
        auto block = each->id == 0xa0 ? element_at(audio, each->body, each->end) : each;
        if (!begin || !block || (block->id != 0xa3 && block->id != 0xa1)) continue;
        std::array<std::byte, 3> head{};  // A track number of one byte, then the time since the cluster's.
        if (!read_exactly(audio, block->body, head) || (head[0] & std::byte{0x80}) == std::byte{0}) continue;
        const auto since = static_cast<std::int16_t>(big_endian(part(head, 1, 2)));
        if (since > 0) last = *begin + static_cast<std::uint64_t>(since);
    }
    return last;
}

// Ticks of so many nanoseconds; nullopt for what cannot be. The comparison also refuses what is not a number.
duration time_of_ticks(double ticks, std::uint64_t nanoseconds) noexcept {
    const double milliseconds = ticks * static_cast<double>(nanoseconds) / 1e6;
    if (!(milliseconds > 0 && milliseconds < 30.0 * 24 * 3600 * 1000)) return std::nullopt;
    return std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
}

}  // namespace

duration webm_duration(const byte_source& audio) {
    const auto stream = find_element(audio, 0, audio.size_bytes(), 0x18538067);  // Segment
    if (!stream) return std::nullopt;
    const auto info = find_element(audio, stream->body, stream->end, 0x1549a966);
    if (!info) return std::nullopt;
    const auto scale = find_element(audio, info->body, info->end, 0x2ad7b1);
    const std::uint64_t nanoseconds = scale ? number_in(audio, *scale) : 1'000'000;
    const auto length = find_element(audio, info->body, info->end, 0x4489);
    if (length) {
        const std::uint64_t bits = number_in(audio, *length);
        double ticks = 0;
        if (length->end - length->body == 4)
            ticks = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        else if (length->end - length->body == 8)
            ticks = std::bit_cast<double>(bits);
        return time_of_ticks(ticks, nanoseconds);
    }
    // A browser's recorder does not come back to write the length.
    const auto cluster = last_cluster(audio);
    if (!cluster) return std::nullopt;
    const auto tick = last_tick(audio, *cluster);
    if (!tick) return std::nullopt;
    return time_of_ticks(static_cast<double>(*tick), nanoseconds);
}

}  // namespace hearonce::http
