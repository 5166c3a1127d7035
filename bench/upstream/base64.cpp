// Hashes what base64 stands for, without ever holding it. Next file: gemini_rules.cpp.
#include <bench/upstream/gemini_rules.hpp>

#include <http/sha256_stream.hpp>

#include <array>

namespace hearonce::upstream {

namespace {

constexpr std::uint8_t none = 0xff;

constexpr std::array<std::uint8_t, 256> values = [] {
    std::array<std::uint8_t, 256> made{};
    made.fill(none);
    std::uint8_t next = 0;
    for (char c = 'A'; c <= 'Z'; ++c) made[static_cast<unsigned char>(c)] = next++;
    for (char c = 'a'; c <= 'z'; ++c) made[static_cast<unsigned char>(c)] = next++;
    for (char c = '0'; c <= '9'; ++c) made[static_cast<unsigned char>(c)] = next++;
    made['+'] = made['-'] = 62;
    made['/'] = made['_'] = 63;
    return made;
}();

std::uint32_t value_of(char c) noexcept {
    return values[static_cast<unsigned char>(c)];
}

}  // namespace

std::optional<decoded> decode_base64(std::string_view text) {
    for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
    if (text.size() % 4 == 1) return std::nullopt;
    http::sha256_stream hash;
    decoded made;
    std::array<std::byte, 12 * 1024> out{};
    std::size_t filled = 0;
    std::uint32_t wrong = 0;
    const auto flush = [&] {
        hash.update(std::span(out).first(filled));
        made.bytes += filled;
        filled = 0;
    };
    while (!text.empty()) {
        const auto count = std::min<std::size_t>(4, text.size());
        std::uint32_t bits = 0;
        for (std::size_t at = 0; at < 4; ++at) {
            const auto value = at < count ? value_of(text[at]) : 0;
            wrong |= value & 0xc0U;
            bits = bits << 6U | (value & 0x3fU);
        }
        for (std::size_t at = 0; at + 1 < count; ++at) out[filled++] = static_cast<std::byte>(bits >> (16U - 8U * at) & 0xffU);
        if (filled == out.size()) flush();
        text.remove_prefix(count);
    }
    flush();
    if (wrong != 0) return std::nullopt;
    made.sha256 = hash.finish();
    return made;
}

}  // namespace hearonce::upstream
