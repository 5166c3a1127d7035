// How each type of value is read, shown and described in words. One struct a type; a key names the one it uses, so what a
// complaint calls acceptable is what is accepted.
//
// Each codec holds: type, read() (nullopt: not acceptable), show() (as TOML; empty: unset) and accepts() (in words).
// Next file: settings_keys.cpp.
#pragma once

#include <app/settings.hpp>
#include <app/settings_units.hpp>
#include <app/settings_value.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearonce::app::codec {

// The text of a value that is text, or was typed without quotes in a variable or flag. Control characters would end up in
// headers, paths and log lines; no key needs them.
std::optional<std::string> text_of(const value& from);
// Decimal digits of a double that read back as the same double.
std::string show_number(double number);

struct flag {
    using type = bool;
    static std::optional<bool> read(const value& from);
    static std::string show(bool truth) { return truth ? "true" : "false"; }
    static std::string accepts() { return "true or false"; }
};

template <std::uint64_t Least, std::uint64_t Most, class Whole = unsigned>
struct count {
    using type = Whole;
    static_assert(Most <= std::numeric_limits<Whole>::max());
    static std::optional<Whole> read(const value& from) {
        const auto* whole = std::get_if<std::int64_t>(&from.held);
        if (!whole || *whole < 0) return std::nullopt;
        const auto number = static_cast<std::uint64_t>(*whole);
        if (number < Least || number > Most) return std::nullopt;
        return static_cast<Whole>(number);
    }
    static std::string show(Whole number) { return std::to_string(number); }
    static std::string accepts() { return "a whole number from " + std::to_string(Least) + " to " + std::to_string(Most); }
};

template <int Least, int Most>
struct number {
    using type = double;
    static std::optional<double> read(const value& from) {
        double real = std::numeric_limits<double>::quiet_NaN();
        if (const auto* whole = std::get_if<std::int64_t>(&from.held)) real = static_cast<double>(*whole);
        if (const auto* floating = std::get_if<double>(&from.held)) real = *floating;
        // Written so that NaN fails it.
        if (!(real >= Least && real <= Most)) return std::nullopt;
        return real;
    }
    static std::string show(double real) { return show_number(real); }
    static std::string accepts() { return "a number from " + std::to_string(Least) + " to " + std::to_string(Most); }
};

template <std::uint64_t Least, std::uint64_t Most>
struct size {
    using type = std::uint64_t;
    static std::optional<std::uint64_t> read(const value& from) {
        std::optional<std::uint64_t> bytes;
        if (const auto* whole = std::get_if<std::int64_t>(&from.held); whole && *whole >= 0) bytes = static_cast<std::uint64_t>(*whole);
        if (const auto* text = std::get_if<std::string>(&from.held)) bytes = parse_size(*text);
        return bytes && *bytes >= Least && *bytes <= Most ? bytes : std::nullopt;
    }
    static std::string show(std::uint64_t bytes) {
        const std::string text = show_size(bytes);
        return text.find_first_not_of("0123456789") == std::string::npos ? text : toml_string(text);
    }
    static std::string accepts() {
        return "a size from " + show_size(Least) + " to " + show_size(Most) + ", such as \"25MiB\" or a number of bytes";
    }
};

// Bounds in milliseconds.
template <std::int64_t Least, std::int64_t Most>
struct duration {
    using type = milliseconds;
    static std::optional<milliseconds> read(const value& from) {
        std::optional<milliseconds> length;
        if (const auto* whole = std::get_if<std::int64_t>(&from.held); whole && *whole >= 0 && *whole <= Most / 1000)
            length = milliseconds(*whole * 1000);
        if (const auto* real = std::get_if<double>(&from.held); real && *real >= 0 && *real <= static_cast<double>(Most) / 1000) {
            const double exact = *real * 1000;
            const auto whole = std::llround(exact);
            if (std::abs(exact - static_cast<double>(whole)) < 1e-6) length = milliseconds(whole);
        }
        if (const auto* text = std::get_if<std::string>(&from.held)) length = parse_duration(*text);
        return length && length->count() >= Least && length->count() <= Most ? length : std::nullopt;
    }
    static std::string show(milliseconds length) { return toml_string(show_duration(length)); }
    static std::string accepts() {
        return "a duration from " + show_duration(milliseconds(Least)) + " to " + show_duration(milliseconds(Most)) +
               ", such as \"500ms\", \"2s\", \"10m\" or a number of seconds";
    }
};

struct text {
    using type = std::string;
    static std::optional<std::string> read(const value& from) {
        auto found = text_of(from);
        return found && !found->empty() ? found : std::nullopt;
    }
    static std::string show(const std::string& shown) { return toml_string(shown); }
    static std::string accepts() { return "text"; }
};

struct path {
    using type = std::filesystem::path;
    static std::optional<std::filesystem::path> read(const value& from) {
        auto found = text::read(from);
        return found ? std::optional<std::filesystem::path>(*found) : std::nullopt;
    }
    static std::string show(const std::filesystem::path& shown) { return toml_string(shown.native()); }
    static std::string accepts() { return "the path of a file"; }
};

struct folder : path {
    // A relative folder would depend on where the gateway was started.
    static std::optional<std::filesystem::path> read(const value& from) {
        auto found = path::read(from);
        return found && found->is_absolute() ? found : std::nullopt;
    }
    static std::string accepts() { return "the absolute path of a folder"; }
};

// May be empty, which says "none is to be sent".
struct hidden {
    using type = secret;
    static std::optional<secret> read(const value& from) {
        const auto found = text_of(from);
        return found && found->find(' ') == std::string::npos ? std::optional<secret>(*found) : std::nullopt;
    }
    static std::string show(const secret& shown) { return shown.empty() ? "\"\"" : "\"***\""; }
    static std::string accepts() { return "text without spaces or control characters"; }
};

template <class Enum>
struct names;  // Specialised beside the keys: `static constexpr std::array<std::pair<std::string_view, Enum>, n> all`.

template <class Enum>
struct choice {
    using type = Enum;
    static std::optional<Enum> read(const value& from) {
        const auto word = text_of(from);
        for (const auto& [name, meaning] : names<Enum>::all) {
            if (word && *word == name) return meaning;
        }
        return std::nullopt;
    }
    static std::string_view word_of(Enum meaning) {
        for (const auto& [name, one] : names<Enum>::all) {
            if (one == meaning) return name;
        }
        return "?";
    }
    static std::string show(Enum meaning) { return toml_string(word_of(meaning)); }
    static std::string accepts() {
        std::string words;
        for (const auto& [name, meaning] : names<Enum>::all) words += (words.empty() ? "" : " | ") + std::string(name);
        return words;
    }
};

// A list, or one element for a list of one. In variables and flags commas part the elements.
template <class Element, std::size_t Least = 0>
struct list_of {
    static constexpr std::size_t count_max = 256;
    using type = std::vector<typename Element::type>;
    static std::optional<type> read(const value& from) {
        value::list split;
        const auto* list = std::get_if<value::list>(&from.held);
        if (!list && from.bare) {
            for (std::string_view rest = *from.bare; !rest.empty();) {
                const auto comma = std::min(rest.find(','), rest.size());
                split.push_back(read_text(rest.substr(0, comma)));
                rest.remove_prefix(std::min(comma + 1, rest.size()));
            }
            list = &split;
        }
        if (!list) {
            split.push_back(from);
            list = &split;
        }
        if (list->size() < Least || list->size() > count_max) return std::nullopt;
        type all;
        for (const value& one : *list) {
            auto element = Element::read(one);
            if (!element) return std::nullopt;
            all.push_back(std::move(*element));
        }
        return all;
    }
    static std::string show(const type& all) {
        std::string text = "[";
        for (const auto& one : all) text += (text.size() > 1 ? ", " : "") + Element::show(one);
        return text + "]";
    }
    static std::string accepts() {
        return Element::accepts() + (Least > 0 ? ", or a list of such with at least one" : ", or a list of such");
    }
};

template <class Inner>
struct optional_of {
    using type = std::optional<typename Inner::type>;
    static std::optional<type> read(const value& from) {
        auto found = Inner::read(from);
        if (!found) return std::nullopt;
        return std::optional<type>(std::in_place, std::move(*found));
    }
    static std::string show(const type& shown) { return shown ? Inner::show(*shown) : std::string(); }
    static std::string accepts() { return Inner::accepts(); }
};

}  // namespace hearonce::app::codec
