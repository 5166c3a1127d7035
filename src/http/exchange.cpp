// Looks up headers of a request by name.
//
// Next file: router.hpp.
#include <hearonce/ascii.hpp>
#include <http/exchange.hpp>

#include <algorithm>

namespace hearonce::http {

std::optional<std::string_view> request_head::find(std::string_view name) const noexcept {
    for (const auto& field : headers) {
        if (ascii::equal_in_any_case(field.name, name)) return std::string_view(field.value);
    }
    return std::nullopt;
}

std::size_t request_head::count(std::string_view name) const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(headers, [name](const header& field) { return ascii::equal_in_any_case(field.name, name); }));
}

}  // namespace hearonce::http
