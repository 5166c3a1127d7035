// One row a status. Next file: gemini_backend.cpp.
#include <backends/cloud/quoted_message.hpp>
#include <backends/gemini/failure.hpp>
#include <backends/gemini/heard.hpp>
#include <net/retry_after.hpp>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace hearonce::gemini {
namespace json = boost::json;
namespace {

constexpr double pause_seconds_max = 86400;

// What one refusal says.
struct evidence {
    std::uint16_t status = 0;
    bool readable = false;
    std::string message;  // As it may be told on.
    std::string_view name;
    bool bad_key = false;
    bool for_a_day = false;  // A quota that does not come back in seconds, or was never there.
    std::optional<std::chrono::seconds> pause;
};

bool holds(std::string_view text, std::string_view part) noexcept {
    return text.find(part) != std::string_view::npos;
}

void read_quota(const json::object& detail, evidence& seen) {
    const json::array* violations = array_in(detail, "violations");
    if (violations == nullptr) return;
    for (const json::value& each : *violations) {
        if (!each.is_object()) continue;
        const std::string_view id = text_in(each.get_object(), "quotaId");
        // A limit of nothing: the model is not part of what the project pays for.
        const bool none = text_in(each.get_object(), "quotaValue") == "0";
        if (holds(id, "PerDay") || none) seen.for_a_day = true;
    }
}

void read_detail(const json::object& detail, evidence& seen) {
    const std::string_view type = text_in(detail, "@type");
    if (type.ends_with("google.rpc.ErrorInfo")) {
        const std::string_view reason = text_in(detail, "reason");
        seen.bad_key = seen.bad_key || reason == "API_KEY_INVALID" || reason == "API_KEY_EXPIRED";
    } else if (type.ends_with("google.rpc.RetryInfo")) {
        if (const auto wait = offset_of(detail.if_contains("retryDelay")))
            seen.pause = std::chrono::seconds(static_cast<std::int64_t>(std::ceil(std::min(*wait, pause_seconds_max))));
    } else if (type.ends_with("google.rpc.QuotaFailure")) {
        read_quota(detail, seen);
    }
}

void read(const json::object& from, std::string_view key, evidence& seen) {
    seen.readable = true;
    seen.message = cloud::quoted_message(text_in(from, "message"), key);
    seen.name = text_in(from, "status");
    if (const json::array* details = array_in(from, "details")) {
        for (const json::value& each : *details) {
            if (each.is_object()) read_detail(each.get_object(), seen);
        }
    }
}

error with_message(errc code, const evidence& seen) {
    return seen.message.empty() ? error(code) : error(code, seen.message);
}

failed key_refused(const evidence& seen, const key_terms& terms) {
    // Only a 403 says something its owner does not know: what the key lacks.
    if (terms.callers) return {seen.status == 403 ? with_message(errc::invalid_api_key, seen) : error(errc::invalid_api_key), {}};
    return cloud::operators_key_refused(seen.status, seen.message);
}

failed too_many(const evidence& seen, const key_terms& terms) {
    if (seen.for_a_day) {
        return {with_message(errc::insufficient_quota, seen).with_remedy(remedy::elsewhere),
                terms.callers ? std::string() : "the upstream's quota is used up: " + seen.message};
    }
    error why = with_message(errc::rate_limit_exceeded, seen).with_remedy(remedy::again);
    if (seen.pause) why.with_retry_after(*seen.pause);
    return {why, {}};
}

failed about_request(const evidence& seen) {
    // What the request is refused for may lie in the project: its country, its billing.
    const bool project = seen.name == "FAILED_PRECONDITION";
    error why = with_message(errc::invalid_parameter, seen);
    why.with_status(seen.status).with_remedy(project ? remedy::elsewhere : remedy::none);
    return {why, project ? "the upstream refuses this project: " + seen.message : std::string()};
}

failed refused(const evidence& seen, const key_terms& terms) {
    if (seen.bad_key || seen.status == 401) return key_refused(seen, terms);
    if (seen.status == 403) return seen.readable ? key_refused(seen, terms) : cloud::refused_unreadably(seen.status);
    if (seen.status == 429) return too_many(seen, terms);
    // Proxies answer 413 in HTML; the status alone says all.
    if (seen.status == 413) return {with_message(errc::audio_too_large, seen), {}};
    if (seen.status == 408 || seen.status == 499) return {error(errc::upstream_timeout).with_remedy(remedy::none), {}};
    if (!seen.readable) return cloud::refused_unreadably(seen.status);
    if (seen.status == 404) return {with_message(errc::model_not_found, seen), {}};
    return about_request(seen);
}

failed broken(const evidence& seen) {
    if (seen.status == 504) return {error(errc::upstream_timeout).with_remedy(remedy::none), {}};
    error why(errc::upstream_error, "The backend failed with status " + std::to_string(seen.status) + ".");
    why.with_remedy(cloud::remedy_after(seen.status));
    if (seen.pause) why.with_retry_after(*seen.pause);
    return {why, {}};
}

failed judge(const evidence& seen, const key_terms& terms) {
    if (seen.status >= 500) return broken(seen);
    if (seen.status >= 400) return refused(seen, terms);
    return cloud::answered_strangely(seen.status);
}

}  // namespace

const json::object* error_in(const json::value& body) noexcept {
    const json::array* many = body.if_array();
    const json::value* one = many == nullptr ? &body : many->empty() ? nullptr : &many->back();
    const json::object* object = one != nullptr ? one->if_object() : nullptr;
    return object != nullptr ? object_in(*object, "error") : nullptr;
}

failed failure_of_answer(const net::http_answer& answer, std::string_view body, const key_terms& terms) {
    evidence seen;
    boost::system::error_code broken_json;
    const json::value parsed = json::parse(body, broken_json);
    const json::object* said = broken_json ? nullptr : error_in(parsed);
    if (said != nullptr) read(*said, terms.key, seen);
    seen.status = answer.status;
    if (!seen.pause) seen.pause = net::retry_after(answer, terms.now);
    return judge(seen, terms);
}

failed failure_of_record(const json::object& error, const key_terms& terms) {
    evidence seen;
    read(error, terms.key, seen);
    const json::value* code = error.if_contains("code");
    const std::int64_t status = code != nullptr && code->is_int64() ? code->get_int64() : 0;
    // A record that names no status is a failure of the upstream's in the middle of its work.
    seen.status = status >= 400 && status < 600 ? static_cast<std::uint16_t>(status) : 520;
    return judge(seen, terms);
}

}  // namespace hearonce::gemini
