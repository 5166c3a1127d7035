// Recognises containers by their first bytes, and reads frame headers.
//
// Holds: container_of(), duration_of(), mpeg_frame_of(), adts_frame_of(). Next file: durations of the single containers,
// container_duration.cpp, webm_duration.cpp and stream_duration.cpp.
#include <http/container.hpp>
#include <http/container_bytes.hpp>

namespace hearonce::http {
namespace {

std::uint32_t at(std::span<const std::byte> bytes, std::size_t index) noexcept {
    return std::to_integer<std::uint32_t>(bytes[index]);
}

// The sync bits of these frames are few, and any file can begin with them: a second frame must follow the first, or the
// first must be all there is.
template <class Frame>
bool confirmed(std::span<const std::byte> bytes, const Frame& frame_of) noexcept {
    const auto first = frame_of(bytes);
    if (!first || first->frame_bytes > bytes.size()) return false;
    const auto rest = bytes.subspan(first->frame_bytes);
    return rest.empty() || frame_of(rest).has_value();
}

container frames_of(std::span<const std::byte> bytes) noexcept {
    if (confirmed(bytes, adts_frame_of)) return container::aac;
    if (confirmed(bytes, mpeg_frame_of)) return container::mp3;
    return container::unknown;
}

}  // namespace

std::optional<mpeg_frame> mpeg_frame_of(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < 4 || at(bytes, 0) != 0xff || (at(bytes, 1) & 0xe0) != 0xe0) return std::nullopt;
    const std::uint32_t version = (at(bytes, 1) >> 3) & 3;  // 0: 2.5, 2: 2, 3: 1
    const std::uint32_t layer = 4 - ((at(bytes, 1) >> 1) & 3);
    const std::uint32_t rate_index = at(bytes, 2) >> 4;
    const std::uint32_t frequency_index = (at(bytes, 2) >> 2) & 3;
    const std::uint32_t padding = (at(bytes, 2) >> 1) & 1;
    const bool mono = (at(bytes, 3) >> 6) == 3;
    if (version == 1 || layer == 4 || rate_index == 0 || rate_index == 15 || frequency_index == 3) return std::nullopt;

    // kbit/s by the bit rate index, for MPEG-1 layers I to III, then MPEG-2 layer I and layers II/III.
    static constexpr std::uint16_t rates[5][16] = {{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 0},
                                                   {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0},
                                                   {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0},
                                                   {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 0},
                                                   {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0}};
    static constexpr std::uint32_t frequencies[3] = {44100, 48000, 32000};
    const bool first_version = version == 3;
    mpeg_frame frame;
    frame.bits_per_second = 1000u * rates[first_version ? layer - 1 : layer == 1 ? 3 : 4][rate_index];
    frame.samples_per_second = frequencies[frequency_index] >> (first_version ? 0 : version == 2 ? 1 : 2);
    frame.samples = layer == 1 ? 384 : layer == 3 && !first_version ? 576 : 1152;
    frame.frame_bytes = layer == 1 ? (12 * frame.bits_per_second / frame.samples_per_second + padding) * 4
                                   : frame.samples / 8 * frame.bits_per_second / frame.samples_per_second + padding;
    frame.xing_offset = 4 + (first_version ? (mono ? 17 : 32) : (mono ? 9 : 17));
    return frame;
}

std::optional<adts_frame> adts_frame_of(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < 7 || at(bytes, 0) != 0xff || (at(bytes, 1) & 0xf6) != 0xf0) return std::nullopt;
    static constexpr std::uint32_t frequencies[13] = {96000, 88200, 64000, 48000, 44100, 32000, 24000,
                                                      22050, 16000, 12000, 11025, 8000,  7350};
    const std::uint32_t frequency_index = (at(bytes, 2) >> 2) & 15;
    if (frequency_index >= 13) return std::nullopt;
    adts_frame frame;
    frame.frame_bytes = ((at(bytes, 3) & 3) << 11) | (at(bytes, 4) << 3) | (at(bytes, 5) >> 5);
    frame.samples_per_second = frequencies[frequency_index];
    frame.samples = 1024 * ((at(bytes, 6) & 3) + 1);
    if (frame.frame_bytes < 7) return std::nullopt;
    return frame;
}

container container_of(std::span<const std::byte> head) noexcept {
    head = head.first(std::min(head.size(), head_bytes_max));
    if (says(head, 8, "WAVE") && (says(head, 0, "RIFF") || says(head, 0, "RIFX") || says(head, 0, "RF64") || says(head, 0, "BW64")))
        return container::wav;
    if (says(head, 0, "fLaC")) return container::flac;
    if (says(head, 0, std::string_view("OggS\0", 5))) return container::ogg;
    if (says(head, 0, "\x1a\x45\xdf\xa3")) return container::webm;
    if (says(head, 4, "ftyp")) return container::mp4;
    if (const std::uint64_t tag = id3_bytes(head); tag > 0) {
        // The tag also stands before flac and aac. Behind a long one (a picture) nothing can be seen: it is an mp3 then.
        if (tag >= head.size()) return container::mp3;
        const auto behind = head.subspan(static_cast<std::size_t>(tag));
        if (says(behind, 0, "fLaC")) return container::flac;
        return frames_of(behind) == container::aac ? container::aac : container::mp3;
    }
    return frames_of(head);
}

std::optional<std::chrono::milliseconds> duration_of(container kind, const byte_source& audio) {
    switch (kind) {
        case container::wav: return wav_duration(audio);
        case container::flac: return flac_duration(audio);
        case container::mp4: return mp4_duration(audio);
        case container::mp3: return mp3_duration(audio);
        case container::aac: return aac_duration(audio);
        case container::ogg: return ogg_duration(audio);
        case container::webm: return webm_duration(audio);
        case container::unknown: break;
    }
    return std::nullopt;
}

}  // namespace hearonce::http
