// Next file: settings_codec.hpp.
#include <app/settings_units.hpp>
#include <hearonce/ascii.hpp>

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace hearonce::app {
namespace {

constexpr std::size_t fraction_digits_max = 9;
constexpr std::uint64_t size_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t duration_max_ms = 100LL * 365 * 24 * 3600 * 1000;

using unit = std::pair<std::string_view, std::uint64_t>;

constexpr std::array<unit, 9> size_units{{{"b", 1},
                                          {"kib", kibibyte},
                                          {"mib", mebibyte},
                                          {"gib", gibibyte},
                                          {"tib", 1024 * gibibyte},
                                          {"kb", 1000},
                                          {"mb", 1000 * 1000},
                                          {"gb", 1000 * 1000 * 1000},
                                          {"tb", 1000ULL * 1000 * 1000 * 1000}}};

// Longest first where one begins with another.
constexpr std::array<unit, 5> time_units{{{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000}, {"d", 24 * 3600 * 1000}}};

using ascii::is_digit;

// A decimal number, digits kept apart so that no rounding happens.
struct decimal {
    std::uint64_t whole = 0;
    std::uint64_t fraction = 0;  // In units of 1 / 10^digits.
    std::uint64_t scale = 1;     // 10^digits
    std::size_t length = 0;      // Characters used.
};

std::optional<decimal> leading_decimal(std::string_view text) noexcept {
    decimal number;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number.whole);
    if (failure != std::errc() || text.empty() || !is_digit(text.front())) return std::nullopt;
    number.length = static_cast<std::size_t>(end - text.data());
    if (number.length == text.size() || text[number.length] != '.') return number;
    std::size_t at = number.length + 1;
    for (; at < text.size() && is_digit(text[at]); ++at) {
        if (at - number.length > fraction_digits_max) return std::nullopt;
        number.fraction = number.fraction * 10 + static_cast<std::uint64_t>(text[at] - '0');
        number.scale *= 10;
    }
    if (at == number.length + 1) return std::nullopt;
    number.length = at;
    return number;
}

// number * unit, exactly; nullopt when it is not whole or above `most`.
std::optional<std::uint64_t> times(const decimal& number, std::uint64_t by, std::uint64_t most) noexcept {
    // 128 bits hold 2^64 * 10^9 * 10^12 not quite, so the two halves are multiplied apart.
    __extension__ using wide = unsigned __int128;
    const wide part = static_cast<wide>(number.fraction) * by;
    if (part % number.scale != 0) return std::nullopt;
    const wide total = static_cast<wide>(number.whole) * by + part / number.scale;
    if (total > most) return std::nullopt;
    return static_cast<std::uint64_t>(total);
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
    const auto number = leading_decimal(text);
    if (!number) return std::nullopt;
    std::string_view rest = text.substr(number->length);
    if (rest.empty()) return times(*number, 1, size_max);
    if (rest.front() == ' ') rest.remove_prefix(1);
    for (const auto& [name, bytes] : size_units) {
        if (ascii::equal_in_any_case(rest, name)) return times(*number, bytes, size_max);
    }
    return std::nullopt;
}

std::string show_size(std::uint64_t bytes) {
    static constexpr std::array<unit, 4> shown{{{"TiB", 1024 * gibibyte}, {"GiB", gibibyte}, {"MiB", mebibyte}, {"KiB", kibibyte}}};
    for (const auto& [name, count] : shown) {
        if (bytes != 0 && bytes % count == 0) return std::to_string(bytes / count) + std::string(name);
    }
    return std::to_string(bytes);
}

std::optional<milliseconds> parse_duration(std::string_view text) noexcept {
    constexpr auto most = static_cast<std::uint64_t>(duration_max_ms);
    std::uint64_t total = 0;
    std::uint64_t previous = std::numeric_limits<std::uint64_t>::max();
    if (text.empty()) return std::nullopt;
    for (bool first = true; !text.empty(); first = false) {
        const auto number = leading_decimal(text);
        if (!number) return std::nullopt;
        text.remove_prefix(number->length);
        std::uint64_t unit_ms = 0;
        if (text.empty()) {
            if (!first) return std::nullopt;
            unit_ms = 1000;
        }
        for (const auto& [name, length_ms] : time_units) {
            if (unit_ms == 0 && text.starts_with(name)) {
                unit_ms = length_ms;
                text.remove_prefix(name.size());
            }
        }
        // Units go down, each once: "1h30m", never "30m1h".
        if (unit_ms == 0 || unit_ms >= previous) return std::nullopt;
        previous = unit_ms;
        const auto part = times(*number, unit_ms, most);
        if (!part || *part > most - total) return std::nullopt;
        total += *part;
    }
    return milliseconds(static_cast<std::int64_t>(total));
}

std::string show_duration(milliseconds length) {
    const auto count = static_cast<std::uint64_t>(length.count());
    if (count == 0) return "0s";
    for (const auto& [name, unit_ms] : {unit{"h", 3600 * 1000}, unit{"m", 60 * 1000}, unit{"s", 1000}}) {
        if (count % unit_ms == 0) return std::to_string(count / unit_ms) + std::string(name);
    }
    return std::to_string(count) + "ms";
}

std::optional<boost::asio::ip::tcp::endpoint> parse_endpoint(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (failure != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;

    const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (brackets) host = host.substr(1, host.size() - 2);
    if (host == "localhost" && !brackets) host = "127.0.0.1";
    boost::system::error_code ec;
    const auto address = boost::asio::ip::make_address(std::string(host), ec);
    // Without brackets nobody can tell where an IPv6 address ends and its port begins.
    if (ec || address.is_v6() != brackets) return std::nullopt;
    return boost::asio::ip::tcp::endpoint(address, port);
}

std::string show_endpoint(const boost::asio::ip::tcp::endpoint& endpoint) {
    const std::string host = endpoint.address().to_string();
    return (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(endpoint.port());
}

std::optional<network> parse_network(std::string_view text) {
    const auto slash = text.find('/');
    boost::system::error_code ec;
    const auto address = boost::asio::ip::make_address(std::string(text.substr(0, slash)), ec);
    if (ec || (address.is_v6() && address.to_v6().scope_id() != 0)) return std::nullopt;
    const unsigned full = address.is_v4() ? 32 : 128;
    unsigned bits = full;
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
        if (failure != std::errc() || digits.empty() || end != digits.data() + digits.size() || bits > full) return std::nullopt;
    }
    const network range{address, bits};
    // 10.1.2.3/8 is more often a slip than a wish.
    if (address.is_v4()) {
        const boost::asio::ip::network_v4 whole(address.to_v4(), static_cast<unsigned short>(bits));
        return whole.canonical() == whole ? std::optional(range) : std::nullopt;
    }
    const boost::asio::ip::network_v6 whole(address.to_v6(), static_cast<unsigned short>(bits));
    return whole.canonical() == whole ? std::optional(range) : std::nullopt;
}

std::string show_network(const network& range) {
    return range.address.to_string() + "/" + std::to_string(range.prefix_bits);
}

}  // namespace hearonce::app
