// Names and types of the file part. Next file: request_form.cpp.
#include <backends/openai/file_part.hpp>
#include <hearonce/ascii.hpp>
#include <observe/json_text.hpp>

#include <algorithm>
#include <array>

namespace hearonce::openai {
namespace {

constexpr std::size_t name_bytes_max = 128;
constexpr std::size_t type_bytes_max = 128;
constexpr std::size_t extension_bytes_max = 5;  // Longer ones belong to the name: "v1.meeting".

struct naming {
    std::array<std::string_view, 3> extensions;  // The first is ours; the others are as good and stay.
    std::string_view type;
};

naming naming_of(container kind) noexcept {
    switch (kind) {
        case container::wav: return {{"wav"}, "audio/wav"};
        case container::mp3: return {{"mp3", "mpga", "mpeg"}, "audio/mpeg"};
        case container::mp4: return {{"m4a", "mp4"}, "audio/mp4"};
        // No upstream lists .aac, and all of them decode by content once the name has passed: the one for the codec passes.
        case container::aac: return {{"m4a"}, "audio/aac"};
        case container::ogg: return {{"ogg"}, "audio/ogg"};
        case container::webm: return {{"webm"}, "audio/webm"};
        case container::flac: return {{"flac"}, "audio/flac"};
        case container::unknown: break;
    }
    return {};
}

bool is_alphanumeric(char c) noexcept {
    return ascii::is_letter_or_digit(c);
}

std::string_view without_folders(std::string_view name) noexcept {
    const std::size_t slash = name.find_last_of("/\\");
    return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

// "wav" of "a.wav"; empty when the name has none.
std::string_view extension_of(std::string_view name) noexcept {
    const std::size_t dot = name.find_last_of('.');
    if (dot == std::string_view::npos) return {};
    const std::string_view end = name.substr(dot + 1);
    return end.size() <= extension_bytes_max && std::ranges::all_of(end, is_alphanumeric) ? end : std::string_view();
}

bool holds_control(std::string_view text) noexcept {
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// A strict parser refuses the whole form for one wrong byte in a name.
bool is_utf8(std::string_view text) {
    std::string mended;
    observe::append_utf8(mended, text);
    return mended == text;
}

bool can_be_sent(std::string_view name) {
    return name.size() <= name_bytes_max && !holds_control(name) && is_utf8(name);
}

std::string base_of(std::string_view client_name) {
    std::string_view base = without_folders(client_name);
    const std::string_view extension = extension_of(base);
    if (!extension.empty()) base.remove_suffix(extension.size() + 1);
    while (!base.empty() && (base.back() == '.' || base.back() == ' ')) base.remove_suffix(1);
    while (!base.empty() && (base.front() == '.' || base.front() == ' ')) base.remove_prefix(1);
    return base.empty() || !can_be_sent(base) ? "audio" : std::string(base);
}

// "audio/x-wav" or "audio/ogg; codecs=opus": what may stand in a header as it is.
bool is_type(std::string_view type) noexcept {
    const std::size_t slash = type.find('/');
    const bool printable = std::ranges::all_of(type, [](char c) { return c >= 0x20 && c < 0x7f; });
    return printable && type.size() <= type_bytes_max && slash != 0 && slash != std::string_view::npos && slash + 1 < type.size();
}

}  // namespace

file_part file_part_of(const recording& audio) {
    const std::string_view given = without_folders(audio.client_file_name);
    const naming right = naming_of(audio.kind);
    if (right.type.empty()) {
        const bool usable = can_be_sent(given) && given.find_first_not_of(". ") != std::string_view::npos;
        return {usable ? std::string(given) : "audio",
                is_type(audio.client_content_type) ? audio.client_content_type : "application/octet-stream"};
    }
    const std::string_view extension = extension_of(given);
    const auto end = std::ranges::find(right.extensions, std::string_view());
    const bool fits = std::find(right.extensions.begin(), end, extension) != end;
    return {base_of(audio.client_file_name) + '.' + std::string(fits ? extension : right.extensions.front()), std::string(right.type)};
}

std::string form_quoted(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '"': out += "%22"; break;
            case '\r': out += "%0D"; break;
            case '\n': out += "%0A"; break;
            case '\\': out += "%5C"; break;
            default: out += c;
        }
    }
    return out;
}

}  // namespace hearonce::openai
