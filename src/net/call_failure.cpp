// Why a call brought no answer, in one line for the user. Nothing follows; the caller is cli/send.cpp or a backend.
#include <hearonce/ascii.hpp>
#include <net/conversation.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>

#include <stdexcept>

namespace hearonce::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string_view doing(call_stage stage) {
    switch (stage) {
        case call_stage::connecting: return "cannot connect to ";
        case call_stage::sending: return "the request was cut off by ";
        case call_stage::waiting: return "no answer from ";
        case call_stage::receiving: return "the answer was cut off by ";
    }
    return "";
}

bool closed(const boost::system::error_code& ec) {
    return ec == http::error::end_of_stream || ec == http::error::partial_message || ec == asio::error::eof ||
           ec == asio::ssl::error::stream_truncated;
}

std::string reason_of(const call_failure& why, const boost::system::error_code& ec) {
    if (why.timed_out) return "timed out";
    if (why.cancelled) return "cancelled";
    if (closed(ec)) return "the connection was closed";
    if (ec == http::error::body_limit || ec == http::error::header_limit || ec == http::error::buffer_overflow)
        return "the answer is too large";
    return ec.message();
}

}  // namespace

call_failure conversation::failure(const boost::system::error_code& ec) const {
    call_failure why;
    why.stage = stage;
    why.fresh = fresh;
    why.body_failed = !body_failure.empty();
    why.sink_stopped = !why.body_failed && sink_stopped;
    const bool own = why.body_failed || why.sink_stopped;
    why.timed_out = !own && (watch->expired() || ec == asio::error::timed_out);
    why.cancelled = !own && !why.timed_out && ec == asio::error::operation_aborted;
    why.message = std::string(doing(stage)) + request.url.authority() + ": " + reason_of(why, ec);
    why.distrusted = !distrust.empty();
    if (why.distrusted) why.message += ": " + distrust;
    if (why.sink_stopped) why.message = "the answer of " + request.url.authority() + " was not wanted any further";
    if (why.body_failed) why.message = body_failure;
    return why;
}

bool conversation::given_up_by_peer(const call_failure& why) const noexcept {
    const bool ended_here = why.timed_out || why.cancelled || why.body_failed || why.sink_stopped;
    return !fresh && !answer_seen && !ended_here;
}

std::optional<std::string_view> http_answer::find(std::string_view name) const noexcept {
    for (const auto& one : headers) {
        if (ascii::equal_in_any_case(one.name, name)) return std::string_view(one.value);
    }
    return std::nullopt;
}

bool http_answer::is_of(std::string_view media_type) const noexcept {
    const auto given = find("content-type").value_or(std::string_view());
    return ascii::equal_in_any_case(ascii::without_blanks(given.substr(0, given.find(';'))), media_type);
}

void throw_exception_from_error(const call_failure& why, const boost::source_location&) {
    throw std::runtime_error(why.message);
}

}  // namespace hearonce::net
