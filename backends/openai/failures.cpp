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
    const failure_terms& terms;
    refusal said;
};

error with_message(errc code, const std::string& message, std::string param = {}) {
    return message.empty() ? error(code, {}, std::move(param)) : error(code, message, std::move(param));
}

std::string status_text(const evidence& seen) {
    return "status " + std::to_string(seen.answer.status);
}

error& pause_as_told(error& why, const evidence& seen) {
    if (const auto pause = net::retry_after(seen.answer, seen.terms.now)) why.with_retry_after(*pause);
    return why;
}

// 401 and 403.
failed credential_refused(const evidence& seen) {
    if (seen.terms.callers_key) {
        // At 401 the message quotes the key; at 403 it says why the key is not enough.
        return {with_message(errc::invalid_api_key, seen.answer.status == 403 ? seen.said.message : std::string()), {}};
    }
    return {error(errc::upstream_error, "The backend refused the gateway's credentials.").with_remedy(remedy::elsewhere),
            "the upstream refuses the configured key (" + status_text(seen) + "): " + seen.said.message};
}

failed out_of_money(const evidence& seen) {
    const std::string log = seen.terms.callers_key ? std::string() : "the upstream's quota is used up: " + seen.said.message;
    return {with_message(errc::insufficient_quota, seen.said.message).with_remedy(remedy::elsewhere), log};
}

failed too_many(const evidence& seen) {
    error why = with_message(errc::rate_limit_exceeded, seen.said.message).with_remedy(remedy::again);
    return {pause_as_told(why, seen), {}};
}

failed unreadable(const evidence& seen) {
    return {error(errc::upstream_error, "The backend refused the request without a readable reason.").with_remedy(remedy::elsewhere),
            "the upstream answered with " + status_text(seen) + " and no JSON: is base_url right?"};
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
    if (!seen.said.readable) return unreadable(seen);
    return status == 404 ? not_there(seen) : about_request(seen);
}

// Statuses after which the work cannot have been done, and those after which it may have been.
remedy remedy_after(std::uint16_t status) noexcept {
    switch (status) {
        case 500:
        case 502:
        case 503: return remedy::again;
        case 501:
        case 505:
        case 525:
        case 526:
        case 529:
        case 530: return remedy::elsewhere;
        default: return remedy::none;
    }
}

failed broken(const evidence& seen) {
    const std::uint16_t status = seen.answer.status;
    if (status == 504 || status == 522 || status == 524) return {error(errc::upstream_timeout).with_remedy(remedy::none), {}};
    error why(errc::upstream_error, "The backend failed with status " + std::to_string(status) + ".");
    return {pause_as_told(why.with_remedy(remedy_after(status)), seen), {}};
}

// A redirect is not followed: a key must not travel to another host.
failed strange(const evidence& seen) {
    error why(errc::upstream_error, "The backend answered with status " + std::to_string(seen.answer.status) + ".");
    return {why.with_remedy(remedy::elsewhere), "the upstream answered with " + status_text(seen) + ": is base_url right?"};
}

}  // namespace

failed error_of_answer(const net::http_answer& answer, const failure_terms& terms) {
    const evidence seen{answer, terms, refusal_of(answer.body, terms.key)};
    failed made = answer.status >= 500 ? broken(seen) : answer.status >= 400 ? refused(seen) : strange(seen);
    made.why.with_upstream_status(answer.status);
    return made;
}

failed error_of_call(const net::call_failure& failure) {
    if (failure.cancelled) return {error(errc::cancelled), {}};
    if (failure.body_failed || failure.unsendable) {
        return {error(errc::internal_error).with_remedy(remedy::none), "the recording could not be sent: " + failure.message};
    }
    const bool connecting = failure.stage == net::call_stage::connecting;
    if (failure.timed_out) {
        // Nothing was sent yet, so it may be sent again; after that the upstream may be at work still.
        return {error(errc::upstream_timeout).with_remedy(connecting ? remedy::again : remedy::none), failure.message};
    }
    if (failure.distrusted) {
        return {error(errc::upstream_error, "The backend could not be reached.").with_remedy(remedy::elsewhere), failure.message};
    }
    if (connecting) return {error(errc::upstream_error, "The backend could not be reached.").with_remedy(remedy::again), failure.message};
    // Without its whole body no upstream can have done the work.
    if (failure.stage == net::call_stage::sending) {
        return {error(errc::upstream_error, "The backend broke the connection.").with_remedy(remedy::again), failure.message};
    }
    return {error(errc::upstream_error, "The backend broke the connection.").with_remedy(remedy::none), failure.message};
}

}  // namespace hearonce::openai
