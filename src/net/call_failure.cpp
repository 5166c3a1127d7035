// Next file: one_call.cpp.
#include <net/call_failure.hpp>

#include <boost/asio/error.hpp>
#include <boost/beast/core/string.hpp>
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

}  // namespace

call_failure failure_of(call_stage stage, const http_url& url, const boost::system::error_code& ec, bool timed_out) {
    call_failure why;
    why.stage = stage;
    why.timed_out = timed_out || ec == asio::error::timed_out;
    why.cancelled = !why.timed_out && ec == asio::error::operation_aborted;
    std::string reason = ec.message();
    if (why.timed_out) reason = "timed out";
    if (why.cancelled) reason = "cancelled";
    if (!why.timed_out && (ec == http::error::end_of_stream || ec == http::error::partial_message || ec == asio::error::eof))
        reason = "the connection was closed";
    if (ec == http::error::body_limit || ec == http::error::header_limit) reason = "the answer is too large";
    why.message = std::string(doing(stage)) + url.authority() + ": " + reason;
    return why;
}

std::optional<std::string_view> http_answer::find(std::string_view name) const noexcept {
    for (const auto& one : headers) {
        if (beast::iequals(one.name, name)) return std::string_view(one.value);
    }
    return std::nullopt;
}

void throw_exception_from_error(const call_failure& why, const boost::source_location&) {
    throw std::runtime_error(why.message);
}

}  // namespace hearonce::net
