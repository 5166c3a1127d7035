// Reads the two headers. Nothing follows.
#include <net/retry_after.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace hearonce::net {
namespace {

using std::chrono::seconds;
constexpr seconds longest = std::chrono::hours(24);

std::optional<seconds> from_number(std::string_view text, double per_second) {
    double number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    // Written so that "nan" is refused.
    if (failure != std::errc() || end != text.data() + text.size() || !(number >= 0)) return std::nullopt;
    return std::min(longest, seconds(static_cast<std::int64_t>(std::ceil(std::min(number / per_second, 1e6)))));
}

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
    int number = 0;
    const char* begin = text.data() + at;
    const auto [end, failure] = std::from_chars(begin, begin + count, number);
    return failure == std::errc() && end == begin + count && number >= 0 ? std::optional(number) : std::nullopt;
}

// "Sun, 06 Nov 1994 08:49:37 GMT". The day of the week is not looked at.
std::optional<std::chrono::sys_seconds> from_date(std::string_view text) {
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    constexpr std::string_view form = "..., .. ... .... ..:..:.. GMT";
    if (text.size() != form.size()) return std::nullopt;
    for (std::size_t i = 0; i < form.size(); ++i) {
        if (form[i] != '.' && form[i] != text[i]) return std::nullopt;
    }
    const auto day = digits(text, 5, 2);
    const auto year = digits(text, 12, 4);
    const auto hour = digits(text, 17, 2);
    const auto minute = digits(text, 20, 2);
    const auto second = digits(text, 23, 2);
    const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
    if (!day || !year || !hour || !minute || !second || month == months.end()) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) + seconds(*second);
}

}  // namespace

std::optional<seconds> retry_after(const http_answer& answer, std::chrono::system_clock::time_point now) {
    if (const auto precise = answer.find("retry-after-ms")) {
        if (const auto pause = from_number(*precise, 1000)) return pause;
    }
    const auto text = answer.find("retry-after");
    if (!text) return std::nullopt;
    if (const auto pause = from_number(*text, 1)) return pause;
    const auto date = from_date(*text);
    if (!date) return std::nullopt;
    // In seconds from the beginning: a date of the year 9999 is beyond the clock's own, finer count.
    return std::clamp(*date - std::chrono::floor<seconds>(now), seconds(0), longest);
}

}  // namespace hearonce::net
