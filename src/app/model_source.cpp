// Next file: model_file.cpp.
#include <app/model_source.hpp>

#include <hearonce/ascii.hpp>
#include <net/url.hpp>

#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

#include <algorithm>
#include <charconv>

namespace hearonce::app {
namespace {

constexpr std::string_view hub = "https://huggingface.co/";
constexpr std::string_view usual_repository = "ggerganov/whisper.cpp";
constexpr std::string_view tdrz_repository = "akashmjn/tinydiarize-whisper.cpp";

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string strong_etag(const net::http_answer& answer) {
    const auto etag = answer.find("etag");
    if (!etag || etag->size() < 3 || etag->front() != '"' || etag->back() != '"') return {};
    return std::string(*etag);
}

struct byte_range {
    std::optional<std::uint64_t> first;  // Absent in the answer to a range that cannot be.
    std::optional<std::uint64_t> whole;
};

// `bytes 5-9/10`, `bytes 5-9/*`, `bytes */10` (RFC 9110 section 14.4).
std::optional<byte_range> byte_range_of(const net::http_answer& answer) {
    auto text = answer.find("content-range").value_or("");
    constexpr std::string_view unit = "bytes ";
    const auto slash = text.rfind('/');
    if (!text.starts_with(unit) || slash == std::string_view::npos) return std::nullopt;
    byte_range range;
    range.whole = number_of(text.substr(slash + 1));
    text = text.substr(unit.size(), slash - unit.size());
    if (text == "*") return range;
    range.first = number_of(text.substr(0, text.find('-')));
    return range.first ? std::optional(range) : std::nullopt;
}

answer_verdict judge_range(const net::http_answer& answer, const part_on_disk& part) {
    using kind = answer_verdict::kind;
    const auto range = byte_range_of(answer);
    const auto etag = strong_etag(answer);
    const bool other_file = !etag.empty() && etag != part.etag;
    const bool no_rest = range && range->whole && *range->whole <= part.bytes;
    if (!range || range->first != part.bytes || other_file || no_rest) return {.is = kind::discard};
    return {.is = kind::append, .whole_bytes = range->whole, .etag = part.etag};
}

bool is_sha256(std::string_view text) {
    return text.size() == 64 && std::ranges::all_of(text, [](char c) { return ascii::is_digit(c) || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::optional<std::string> model_url(std::string_view name, std::string_view from) {
    const std::string file = "ggml-" + std::string(name) + ".bin";
    if (from.empty()) {
        const auto repository = name.ends_with("-tdrz") ? tdrz_repository : usual_repository;
        return std::string(hub) + std::string(repository) + "/resolve/main/" + file;
    }
    std::string url(from);
    if (!from.ends_with(".bin")) url += (from.ends_with('/') ? "" : "/") + file;
    if (!net::parse_url(url)) return std::nullopt;
    return url;
}

std::vector<net::http_header> resume_headers(const part_on_disk& part) {
    // Compressed on the way, the ranges would be ranges of something else.
    std::vector<net::http_header> headers{{"Accept-Encoding", "identity"}};
    if (!part.can_resume()) return headers;
    headers.push_back({"Range", "bytes=" + std::to_string(part.bytes) + "-"});
    headers.push_back({"If-Range", part.etag});
    return headers;
}

answer_verdict judge_answer(const net::http_answer& answer, const part_on_disk& part) {
    using kind = answer_verdict::kind;
    const auto status = answer.status;
    if (status == 200) {
        std::optional<std::uint64_t> whole;
        if (const auto length = answer.find("content-length")) whole = number_of(*length);
        return {.is = kind::restart, .whole_bytes = whole, .etag = strong_etag(answer)};
    }
    if (status == 206) return judge_range(answer, part);
    if (status == 416) {
        const auto range = byte_range_of(answer);
        const bool all_here = part.can_resume() && range && range->whole == part.bytes;
        return {.is = all_here ? kind::complete : kind::discard, .whole_bytes = part.bytes, .etag = part.etag};
    }
    if (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) {
        const auto location = answer.find("location");
        if (!location) return {.text = "the server redirects without saying where"};
        return {.is = kind::redirect, .text = std::string(*location)};
    }
    if (status == 404 || status == 410) return {.text = "the server does not have it (" + std::to_string(status) + ")"};
    if (status == 408 || status == 429 || status >= 500) return {.is = kind::again, .text = "the server answers " + std::to_string(status)};
    return {.text = "the server refuses with " + std::to_string(status)};
}

redirect_end redirect_of(std::string_view url, std::string_view location) {
    const auto base = boost::urls::parse_uri(url);
    const auto reference = boost::urls::parse_uri_reference(location);
    boost::urls::url target;
    if (!base || !reference || !boost::urls::resolve(*base, *reference, target)) return {.refusal = "the server redirects to no URL"};
    target.remove_fragment();
    const std::string text(target.buffer());
    const auto parsed = net::parse_url(text);
    if (!parsed) return {.refusal = "the server redirects to no http or https URL"};
    if (base->scheme() == "https" && !parsed->tls) return {.refusal = "the server redirects from https to http"};
    return {.url = text};
}

std::string sha256_of_answer(const net::http_answer& answer) {
    for (const std::string_view name : {"x-linked-etag", "etag"}) {
        auto text = answer.find(name).value_or("");
        if (text.size() > 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
        if (is_sha256(text)) return std::string(text);
    }
    return {};
}

}  // namespace hearonce::app
