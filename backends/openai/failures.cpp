// One row a status, as the contract's retry rules and OpenAI's error list have them. Next file: openai_backend.cpp.
#include <backends/openai/failures.hpp>
#include <backends/openai/refusal.hpp>
#include <net/retry_after.hpp>

#include <utility>

namespace hearonce::openai {
namespace {

// Everything that is known about one answer.
struct evidence {
    const net::http_answer& answer;
    const key_terms& terms;
    refusal said;
};

error with_message(errc code, const std::string& message, std::string param = {}) {
    return message.empty() ? error(code, {}, std::move(param)) : error(code, message, std::move(param));
}

error& pause_as_told(error& why, const evidence& seen) {
    if (const auto pause = net::retry_after(seen.answer, seen.terms.now)) why.with_retry_after(*pause);
    return why;
}

// 401 and 403.
failed credential_refused(const evidence& seen) {
    if (seen.terms.callers) {
        // At 401 the message quotes the key; at 403 it says why the key is not enough.
        return {with_message(errc::invalid_api_key, seen.answer.status == 403 ? seen.said.message : std::string()), {}};
    }
    return cloud::operators_key_refused(seen.answer.status, seen.said.message);
}

failed out_of_money(const evidence& seen) {
    const std::string log = seen.terms.callers ? std::string() : "the upstream's quota is used up: " + seen.said.message;
    return {with_message(errc::insufficient_quota, seen.said.message).with_remedy(remedy::elsewhere), log};
}

failed too_many(const evidence& seen) {
    error why = with_message(errc::rate_limit_exceeded, seen.said.message).with_remedy(remedy::again);
    return {pause_as_told(why, seen), {}};
}

failed not_there(const evidence& seen) {
    if (seen.said.about_model) return {with_message(errc::model_not_found, seen.said.message, seen.said.param), {}};
    return {error(errc::upstream_error, "The backend has no such endpoint.").with_remedy(remedy::elsewhere),
            "the upstream knows no such path: is base_url right? " + seen.said.message};
}

failed about_request(const evidence& seen) {
    error why = with_message(seen.said.nearest, seen.said.message, seen.said.param);
    return {why.with_status(seen.answer.status).with_remedy(remedy::none), {}};
}

failed refused(const evidence& seen) {
    const std::uint16_t status = seen.answer.status;
    if (status == 401 || status == 403) return credential_refused(seen);
    if (seen.said.money || status == 402) return out_of_money(seen);
    if (status == 429) return too_many(seen);
    // Proxies answer 413 in HTML; the status alone says all.
    if (status == 413) return {with_message(errc::audio_too_large, seen.said.message), {}};
    if (status == 408) return {error(errc::upstream_timeout).with_remedy(remedy::none), {}};
    if (!seen.said.readable) return cloud::refused_unreadably(status);
    return status == 404 ? not_there(seen) : about_request(seen);
}

failed broken(const evidence& seen) {
    const std::uint16_t status = seen.answer.status;
    if (status == 504 || status == 522 || status == 524) return {error(errc::upstream_timeout).with_remedy(remedy::none), {}};
    error why(errc::upstream_error, "The backend failed with status " + std::to_string(status) + ".");
    return {pause_as_told(why.with_remedy(cloud::remedy_after(status)), seen), {}};
}

}  // namespace

failed error_of_answer(const net::http_answer& answer, const key_terms& terms) {
    const evidence seen{answer, terms, refusal_of(answer.body, terms.key)};
    failed made = answer.status >= 500 ? broken(seen) : answer.status >= 400 ? refused(seen) : cloud::answered_strangely(answer.status);
    made.why.with_upstream_status(answer.status);
    return made;
}

}  // namespace hearonce::openai
