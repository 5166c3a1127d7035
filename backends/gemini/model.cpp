// Names and paths. Next file: request_text.cpp.
#include <backends/gemini/model.hpp>
#include <hearonce/ascii.hpp>

#include <algorithm>

namespace hearonce::gemini {
namespace {

constexpr std::string_view folder = "models/";
constexpr std::size_t name_bytes_max = 200;

std::string_view bare(std::string_view model) noexcept {
    return model.starts_with(folder) ? model.substr(folder.size()) : model;
}

// RFC 3986 section 2.3.
bool unreserved(char c) noexcept {
    return ascii::is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

void append_encoded(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (const char each : text) {
        const auto byte = static_cast<unsigned char>(each);
        if (unreserved(each)) {
            out += each;
        } else {
            out += {'%', digits[byte >> 4], digits[byte & 15]};
        }
    }
}

// `v1`, `v1beta`, `v1alpha2`
bool is_version(std::string_view segment) noexcept {
    return segment.size() > 1 && segment[0] == 'v' && ascii::is_digit(segment[1]) && std::ranges::all_of(segment, unreserved);
}

}  // namespace

bool is_transcriber(std::string_view model) noexcept {
    return bare(model).starts_with("gemini-3.5-transcribe") && !is_live(model);
}

bool is_live(std::string_view model) noexcept {
    const std::string_view name = bare(model);
    return name.ends_with("-live") || name.find("-live-") != std::string_view::npos;
}

thinking thinking_of(std::string_view model) noexcept {
    const std::string_view name = bare(model);
    if (name.starts_with("gemini-2.5-pro")) return thinking::budget_least;
    if (name.starts_with("gemini-2.5-")) return thinking::budget_none;
    if (name.starts_with("gemini-1") || name.starts_with("gemini-2.") || !name.starts_with("gemini-")) return thinking::not_at_all;
    return thinking::level_low;
}

std::uint32_t output_tokens_max_of(std::string_view model) noexcept {
    const bool known = thinking_of(model) != thinking::not_at_all && !is_transcriber(model);
    return known ? 65536 : 0;
}

std::optional<net::http_url> endpoint_of(std::string_view base) {
    auto url = net::parse_url(base);
    if (!url || url->target.find('?') != std::string::npos) return std::nullopt;
    while (url->target.ends_with('/')) url->target.pop_back();
    const auto slash = url->target.rfind('/');
    const bool versioned = slash != std::string::npos && is_version(std::string_view(url->target).substr(slash + 1));
    if (!versioned) url->target += "/v1beta";
    return url;
}

std::optional<std::string> target_of(std::string_view endpoint, std::string_view model, bool stream) {
    const std::string_view name = bare(model);
    if (name.empty() || name.size() > name_bytes_max || name == "." || name == "..") return std::nullopt;
    const auto refused = [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::ranges::any_of(name, refused)) return std::nullopt;
    std::string out(endpoint);
    out += "/models/";
    append_encoded(out, name);
    out += stream ? ":streamGenerateContent?alt=sse" : ":generateContent";
    return out;
}

}  // namespace hearonce::gemini
