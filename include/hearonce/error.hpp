// Every way a request can end without a transcript, and the one table that turns it into an HTTP answer.
//
// Holds: errc, remedy, error, result<T>. Includes nothing of the project; everything else includes this.
// Next file: deadline.hpp.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hearonce {

// Why work or a request failed. The order is free; entry_of() below gives each its public face.
enum class errc : std::uint8_t {
    // 400: the caller can mend the request.
    audio_hash_mismatch,
    invalid_multipart,
    missing_file,
    empty_audio,
    audio_too_short,
    unsupported_audio,
    unsupported_value,
    invalid_parameter,
    duplicate_parameter,
    invalid_http,
    // 401, 403
    invalid_api_key,
    origin_not_allowed,
    host_not_allowed,
    // 404, 405, 408, 409, 413, 415, 431
    model_not_found,
    audio_unknown,
    not_found,
    method_not_allowed,
    request_timeout,
    idempotency_conflict,
    audio_too_large,
    unsupported_media_type,
    header_too_large,
    // 429
    rate_limit_exceeded,
    insufficient_quota,
    // 5xx: the gateway or what stands behind it.
    internal_error,
    upstream_error,
    overloaded,
    draining,
    upstream_timeout,
    // Never an answer: the connection is gone or is closed without one.
    caller_left,  // The waiter's connection ended, or the waiter gave up.
    body_cut,     // The body ended early or stalled; nobody is there to read an answer.
    cancelled,    // The work was cancelled because nobody waits for it any more.
};

// What the outside sees of an errc. `type` and `param` as OpenAI sends them for the same case.
struct errc_entry {
    std::uint16_t status;      // HTTP status; 0 where no answer is sent.
    std::string_view code;     // `error.code` in the body.
    std::string_view type;     // `error.type` in the body.
    std::string_view param;    // `error.param` unless the error names another; empty = null.
    std::string_view message;  // `error.message` unless the error brings its own.
};

constexpr errc_entry entry_of(errc code) noexcept {
    constexpr std::string_view request = "invalid_request_error";
    constexpr std::string_view server = "server_error";
    // One line an error, so that it reads as the table it is.
    // clang-format off
    switch (code) {
    case errc::audio_hash_mismatch: return {400, "audio_hash_mismatch", request, "", "The audio received does not have the SHA-256 that X-Audio-Sha256 announced."};
    case errc::invalid_multipart: return {400, "invalid_multipart", request, "", "The body is not valid multipart/form-data."};
    case errc::missing_file: return {400, "missing_file", request, "file", "The form has no part named 'file'."};
    case errc::empty_audio: return {400, "empty_audio", request, "", "The audio file is empty."};
    case errc::audio_too_short: return {400, "audio_too_short", request, "file", "Audio file is too short. Minimum audio length is 0.1 seconds."};
    case errc::unsupported_audio: return {400, "unsupported_audio", request, "", "The audio file could not be decoded or its format is not supported."};
    case errc::unsupported_value: return {400, "unsupported_value", request, "", "A field has a value that is not supported."};
    case errc::invalid_parameter: return {400, "invalid_parameter", request, "", "A field or header has an invalid value."};
    case errc::duplicate_parameter: return {400, "duplicate_parameter", request, "", "A field that takes one value was sent more than once."};
    case errc::invalid_http: return {400, "invalid_http", request, "", "The request is not valid HTTP."};
    case errc::invalid_api_key: return {401, "invalid_api_key", request, "", "Incorrect API key provided."};
    case errc::origin_not_allowed: return {403, "origin_not_allowed", request, "", "This origin is not in server.cors_origins."};
    case errc::host_not_allowed: return {403, "host_not_allowed", request, "", "This host name is not in server.host_names."};
    case errc::model_not_found: return {404, "model_not_found", request, "model", "The model does not exist or no backend takes it."};
    case errc::audio_unknown: return {404, "audio_unknown", request, "", "No work of yours with these bytes and settings is known."};
    case errc::not_found: return {404, "not_found", request, "", "There is nothing at this path."};
    case errc::method_not_allowed: return {405, "method_not_allowed", request, "", "This path does not take this method."};
    case errc::request_timeout: return {408, "request_timeout", request, "", "The request's head did not arrive in time."};
    case errc::idempotency_conflict: return {409, "idempotency_conflict", request, "", "This Idempotency-Key was used for other work."};
    case errc::audio_too_large: return {413, "audio_too_large", server, "", "The audio file is too large."};
    case errc::unsupported_media_type: return {415, "unsupported_media_type", request, "", "The body must be multipart/form-data with a boundary."};
    case errc::header_too_large: return {431, "header_too_large", request, "", "The request's head is too large."};
    case errc::rate_limit_exceeded: return {429, "rate_limit_exceeded", "requests", "", "The upstream's rate limit is reached."};
    case errc::insufficient_quota: return {429, "insufficient_quota", "insufficient_quota", "", "The quota is used up."};
    case errc::internal_error: return {500, "internal_error", server, "", "The gateway failed."};
    case errc::upstream_error: return {502, "upstream_error", server, "", "The backend failed."};
    case errc::overloaded: return {503, "overloaded", "service_unavailable_error", "", "The gateway is overloaded, try again soon."};
    case errc::draining: return {503, "draining", server, "", "The gateway is shutting down, try again soon."};
    case errc::upstream_timeout: return {504, "upstream_timeout", server, "", "The backend did not answer in time."};
    case errc::caller_left: return {0, "caller_left", server, "", "The caller left."};
    case errc::body_cut: return {0, "body_cut", server, "", "The body was cut short."};
    case errc::cancelled: return {0, "cancelled", server, "", "The work was cancelled."};
    }
    // clang-format on
    return {500, "internal_error", server, "", "The gateway failed."};
}

// What may be tried after a failure without the work being done, and paid for, twice.
enum class remedy : std::uint8_t {
    none,       // Nothing: the request is at fault, or a backend may have done the work.
    elsewhere,  // Another backend: this one did nothing and will do no better.
    again,      // This backend after a pause, and then another.
};

// What a failure of this kind allows, unless the error says otherwise. A timeout allows nothing: the work may be done.
constexpr remedy remedy_of(errc code) noexcept {
    switch (code) {
        case errc::rate_limit_exceeded: return remedy::again;
        case errc::upstream_error:
        case errc::overloaded:
        case errc::insufficient_quota:
        case errc::internal_error: return remedy::elsewhere;
        default: return remedy::none;
    }
}

// One failure: its kind and what the caller may be told about it. A value; copied to every waiter of a failed run.
// Nothing in it is secret: internals are logged where they happen and never put here.
class error {
public:
    // A result that holds a value answers error() with this one (Boost.System's rule).
    error() = default;
    error(errc code) : code_(code) {}
    error(errc code, std::string message, std::string param = {}) : code_(code), message_(std::move(message)), param_(std::move(param)) {}

    errc code() const noexcept { return code_; }
    std::uint16_t status() const noexcept { return status_ != 0 ? status_ : entry_of(code_).status; }
    std::string_view message() const noexcept { return message_.empty() ? entry_of(code_).message : std::string_view(message_); }
    std::string_view param() const noexcept { return param_.empty() ? entry_of(code_).param : std::string_view(param_); }

    // An upstream's 4xx about the request keeps its own status.
    error& with_status(std::uint16_t status) {
        status_ = status;
        return *this;
    }
    // What the upstream answered, for the metrics alone; 0: it gave no answer.
    error& with_upstream_status(std::uint16_t status) {
        upstream_status_ = status;
        return *this;
    }
    std::uint16_t upstream_status() const noexcept { return upstream_status_; }
    // When a retry may help, in whole seconds (RFC 9110 section 10.2.3).
    error& with_retry_after(std::chrono::seconds after) {
        retry_after_ = after;
        return *this;
    }
    std::optional<std::chrono::seconds> retry_after() const noexcept { return retry_after_; }
    error& with_remedy(hearonce::remedy allowed) {
        remedy_ = allowed;
        return *this;
    }
    hearonce::remedy remedy() const noexcept { return remedy_.value_or(remedy_of(code_)); }

    friend bool operator==(const error&, const error&) = default;

private:
    errc code_ = errc::internal_error;
    std::uint16_t status_ = 0;
    std::uint16_t upstream_status_ = 0;
    std::optional<hearonce::remedy> remedy_;
    std::optional<std::chrono::seconds> retry_after_;
    std::string message_;
    std::string param_;
};

// Thrown only when a result's value is read without a look at its error: a bug that ends one connection, never the process.
class unchecked_error : public std::exception {
public:
    explicit unchecked_error(error why) : why_(std::move(why)), text_(why_.message()) {}
    const char* what() const noexcept override { return text_.c_str(); }

private:
    error why_;
    std::string text_;
};

[[noreturn]] inline void throw_exception_from_error(const error& why, const boost::source_location&) {
    throw unchecked_error(why);
}

// What can fail in normal life returns this.
template <class T>
using result = boost::system::result<T, error>;

}  // namespace hearonce
