// The table itself is entry_of() in hearonce/error.hpp; here it becomes bytes and headers.
#include <http/error_response.hpp>
#include <observe/json_text.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace hearonce::http {
namespace {

constexpr std::chrono::seconds overloaded_pause{1};
constexpr std::chrono::seconds draining_pause{2};

bool is_passing(errc code) noexcept {
    return code == errc::overloaded || code == errc::draining;
}

// A failure without a status has nobody to read it; should one get here all the same, say no more than that.
error answerable(const error& why) {
    assert(why.status() != 0);
    return why.status() == 0 ? error(errc::internal_error) : why;
}

// An upstream's own status decides the type when it is of another class than the code's.
std::string_view type_of(const error& why) noexcept {
    const errc_entry entry = entry_of(why.code());
    if (entry.status / 100 == why.status() / 100) return entry.type;
    return why.status() < 500 ? "invalid_request_error" : "server_error";
}

std::optional<std::chrono::seconds> pause_of(const error& why) noexcept {
    if (why.retry_after()) return std::max(*why.retry_after(), std::chrono::seconds(1));  // SDKs take 0 for absent.
    if (why.code() == errc::overloaded) return overloaded_pause;
    if (why.code() == errc::draining) return draining_pause;
    return std::nullopt;
}

// After these the bytes that follow cannot be trusted to be a request.
bool ends_connection(errc code) noexcept {
    return code == errc::invalid_http || code == errc::request_timeout || code == errc::header_too_large;
}

}  // namespace

response json_answer(std::uint16_t status, std::string body) {
    response answer;
    answer.status = status;
    answer.headers.push_back({"Content-Type", "application/json"});
    answer.headers.push_back({"Cache-Control", "no-store"});
    answer.body = std::make_shared<const std::string>(std::move(body));
    return answer;
}

std::string error_body(const error& why) {
    const error said = answerable(why);
    std::string out;
    out.reserve(said.message().size() + 128);
    out += R"({"error":{"message":)";
    observe::append_json_string(out, said.message());
    out += R"(,"type":)";
    observe::append_json_string(out, type_of(said));
    out += R"(,"param":)";
    if (said.param().empty()) {
        out += "null";
    } else {
        observe::append_json_string(out, said.param());
    }
    out += R"(,"code":)";
    observe::append_json_string(out, entry_of(said.code()).code);
    out += "}}";
    return out;
}

response error_response(const error& why, bool already_retried) {
    const error said = answerable(why);
    response answer = json_answer(said.status(), error_body(said));
    if (const auto pause = pause_of(said)) answer.headers.push_back({"Retry-After", std::to_string(pause->count())});
    const bool hopeless = said.code() == errc::idempotency_conflict || said.code() == errc::insufficient_quota;
    if (hopeless || (already_retried && !is_passing(said.code()))) answer.headers.push_back({"x-should-retry", "false"});
    if (said.status() == 401) answer.headers.push_back({"WWW-Authenticate", "Bearer"});  // RFC 9110 section 15.5.2
    answer.close = ends_connection(said.code());
    return answer;
}

response method_not_allowed(std::string_view allow) {
    response answer = error_response(errc::method_not_allowed);
    answer.headers.push_back({"Allow", std::string(allow)});
    return answer;
}

}  // namespace hearonce::http
