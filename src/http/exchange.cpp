// Looks up headers of a request by name.
//
// Next file: router.hpp.
#include <http/exchange.hpp>

#include <algorithm>

namespace hearonce::http {

namespace {

// Only ASCII letters fold: a locale or Unicode rule here would make two different names equal.
constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool same_name(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::optional<std::string_view> request_head::find(std::string_view name) const noexcept {
    for (const auto& field : headers) {
        if (same_name(field.name, name)) return std::string_view(field.value);
    }
    return std::nullopt;
}

std::size_t request_head::count(std::string_view name) const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(headers, [name](const header& field) { return same_name(field.name, name); }));
}

}  // namespace hearonce::http
