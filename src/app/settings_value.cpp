// TOML in and out. Next file: settings_codec.hpp.
#include <app/settings_value.hpp>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <limits>
#include <sstream>

namespace hearonce::app {
namespace {

// A tree nested deeper than any key needs is refused by the library itself (256 levels); this only copies.
value copy_of(const toml::node& node);

value::table copy_of(const toml::table& from) {
    value::table to;
    for (const auto& [name, node] : from) to.push_back({std::string(name.str()), copy_of(node)});
    return to;
}

value copy_of(const toml::node& node) {
    value to;
    if (const auto* text = node.as_string()) {
        to.held = text->get();
    } else if (const auto* whole = node.as_integer()) {
        to.held = whole->get();
    } else if (const auto* real = node.as_floating_point()) {
        to.held = real->get();
    } else if (const auto* truth = node.as_boolean()) {
        to.held = truth->get();
    } else if (const auto* array = node.as_array()) {
        value::list list;
        for (const auto& element : *array) list.push_back(copy_of(element));
        to.held = std::move(list);
    } else if (const auto* inner = node.as_table()) {
        to.held = copy_of(*inner);
    } else {
        // A date or a time: no key takes one, and no codec takes this.
        to.held = std::numeric_limits<double>::quiet_NaN();
    }
    return to;
}

}  // namespace

boost::system::result<value::table, std::string> read_toml(std::string_view text) {
    auto parsed = toml::parse(text);
    if (parsed) return copy_of(parsed.table());
    const auto& failure = parsed.error();
    const auto where = failure.source().begin;
    std::ostringstream line;
    line << "line " << where.line << ", column " << where.column << ": " << failure.description();
    return line.str();
}

value read_text(std::string_view text) {
    const auto as_it_stands = [text] {
        value bare;
        bare.held = std::string(text);
        bare.bare = std::string(text);
        return bare;
    };
    // A line break could smuggle a second key in; no value needs one.
    if (text.find_first_of("\r\n") != std::string_view::npos) return as_it_stands();
    auto parsed = read_toml("v = " + std::string(text));
    if (!parsed || parsed->size() != 1) return as_it_stands();
    value one = std::move(parsed->front().what);
    one.bare = std::string(text);
    // "quoted" is TOML for the text without its quotes; everything else keeps what was typed.
    if (const auto* inner = std::get_if<std::string>(&one.held); inner && (text.front() == '"' || text.front() == '\'')) one.bare = *inner;
    return one;
}

std::string toml_string(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            out += "\\u00";
            out += digits[byte >> 4];
            out += digits[byte & 15];
        } else {
            out += c;
        }
    }
    return out += '"';
}

}  // namespace hearonce::app
