// The codecs that need no template argument. Next file: settings_keys.cpp.
#include <app/settings_codec.hpp>

#include <algorithm>

namespace hearonce::app::codec {

std::optional<std::string> text_of(const value& from) {
    const std::string* text = from.bare ? &*from.bare : std::get_if<std::string>(&from.held);
    if (!text) return std::nullopt;
    const bool control = std::ranges::any_of(*text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    return control ? std::nullopt : std::optional(*text);
}

std::string show_number(double number) {
    std::array<char, 32> digits{};
    const auto [end, failure] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    std::string text(digits.data(), end);
    // TOML tells 4 from 4.0; both are read, the second says that fractions are welcome.
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
}

std::optional<bool> flag::read(const value& from) {
    if (const auto* truth = std::get_if<bool>(&from.held)) return *truth;
    return std::nullopt;
}

}  // namespace hearonce::app::codec
