// Each header is read by one function; caller_words_of() puts them together.
#include <hearonce/ascii.hpp>
#include <http/identity.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace hearonce::http {
namespace {

using ascii::equal_in_any_case;
using ascii::without_blanks;

bool is_printable(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

bool is_control(char c) noexcept {
    return (c >= 0 && c < 0x20) || c == 0x7f;
}

// A header and the name phones in the field give it.
struct twin_names {
    std::string_view plain;
    std::string_view synonym;
};
constexpr twin_names device_names{"X-Device-Id", "X-Bolo-Device-Id"};
constexpr twin_names request_names{"X-Request-Id", "X-Bolo-Request-Id"};
constexpr twin_names sha256_names{"X-Audio-Sha256", "X-Bolo-Audio-Sha256"};
constexpr twin_names duration_names{"X-Audio-Duration-Ms", "X-Bolo-Audio-Duration-Ms"};
constexpr twin_names idempotency_names{"Idempotency-Key", "X-Bolo-Idempotency-Key"};

error invalid(std::string_view name, std::string_view why) {
    return error(errc::invalid_parameter, std::string(name) + ' ' + std::string(why), std::string(name));
}

// The one value that all headers of both names carry; empty ones count as absent.
result<std::string_view> value_of(const request_head& head, twin_names names, bool any_case = false) {
    std::string_view found;
    for (const header& one : head.headers) {
        if (!equal_in_any_case(one.name, names.plain) && !equal_in_any_case(one.name, names.synonym)) continue;
        const std::string_view value = without_blanks(one.value);
        if (value.empty()) continue;
        const bool same = any_case ? equal_in_any_case(value, found) : value == found;
        if (!found.empty() && !same) return invalid(names.plain, "was sent with two different values.");
        found = value;
    }
    return found;
}

result<std::string> device_id_of(const request_head& head) {
    const auto value = value_of(head, device_names);
    if (!value) return value.error();
    if (value->size() > device_id_bytes_max) return invalid(device_names.plain, "must be at most 128 bytes.");
    if (std::any_of(value->begin(), value->end(), is_control)) return invalid(device_names.plain, "must be printable.");
    return std::string(*value);
}

result<std::optional<sha256_digest>> audio_sha256_of(const request_head& head) {
    const auto value = value_of(head, sha256_names, true);
    if (!value) return value.error();
    if (value->empty()) return std::optional<sha256_digest>();
    const auto digest = digest_of(*value);
    if (!digest) {
        return error(errc::audio_hash_mismatch, "X-Audio-Sha256 must be 64 hex digits; no audio has the SHA-256 that was sent.");
    }
    return digest;
}

// Digits; a fraction, which a clock in floating point leaves behind, is dropped.
result<std::optional<std::chrono::milliseconds>> audio_duration_of(const request_head& head) {
    constexpr std::string_view why = "must be a number of milliseconds, at most a week.";
    const auto value = value_of(head, duration_names);
    if (!value) return value.error();
    if (value->empty()) return std::optional<std::chrono::milliseconds>();
    std::uint64_t count = 0;
    const char* const begin = value->data();
    const char* const end = begin + value->size();
    const auto [stop, wrong] = std::from_chars(begin, end, count);
    if (wrong != std::errc()) return invalid(duration_names.plain, why);
    const bool fraction_only = stop == end || (*stop == '.' && stop + 1 != end && std::all_of(stop + 1, end, ascii::is_digit));
    if (!fraction_only || count > static_cast<std::uint64_t>(audio_duration_max.count())) return invalid(duration_names.plain, why);
    if (count == 0) return std::optional<std::chrono::milliseconds>();
    return std::optional(std::chrono::milliseconds(count));
}

// An sf-string's text (RFC 8941 section 3.3.3), nothing after it; nullopt: malformed.
std::optional<std::string> unquoted(std::string_view text) {
    if (text.size() < 2 || text.back() != '"') return std::nullopt;
    std::string out;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == '"') return std::nullopt;
        if (text[i] == '\\') {
            ++i;
            if (i + 1 >= text.size() || (text[i] != '"' && text[i] != '\\')) return std::nullopt;
        }
        out += text[i];
    }
    return out;
}

result<std::string> idempotency_key_of(const request_head& head) {
    const auto value = value_of(head, idempotency_names);
    if (!value) return value.error();
    if (!is_printable(*value)) return invalid(idempotency_names.plain, "must be printable ASCII.");
    // Both forms of one key are the same key: a client may add the quotes its first release forgot.
    auto key = value->starts_with('"') ? unquoted(*value) : std::optional(std::string(*value));
    if (!key) return invalid(idempotency_names.plain, "has a quote that is not closed.");
    if (key->size() > idempotency_key_bytes_max) return invalid(idempotency_names.plain, "must be at most 255 bytes.");
    return std::move(*key);
}

// Calls `visit` with each directive's name (RFC 9111 section 5.2); commas inside quoted arguments do not separate.
template <class Visit>
void each_directive(std::string_view list, Visit visit) {
    while (!list.empty()) {
        bool quoted = false;
        std::size_t end = 0;
        for (; end < list.size() && (quoted || list[end] != ','); ++end) {
            if (quoted && list[end] == '\\') {
                ++end;
            } else if (list[end] == '"') {
                quoted = !quoted;
            }
        }
        const std::string_view directive = list.substr(0, std::min(end, list.size()));
        visit(without_blanks(directive.substr(0, directive.find('='))));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
}

void read_cache_control(const request_head& head, caller_words& words) {
    for (const header& one : head.headers) {
        if (!equal_in_any_case(one.name, "Cache-Control")) continue;
        each_directive(one.value, [&](std::string_view name) {
            if (equal_in_any_case(name, "no-cache")) words.no_cache = true;
            if (equal_in_any_case(name, "no-store")) words.no_store = true;
        });
    }
}

// A label of the SDK's, not a thing to fail for.
unsigned attempts_spent_of(const request_head& head) {
    constexpr unsigned believed_max = 1000;
    const auto value = without_blanks(head.find("X-Stainless-Retry-Count").value_or(std::string_view()));
    unsigned count = 0;
    const auto [stop, wrong] = std::from_chars(value.data(), value.data() + value.size(), count);
    return wrong == std::errc() && stop == value.data() + value.size() && count <= believed_max ? count : 0;
}

bool is_hex(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return ascii::is_digit(c) || (c >= 'a' && c <= 'f'); });
}
bool is_zero(std::string_view text) noexcept {
    return text.find_first_not_of('0') == std::string_view::npos;
}

// 00-<32 hex>-<16 hex>-<2 hex>; a version beyond 00 may have more after that, which is not ours to read.
bool is_traceparent(std::string_view text) noexcept {
    constexpr std::size_t bytes = 55;
    if (text.size() < bytes || text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
    const auto version = text.substr(0, 2);
    const auto trace = text.substr(3, 32);
    const auto parent = text.substr(36, 16);
    if (!is_hex(version) || !is_hex(trace) || !is_hex(parent) || !is_hex(text.substr(53, 2))) return false;
    if (version == "ff" || is_zero(trace) || is_zero(parent)) return false;
    return text.size() == bytes || (version != "00" && text[bytes] == '-');
}

std::string traceparent_of(const request_head& head) {
    if (head.count("traceparent") != 1) return {};
    const std::string_view value = without_blanks(*head.find("traceparent"));
    return is_traceparent(value) ? std::string(value.substr(0, 55)) : std::string();
}

}  // namespace

result<caller_words> caller_words_of(const request_head& head) {
    caller_words words;
    auto device = device_id_of(head);
    if (!device) return device.error();
    words.device_id = std::move(*device);
    const auto sha256 = audio_sha256_of(head);
    if (!sha256) return sha256.error();
    words.audio_sha256 = *sha256;
    const auto duration = audio_duration_of(head);
    if (!duration) return duration.error();
    words.audio_duration = *duration;
    auto key = idempotency_key_of(head);
    if (!key) return key.error();
    words.idempotency_key = std::move(*key);
    const auto request_id = value_of(head, request_names);
    if (!request_id) return request_id.error();
    read_cache_control(head, words);
    words.attempts_spent = attempts_spent_of(head);
    words.traceparent = traceparent_of(head);
    return words;
}

std::optional<std::string> request_id_of(const request_head& head) {
    for (const std::string_view name : {request_names.plain, request_names.synonym}) {
        const auto sent = head.find(name);
        if (!sent) continue;
        const std::string_view value = without_blanks(*sent);
        if (!value.empty() && value.size() <= request_id_bytes_max && is_printable(value)) return std::string(value);
    }
    return std::nullopt;
}

}  // namespace hearonce::http
