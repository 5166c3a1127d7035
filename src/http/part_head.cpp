// Reads header values with parameters: Content-Type of a request, Content-Disposition of a part.
//
// Holds: boundary_of(), part_head_of(). Next file: multipart.cpp.
#include <hearonce/ascii.hpp>
#include <http/part_head.hpp>
#include <http/utf8.hpp>

#include <algorithm>

namespace hearonce::http {
namespace {

using ascii::blanks;
using ascii::equal_in_any_case;
using ascii::without_blanks;

struct parameter {
    std::string_view name;
    std::string value;
    bool quoted = false;
};

// Takes a quoted string from the front of `rest`, its opening quote already gone. nullopt: it does not end.
std::optional<std::string> take_quoted(std::string_view& rest) {
    std::string value;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        if (rest[i] == '"') {
            rest.remove_prefix(i + 1);
            return value;
        }
        const bool escape = rest[i] == '\\' && i + 1 < rest.size() && (rest[i + 1] == '"' || rest[i + 1] == '\\');
        if (escape) ++i;
        value.push_back(rest[i]);
    }
    return std::nullopt;
}

// Takes `; name=value` from the front of `rest`; empty name: nothing but blanks and semicolons was left. nullopt: not the
// form of a parameter.
std::optional<parameter> take_parameter(std::string_view& rest) {
    parameter taken;
    rest = without_blanks(rest);
    if (rest.empty()) return taken;
    if (rest.front() != ';') return std::nullopt;
    const std::size_t begin = rest.find_first_not_of("; \t");
    if (begin == std::string_view::npos) {
        rest = {};
        return taken;
    }
    rest.remove_prefix(begin);
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos || equals > rest.find(';')) return std::nullopt;
    taken.name = without_blanks(rest.substr(0, equals));
    rest = without_blanks(rest.substr(equals + 1));
    if (taken.name.empty()) return std::nullopt;
    if (!rest.empty() && rest.front() == '"') {
        rest.remove_prefix(1);
        auto value = take_quoted(rest);
        if (!value) return std::nullopt;
        taken.value = std::move(*value);
        taken.quoted = true;
    } else {
        const std::size_t end = std::min(rest.find(';'), rest.size());
        taken.value = without_blanks(rest.substr(0, end));
        rest.remove_prefix(end);
    }
    return taken;
}

bool is_boundary(std::string_view text) noexcept {
    if (text.empty() || text.size() > boundary_bytes_max || text.back() == ' ') return false;
    for (const char each : text) {
        if (each < 0x20 || each > 0x7e || each == '"') return false;
    }
    return true;
}

int hex_digit(char digit) noexcept {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

// The value of an extended parameter, `UTF-8'language'percent-encoded` (RFC 5987 section 3.2). nullopt: another charset, a
// bad escape or bytes that are not UTF-8; the caller then falls back to the plain parameter.
std::optional<std::string> extended_value(std::string_view text) {
    const std::size_t first = text.find('\'');
    if (first == std::string_view::npos || !equal_in_any_case(text.substr(0, first), "utf-8")) return std::nullopt;
    const std::size_t second = text.find('\'', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    std::string value;
    for (std::size_t i = second + 1; i < text.size(); ++i) {
        if (text[i] != '%') {
            value.push_back(text[i]);
            continue;
        }
        if (text.size() - i < 3) return std::nullopt;
        const int high = hex_digit(text[i + 1]);
        const int low = hex_digit(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        value.push_back(static_cast<char>(high * 16 + low));
        i += 2;
    }
    if (!valid_utf8(value)) return std::nullopt;
    return value;
}

error bad_part(std::string message) {
    return error(errc::invalid_multipart, std::move(message));
}

// The parameters of `Content-Disposition: form-data; …` into `head`.
result<void> read_disposition(std::string_view value, part_head& head) {
    const std::size_t end = std::min(value.find(';'), value.size());
    if (!equal_in_any_case(without_blanks(value.substr(0, end)), "form-data"))
        return bad_part("A part's Content-Disposition is not form-data.");
    std::string_view rest = value.substr(end);
    std::optional<std::string> name, extended;
    while (!rest.empty()) {
        auto taken = take_parameter(rest);
        if (!taken) return bad_part("A part's Content-Disposition cannot be read.");
        if (taken->quoted) {
            for (std::size_t at = 0; (at = taken->value.find("%22", at)) != std::string::npos; ++at) taken->value.replace(at, 3, 1, '"');
        }
        if (equal_in_any_case(taken->name, "name")) {
            if (name) return bad_part("A part has two names.");
            name = std::move(taken->value);
        } else if (equal_in_any_case(taken->name, "filename")) {
            if (head.file_name) return bad_part("A part has two file names.");
            head.file_name = std::move(taken->value);
        } else if (equal_in_any_case(taken->name, "filename*")) {
            extended = extended_value(taken->value).value_or(head.file_name.value_or(std::string()));
        }
    }
    if (!name || name->empty()) return bad_part("A part has no name.");
    if (!printable_utf8(*name)) return bad_part("A part's name is not valid UTF-8 text.");
    head.name = std::move(*name);
    if (extended && (!extended->empty() || !head.file_name)) head.file_name = std::move(extended);
    return {};
}

// The next header of the block with its continuation lines (RFC 5322 section 2.2.3) as one text.
std::string take_header(std::string_view& block) {
    std::string line;
    do {
        const std::size_t end = std::min(block.find("\r\n"), block.size());
        line.append(block.substr(0, end));
        block.remove_prefix(std::min(end + 2, block.size()));
    } while (!block.empty() && blanks.find(block.front()) != std::string_view::npos);
    return line;
}

bool has_control(std::string_view text) noexcept {
    for (const char each : text) {
        if ((static_cast<unsigned char>(each) < 0x20 && each != '\t') || each == 0x7f) return true;
    }
    return false;
}

}  // namespace

result<std::string> boundary_of(std::string_view content_type) {
    error refused(errc::unsupported_media_type);
    const std::size_t end = std::min(content_type.find(';'), content_type.size());
    if (!equal_in_any_case(without_blanks(content_type.substr(0, end)), "multipart/form-data")) return refused;
    std::string_view rest = content_type.substr(end);
    std::optional<std::string> boundary;
    while (!rest.empty()) {
        auto taken = take_parameter(rest);
        if (!taken) return refused;
        if (!equal_in_any_case(taken->name, "boundary")) continue;
        // Two boundaries are two readings of one body: refused, so that nobody before or after us reads another form.
        if (boundary) return refused;
        boundary = std::move(taken->value);
    }
    if (!boundary || !is_boundary(*boundary)) return refused;
    return std::move(*boundary);
}

result<part_head> part_head_of(std::string_view block) {
    part_head head;
    bool disposed = false;
    while (!block.empty()) {
        const std::string line = take_header(block);
        if (has_control(line)) return bad_part("A part's header holds control characters.");
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos || colon == 0) return bad_part("A part's header line has no name.");
        const std::string_view name = without_blanks(std::string_view(line).substr(0, colon));
        const std::string_view value = without_blanks(std::string_view(line).substr(colon + 1));
        if (equal_in_any_case(name, "content-disposition")) {
            if (disposed) return bad_part("A part has two Content-Disposition headers.");
            disposed = true;
            if (auto read = read_disposition(value, head); !read) return read.error();
        } else if (equal_in_any_case(name, "content-type")) {
            head.content_type = value;
        } else if (equal_in_any_case(name, "content-transfer-encoding")) {
            if (!equal_in_any_case(value, "binary") && !equal_in_any_case(value, "8bit") && !equal_in_any_case(value, "7bit"))
                return bad_part("A part has a Content-Transfer-Encoding, which form-data does not know: send the bytes as they are.");
        }
    }
    if (!disposed) return bad_part("A part has no Content-Disposition header.");
    return head;
}

}  // namespace hearonce::http
