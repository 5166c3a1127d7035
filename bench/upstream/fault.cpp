// Reads faults. Next file: sending.cpp.
#include <bench/upstream/fault.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace hearonce::upstream {

const std::string_view fault_help =
    "Faults: in the header X-Fault, after 'fault:' in a prompt, in --fault, or in POST /_faults. Several at once: 'status=503,\n"
    "retry_after=2'. Times are 300ms, 2s or plain milliseconds. What is no call, such as GET /v1/models, meets those of its header\n"
    "and of 'others' alone.\n"
    "  delay=TIME              answer later                 hang                   never answer\n"
    "  reset=before_body       RST after the request's head reset=after_body       RST in place of an answer\n"
    "  reset=after_head        RST after the answer's head  half_body              FIN after half of the answer\n"
    "  status=NNN              400..599 in the API's words  early_401              before the body is read\n"
    "  retry_after=N|date|date+N|none  beside a status      retry_after_ms=N\n"
    "  insufficient_quota      no waiting helps             key_invalid\n"
    "  html_502  html_200      what a proxy says            not_json  empty_text\n"
    "  huge_body[=MiB]         64 MiB unless told           drip=TIME              between any two bytes\n"
    "  idle_close[=TIME]       FIN after the answer, unannounced\n"
    "  cut_sse=mid_record|between  sse_error  pace=TIME     streams\n"
    "  blocked  no_parts  max_tokens  recitation  words_only    Gemini only\n"
    "  none                    an item of a script that lets its call go well\n";

namespace {

using milliseconds = fault::milliseconds;
constexpr std::size_t huge_mib_max = 256;
constexpr std::int64_t time_ms_max = 24LL * 3600 * 1000;

template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number value{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<milliseconds> time_of(std::string_view text) {
    std::int64_t unit_ms = 1;
    if (text.ends_with("ms")) {
        text.remove_suffix(2);
    } else if (text.ends_with("s")) {
        text.remove_suffix(1);
        unit_ms = 1000;
    }
    const auto value = number_of<std::int64_t>(text);
    if (!value || *value < 0 || *value > time_ms_max / unit_ms) return std::nullopt;
    return milliseconds(*value * unit_ms);
}

bool is_retry_after(std::string_view text) {
    if (text.starts_with("date+")) return number_of<std::uint32_t>(text.substr(5)).has_value();
    return text == "date" || text == "none" || number_of<std::uint32_t>(text).has_value();
}

constexpr std::array<std::pair<std::string_view, fault::instead>, 12> answers = {
    {{"html_502", fault::instead::html_502},
     {"html_200", fault::instead::html_200},
     {"not_json", fault::instead::not_json},
     {"empty_text", fault::instead::empty_text},
     {"huge_body", fault::instead::huge_body},
     {"insufficient_quota", fault::instead::insufficient_quota},
     {"key_invalid", fault::instead::key_invalid},
     {"blocked", fault::instead::blocked},
     {"no_parts", fault::instead::no_parts},
     {"max_tokens", fault::instead::max_tokens},
     {"recitation", fault::instead::recitation},
     {"words_only", fault::instead::words_only}}};

bool take_flag(fault& to, std::string_view name) {
    for (const auto& [word, meaning] : answers) {
        if (word == name) return to.answer = meaning, true;
    }
    if (name == "none") return true;
    if (name == "hang") return to.hang = true;
    if (name == "half_body") return to.half_body = true;
    if (name == "early_401") return to.early_401 = true;
    if (name == "sse_error") return to.sse_error = true;
    if (name == "idle_close") return to.idle_close = milliseconds(0), true;
    return false;
}

bool take_time(std::optional<milliseconds>& to, std::string_view value) {
    to = time_of(value);
    return to.has_value();
}

bool take_time(milliseconds& to, std::string_view value) {
    const auto time = time_of(value);
    if (time) to = *time;
    return time.has_value();
}

bool take_word(fault& to, std::string_view name, std::string_view value) {
    if (name == "reset") {
        if (value == "before_body") to.reset = fault::reset_at::before_body;
        if (value == "after_body") to.reset = fault::reset_at::after_body;
        if (value == "after_head") to.reset = fault::reset_at::after_head;
        return to.reset != fault::reset_at::never;
    }
    if (name == "cut_sse") {
        if (value == "mid_record") to.cut = fault::sse_cut::mid_record;
        if (value == "between") to.cut = fault::sse_cut::between;
        return to.cut != fault::sse_cut::whole;
    }
    if (name == "retry_after") {
        to.retry_after = value;
        return is_retry_after(value);
    }
    return false;
}

bool take_value(fault& to, std::string_view name, std::string_view value) {
    if (name == "delay") return take_time(to.delay, value);
    if (name == "idle_close") return take_time(to.idle_close, value);
    if (name == "drip") return take_time(to.drip, value);
    if (name == "pace") return take_time(to.pace, value);
    if (name == "status") {
        to.status = number_of<int>(value).value_or(0);
        return to.status >= 400 && to.status <= 599;
    }
    if (name == "retry_after_ms") {
        to.retry_after_ms = number_of<double>(value);
        return to.retry_after_ms && std::isfinite(*to.retry_after_ms) && *to.retry_after_ms >= 0;
    }
    if (name == "huge_body") {
        const auto mib = number_of<std::size_t>(value).value_or(0);
        to.answer = fault::instead::huge_body;
        to.huge_bytes = mib << 20U;
        return mib >= 1 && mib <= huge_mib_max;
    }
    return take_word(to, name, value);
}

bool take(fault& to, std::string_view item) {
    const auto equals = item.find('=');
    return equals == std::string_view::npos ? take_flag(to, item) : take_value(to, item.substr(0, equals), item.substr(equals + 1));
}

}  // namespace

result<fault> parse_fault(std::string_view text) {
    constexpr std::string_view between = ",; \t\r\n";
    fault made;
    for (;;) {
        const auto begin = text.find_first_not_of(between);
        if (begin == std::string_view::npos) return made;
        text.remove_prefix(begin);
        const auto item = text.substr(0, text.find_first_of(between));
        if (!take(made, item)) return error(errc::invalid_parameter, "There is no fault '" + std::string(item) + "'.");
        text.remove_prefix(item.size());
    }
}

std::optional<std::string_view> fault_in_prompt(std::string_view prompt) noexcept {
    constexpr std::string_view mark = "fault:";
    const auto at = prompt.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    prompt.remove_prefix(at + mark.size());
    return prompt.substr(0, prompt.find_first_of("\r\n\"<"));
}

}  // namespace hearonce::upstream
