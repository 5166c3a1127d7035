// Next file: request_text.cpp.
#include <backends/gemini/audio_type.hpp>
#include <hearonce/ascii.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace hearonce::gemini {
namespace {

// Types of files whose bytes show nothing, by the caller's words; general models document the first of them only.
struct word {
    std::string_view said;  // A media type, or the end of a file's name.
    std::string_view type;
    bool general;
};
constexpr auto words = std::to_array<word>({
    {"audio/aiff", "audio/aiff", true},
    {"audio/x-aiff", "audio/aiff", true},
    {".aiff", "audio/aiff", true},
    {".aif", "audio/aiff", true},
    {"audio/amr", "audio/amr", false},
    {"audio/amr-wb", "audio/amr", false},
    {".amr", "audio/amr", false},
});

std::string type_by_word(const recording& audio, bool transcriber) {
    std::string type = ascii::lowered(audio.client_content_type);
    type.resize(std::min(type.find_first_of("; "), type.size()));
    const std::string name = ascii::lowered(audio.client_file_name);
    for (const word& each : words) {
        const bool said = each.said.starts_with('.') ? name.ends_with(each.said) : type == each.said;
        if (said && (each.general || transcriber)) return std::string(each.type);
    }
    return {};
}

}  // namespace

std::string audio_type_of(const recording& audio, bool transcriber) {
    switch (audio.kind) {
        case container::wav: return "audio/wav";
        case container::mp3: return "audio/mp3";  // Not audio/mpeg, which the list does not have.
        case container::aac: return "audio/aac";
        case container::ogg: return "audio/ogg";
        case container::flac: return "audio/flac";
        case container::mp4: return transcriber ? "audio/mp4" : "";
        case container::webm: return transcriber ? "audio/webm" : "";
        case container::unknown: break;
    }
    return type_by_word(audio, transcriber);
}

}  // namespace hearonce::gemini
