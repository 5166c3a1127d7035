// JSON's strings and numbers. The scan takes eight bytes at a time while they need nothing; everything else is decided
// character by character.
#include <observe/json_text.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace hearonce::observe {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::int64_t milliseconds_max = 1'000'000'000'000'000;

unsigned char byte_at(std::string_view text, std::size_t at) noexcept {
    return static_cast<unsigned char>(text[at]);
}

// One UTF-8 character, or the longest piece of a wrong one (never empty).
struct character {
    std::size_t bytes;
    bool valid;
};

// RFC 3629 section 4, as a table of what the second byte may be; the third and fourth are always 80..BF.
character character_at(std::string_view text, std::size_t at) noexcept {
    const unsigned char lead = byte_at(text, at);
    if (lead < 0x80) return {1, true};
    std::size_t more = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        more = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        more = 2;
        if (lead == 0xE0) low = 0xA0;   // Overlong below.
        if (lead == 0xED) high = 0x9F;  // Surrogates above.
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        more = 3;
        if (lead == 0xF0) low = 0x90;
        if (lead == 0xF4) high = 0x8F;  // Beyond U+10FFFF above.
    } else {
        return {1, false};
    }
    for (std::size_t i = 1; i <= more; ++i) {
        if (at + i >= text.size()) return {i, false};
        const unsigned char next = byte_at(text, at + i);
        if (next < low || next > high) return {i, false};
        low = 0x80;
        high = 0xBF;
    }
    return {more + 1, true};
}

// True when all eight bytes are ASCII that stands for itself: no control, quote or backslash. Each term raises the top bit
// of a byte that is below 0x20, equal to a quote or equal to a backslash.
bool eight_are_plain(const char* at) noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101U;
    constexpr std::uint64_t tops = 0x8080808080808080U;
    std::uint64_t eight = 0;
    std::memcpy(&eight, at, sizeof eight);
    const std::uint64_t quotes = eight ^ (ones * '"');
    const std::uint64_t slashes = eight ^ (ones * '\\');
    const std::uint64_t wrong = eight | (eight - ones * 0x20U) | (quotes - ones) | (slashes - ones);
    return (wrong & tops) == 0;
}

void append_control(std::string& out, unsigned char c) {
    constexpr char digits[] = "0123456789abcdef";
    switch (c) {
        case '\b': out += "\\b"; return;
        case '\f': out += "\\f"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default:
            out += "\\u00";
            out += digits[c >> 4];
            out += digits[c & 0x0F];
    }
}

// What a terminal or a line-based reader would obey instead of showing, beyond the C0 controls: DEL, C1, U+2028, U+2029.
// Its escape, or empty.
std::string_view escape_of_hidden(std::string_view one, std::array<char, 6>& room) noexcept {
    constexpr char digits[] = "0123456789abcdef";
    if (one.size() == 1 && one[0] == '\x7f') return "\\u007f";
    if (one.size() == 2 && one[0] == '\xC2' && byte_at(one, 1) < 0xA0) {
        const unsigned char c = byte_at(one, 1);
        room = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 0x0F]};
        return {room.data(), room.size()};
    }
    if (one == "\xE2\x80\xA8") return "\\u2028";
    if (one == "\xE2\x80\xA9") return "\\u2029";
    return {};
}

enum class escaping : std::uint8_t { none, json, printable };

template <escaping How>
void append_text(std::string& out, std::string_view text) {
    std::size_t run = 0;  // Where the bytes begin that are taken as they are.
    std::size_t at = 0;
    std::array<char, 6> room{};
    const auto put_run = [&] { out.append(text.data() + run, at - run); };
    while (at < text.size()) {
        if constexpr (How == escaping::json) {
            if (text.size() - at >= 8 && eight_are_plain(text.data() + at)) {
                at += 8;
                continue;
            }
        }
        const unsigned char c = byte_at(text, at);
        const auto [bytes, valid] = character_at(text, at);
        std::string_view instead;
        if (!valid) {
            instead = replacement;
        } else if (How != escaping::none && (c == '"' || c == '\\')) {
            instead = c == '"' ? "\\\"" : "\\\\";
        } else if (How != escaping::none && c < 0x20) {
            put_run();
            append_control(out, c);
            run = ++at;
            continue;
        } else if constexpr (How == escaping::printable) {
            instead = escape_of_hidden(text.substr(at, bytes), room);
        }
        if (!instead.empty()) {
            put_run();
            out += instead;
            run = at + bytes;
        }
        at += bytes;
    }
    put_run();
}

}  // namespace

void append_json_escaped(std::string& out, std::string_view text) {
    append_text<escaping::json>(out, text);
}

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    append_text<escaping::json>(out, text);
    out += '"';
}

void append_utf8(std::string& out, std::string_view text) {
    append_text<escaping::none>(out, text);
}

void append_printable(std::string& out, std::string_view text, std::size_t bytes_max) {
    if (text.size() > bytes_max) {
        // Back to the beginning of the character that would be cut.
        std::size_t end = bytes_max;
        for (int back = 0; back < 3 && end > 0 && (byte_at(text, end) & 0xC0U) == 0x80; ++back) --end;
        text = text.substr(0, end);
    }
    append_text<escaping::printable>(out, text);
}

void append_integer(std::string& out, std::int64_t value) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

void append_json_number(std::string& out, double value) {
    if (!std::isfinite(value) || value == 0) {
        out += "0.0";
        return;
    }
    constexpr int digits_significant = 6;
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, digits_significant).ptr;
    const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
    out += text;
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

std::int64_t milliseconds_of(double seconds) noexcept {
    if (!std::isfinite(seconds) || seconds <= 0) return 0;
    const double rounded = seconds * 1000;
    return rounded >= static_cast<double>(milliseconds_max) ? milliseconds_max : std::llround(rounded);
}

void append_json_seconds(std::string& out, double seconds) {
    const std::int64_t all = milliseconds_of(seconds);
    append_integer(out, all / 1000);
    const auto rest = static_cast<unsigned>(all % 1000);
    const std::array<char, 4> decimals{'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                                       static_cast<char>('0' + rest % 10)};
    std::size_t shown = decimals.size();
    while (shown > 2 && decimals[shown - 1] == '0') --shown;
    out.append(decimals.data(), shown);
}

}  // namespace hearonce::observe
