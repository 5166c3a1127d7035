// The texts and what they allow. Next file: quoted_message.cpp.
#include <backends/cloud/failure.hpp>

namespace hearonce::cloud {

namespace {

std::string status_text(std::uint16_t status) {
    return "status " + std::to_string(status);
}

}  // namespace

failed failure_of_call(const net::call_failure& failure) {
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

failed operators_key_refused(std::uint16_t status, const std::string& message) {
    return {error(errc::upstream_error, "The backend refused the gateway's credentials.").with_remedy(remedy::elsewhere),
            "the upstream refuses the configured key (" + status_text(status) + "): " + message};
}

failed refused_unreadably(std::uint16_t status) {
    return {error(errc::upstream_error, "The backend refused the request without a readable reason.").with_remedy(remedy::elsewhere),
            "the upstream answered with " + status_text(status) + " and no JSON: is base_url right?"};
}

failed answered_strangely(std::uint16_t status) {
    return {error(errc::upstream_error, "The backend answered with " + status_text(status) + ".").with_remedy(remedy::elsewhere),
            "the upstream answered with " + status_text(status) + ": is base_url right?"};
}

}  // namespace hearonce::cloud
