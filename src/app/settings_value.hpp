// A value as it was written in a file, a variable or a flag, before its key says what it means. The one place that knows
// the TOML library is settings_value.cpp.
//
// Holds: value, read_toml(), read_text(). Next file: settings_codec.hpp.
#pragma once

#include <boost/system/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hearonce::app {

// `bare` keeps the text of a variable or flag, so that a key that wants text takes `123` or `true` as it stands.
struct named_value;
struct value {
    using list = std::vector<value>;
    using table = std::vector<named_value>;
    std::variant<std::string, std::int64_t, double, bool, list, table> held;
    std::optional<std::string> bare;
};

struct named_value {
    std::string name;
    value what;
};

// TOML text to a table. The error is one line that says where (line and column) and what.
boost::system::result<value::table, std::string> read_toml(std::string_view text);

// What stands behind `=` in a variable or a flag: TOML value syntax, else the text itself.
value read_text(std::string_view text);

// A TOML basic string with its quotes.
std::string toml_string(std::string_view text);

}  // namespace hearonce::app
