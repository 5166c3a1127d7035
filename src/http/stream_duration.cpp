// How long a recording lasts in formats that are a row of frames or pages: mp3, aac, ogg.
//
// Holds: mp3_duration(), aac_duration(), ogg_duration(). Next file: spool.hpp.
#include <http/container_bytes.hpp>

#include <memory>

namespace hearonce::http {
namespace {

using duration = std::optional<std::chrono::milliseconds>;

// Bytes of a source from `offset` on, at most so many.
struct window {
    std::unique_ptr<std::byte[]> memory;
    std::span<const std::byte> bytes;
};

window window_at(const byte_source& audio, std::uint64_t offset, std::size_t length_max) {
    window read{std::make_unique_for_overwrite<std::byte[]>(length_max), {}};
    read.bytes = {read.memory.get(), audio.read_at(offset, {read.memory.get(), length_max})};
    return read;
}

std::uint64_t behind_tag(const byte_source& audio) noexcept {
    std::array<std::byte, 10> head{};
    return read_exactly(audio, 0, head) ? id3_bytes(head) : 0;
}

// The rate at which an Ogg stream counts, and what of its count is not heard, from its first packet.
struct ogg_codec {
    std::uint64_t granules_per_second = 0;
    std::uint64_t skipped = 0;
};

std::optional<ogg_codec> ogg_codec_of(std::span<const std::byte> packet) noexcept {
    if (says(packet, 0, "OpusHead") && packet.size() >= 19) return ogg_codec{48000, little_endian(packet.subspan(10, 2))};
    if (says(packet, 0, "\x01vorbis") && packet.size() >= 30) return ogg_codec{little_endian(packet.subspan(12, 4)), 0};
    // The mapping's 9 bytes, "fLaC", a block header of 4, then STREAMINFO with the rate in 20 bits from its byte 10 on.
    if (says(packet, 0,
             "\x7f"
             "FLAC") &&
        packet.size() >= 9 + 8 + 18)
        return ogg_codec{big_endian(packet.subspan(27, 3)) >> 4, 0};
    if (says(packet, 0, "Speex   ") && packet.size() >= 80) return ogg_codec{little_endian(packet.subspan(36, 4)), 0};
    return std::nullopt;
}

// A page (RFC 3533 section 6): 27 bytes, the segment table, the segments.
constexpr std::size_t page_header_bytes = 27;
constexpr std::size_t page_bytes_max = page_header_bytes + 255 + 255 * 255;

// Offset of the page's first segment; 0 if the page does not begin here.
std::size_t page_body(std::span<const std::byte> page) noexcept {
    if (!says(page, 0, std::string_view("OggS\0", 5)) || page.size() < page_header_bytes) return 0;
    const std::size_t body = page_header_bytes + std::to_integer<std::size_t>(page[26]);
    return body <= page.size() ? body : 0;
}

std::span<const std::byte> serial_of(std::span<const std::byte> page) noexcept {
    return page.subspan(14, 4);
}

}  // namespace

duration mp3_duration(const byte_source& audio) noexcept {
    const std::uint64_t start = behind_tag(audio);
    std::array<std::byte, 192> head{};
    const auto bytes = std::span<const std::byte>(head).first(audio.read_at(start, head));
    const auto frame = mpeg_frame_of(bytes);
    if (!frame) return std::nullopt;
    // An encoder that varies the bit rate leaves the number of frames in the first one.
    std::uint64_t frames = 0;
    const std::size_t xing = frame->xing_offset;
    const bool tagged = says(bytes, xing, "Xing") || says(bytes, xing, "Info");
    if (tagged && bytes.size() >= xing + 12 && (bytes[xing + 7] & std::byte{1}) != std::byte{0})
        frames = big_endian(bytes.subspan(xing + 8, 4));
    if (says(bytes, 36, "VBRI") && bytes.size() >= 36 + 18) frames = big_endian(bytes.subspan(36 + 14, 4));
    if (frames > 0) return time_of(frames * frame->samples, frame->samples_per_second);
    return time_of((audio.size_bytes() - start) * 8, frame->bits_per_second);
}

duration aac_duration(const byte_source& audio) {
    const std::uint64_t start = behind_tag(audio);
    const window head = window_at(audio, start, head_bytes_max);
    std::uint64_t samples = 0;
    std::size_t read = 0;
    std::uint32_t rate = 0;
    while (const auto frame = adts_frame_of(head.bytes.subspan(read))) {
        if (frame->frame_bytes > head.bytes.size() - read) break;
        rate = frame->samples_per_second;
        samples += frame->samples;
        read += frame->frame_bytes;
    }
    if (read == 0) return std::nullopt;
    // The frames at the beginning stand for all. Beyond 256 GiB the product below would not fit.
    if (audio.size_bytes() > (1ull << 38)) return std::nullopt;
    return time_of((audio.size_bytes() - start) * samples / read, rate);
}

duration ogg_duration(const byte_source& audio) {
    const window head = window_at(audio, 0, page_bytes_max);
    const std::size_t body = page_body(head.bytes);
    if (body == 0) return std::nullopt;
    const auto codec = ogg_codec_of(head.bytes.subspan(body));
    if (!codec) return std::nullopt;
    // The last page of this stream holds its end; -1 is a page on which no packet ends.
    const std::uint64_t size = audio.size_bytes();
    const window tail = window_at(audio, size - std::min<std::uint64_t>(size, page_bytes_max), page_bytes_max);
    for (std::size_t i = tail.bytes.size(); i-- > 0;) {
        const auto page = tail.bytes.subspan(i);
        if (page[0] != std::byte{'O'} || page_body(page) == 0) continue;
        if (big_endian(serial_of(page)) != big_endian(serial_of(head.bytes))) continue;
        const std::uint64_t granule = little_endian(page.subspan(6, 8));
        if (granule == ~0ull) continue;
        return time_of(granule - std::min(granule, codec->skipped), codec->granules_per_second);
    }
    return std::nullopt;
}

}  // namespace hearonce::http
