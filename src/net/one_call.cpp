// The Beast client unit: writes a request piece by piece while it already listens for the answer. Nothing follows; the
// caller is cli/send.cpp or a backend.
#include <net/one_call.hpp>

#include <net/call_failure.hpp>
#include <net/connect.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <cassert>

namespace hearonce::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr auto use_result = asio::as_tuple(asio::use_awaitable);
constexpr std::uint32_t answer_head_bytes_max = 64 * 1024;
constexpr std::size_t receive_bytes_max = 64 * 1024 + answer_head_bytes_max;

plain_stream& socket_of(plain_stream& stream) {
    return stream;
}
plain_stream& socket_of(tls_stream& stream) {
    return stream.next_layer();
}

// One connection's state, shared by the coroutine that receives and the one that sends. Closing the socket ends both.
template <class Stream>
struct conversation {
    Stream stream;
    call_request request;
    call_limits limits;
    std::shared_ptr<watchdog> watch;
    call_stage stage = call_stage::connecting;
    std::string body_failure;

    template <class... Arguments>
    conversation(call_request asked, call_limits bounds, Arguments&&... arguments)
        : stream(std::forward<Arguments>(arguments)...), request(std::move(asked)), limits(bounds) {
        watch = std::make_shared<watchdog>(stream.get_executor(), limits.all, [this] { close(); });
    }
    void close() noexcept {
        boost::system::error_code ignored;
        socket_of(stream).close(ignored);
    }
};

// Leaves neither a timer nor a socket behind, however the call ends; whoever still sends is ended by it.
template <class Stream>
class closing {
public:
    explicit closing(std::shared_ptr<conversation<Stream>> talk) : talk_(std::move(talk)) {}
    closing(const closing&) = delete;
    closing& operator=(const closing&) = delete;
    ~closing() {
        talk_->watch->stop();
        talk_->close();
    }

private:
    std::shared_ptr<conversation<Stream>> talk_;
};

template <class Stream>
call_failure failure_of(const conversation<Stream>& talk, const boost::system::error_code& ec) {
    call_failure why = failure_of(talk.stage, talk.request.url, ec, talk.watch->expired());
    if (!talk.body_failure.empty()) {
        why.body_failed = true;
        why.cancelled = false;
        why.message = talk.body_failure;
    }
    return why;
}

http::request<http::empty_body> head_of(const call_request& request) {
    http::request<http::empty_body> head;
    head.method_string(request.method);
    head.target(request.url.target);
    head.version(11);
    head.set(http::field::host, request.url.authority());
    head.set(http::field::user_agent, "hearonce/" HEARONCE_VERSION);
    head.set(http::field::connection, "close");
    if (request.body) head.content_length(request.body->size_bytes());
    for (const auto& [name, value] : request.headers) head.insert(name, value);
    return head;
}

template <class Stream>
asio::awaitable<void> send_all(std::shared_ptr<conversation<Stream>> talk) {
    const auto head = head_of(talk->request);
    http::request_serializer<http::empty_body> serializer(head);
    talk->watch->allow(talk->limits.stall);
    auto [head_failed, head_bytes] = co_await http::async_write_header(talk->stream, serializer, use_result);
    // Whether the peer said something before it stopped listening is the receiver's to find out.
    if (head_failed) co_return;
    std::uint64_t left = talk->request.body ? talk->request.body->size_bytes() : 0;
    while (left > 0) {
        const auto piece = talk->request.body->next();
        if (!piece || piece->empty() || piece->size() > left) {
            talk->body_failure = piece ? "the body is not as long as it was said to be" : talk->request.body->failure();
            talk->close();
            co_return;
        }
        talk->watch->allow(talk->limits.stall);
        auto [cut, bytes] = co_await asio::async_write(talk->stream, asio::buffer(piece->data(), piece->size()), use_result);
        if (cut) co_return;
        left -= bytes;
    }
    if (talk->stage == call_stage::sending) talk->stage = call_stage::waiting;
    talk->watch->allow(talk->limits.silence);
}

template <class Stream>
void start_sending(std::shared_ptr<conversation<Stream>> talk) {
    talk->stage = call_stage::sending;
    // Owned by the conversation: closing its socket ends it.
    asio::co_spawn(talk->stream.get_executor(), send_all<Stream>(talk), [talk](std::exception_ptr thrown) {
        if (!thrown) return;
        talk->body_failure = "the body could not be read";
        talk->close();
    });
}

http_answer answer_of(http::response<http::string_body>&& message) {
    http_answer answer;
    answer.status = static_cast<std::uint16_t>(message.result_int());
    for (const auto& field : message) answer.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    answer.body = std::move(message.body());
    return answer;
}

template <class Stream>
asio::awaitable<call_result> receive(std::shared_ptr<conversation<Stream>> talk) {
    beast::flat_buffer buffer(receive_bytes_max);
    for (;;) {
        http::response_parser<http::string_body> parser;
        parser.header_limit(answer_head_bytes_max);
        parser.body_limit(talk->limits.answer_bytes_max);
        if (talk->request.method == "HEAD") parser.skip(true);
        while (!parser.is_done()) {
            auto [failed, bytes] = co_await http::async_read_some(talk->stream, buffer, parser, use_result);
            if (failed) co_return failure_of(*talk, failed);
            const bool final_answer = parser.is_header_done() && parser.get().result_int() >= 200;
            if (final_answer) talk->stage = call_stage::receiving;
            if (talk->stage != call_stage::sending) talk->watch->allow(talk->limits.silence);
        }
        // Interim answers (RFC 9110 section 15.2) announce the one that counts.
        if (parser.get().result_int() >= 200) co_return answer_of(parser.release());
    }
}

asio::awaitable<call_result> call_plain(call_request request, call_limits limits, endpoints candidates) {
    auto executor = co_await asio::this_coro::executor;
    auto talk = std::make_shared<conversation<plain_stream>>(std::move(request), limits, executor);
    const closing<plain_stream> end(talk);
    talk->watch->allow(limits.connect);
    auto refused = co_await connect(talk->stream, std::move(candidates));
    if (refused) co_return failure_of(*talk, refused);
    start_sending(talk);
    auto answer = co_await receive(talk);
    co_return std::move(answer);
}

asio::awaitable<call_result> call_tls(call_request request, call_limits limits, endpoints candidates) {
    auto executor = co_await asio::this_coro::executor;
    const tls_context context = request.tls;
    auto talk = std::make_shared<conversation<tls_stream>>(std::move(request), limits, executor, *context);
    const closing<tls_stream> end(talk);
    talk->watch->allow(limits.connect);
    auto refused = co_await connect(talk->stream.next_layer(), std::move(candidates));
    if (refused) co_return failure_of(*talk, refused);
    auto distrusted = co_await shake_hands(talk->stream, talk->request.url.host);
    if (distrusted) co_return failure_of(*talk, distrusted);
    start_sending(talk);
    auto answer = co_await receive(talk);
    co_return std::move(answer);
}

asio::awaitable<call_result> resolve_and_call(call_request request, call_limits limits) {
    const http_url url = request.url;
    const deadline begun_by = std::min(limits.all, deadline::after(limits.connect));
    auto found = co_await resolve(url.host, url.port, begun_by);
    if (!found) co_return failure_of(call_stage::connecting, url, found.error(), false);
    // The time the name took is not given to the connection again.
    limits.connect = std::chrono::duration_cast<std::chrono::milliseconds>(begun_by.left(deadline::clock::now()));
    if (url.tls) {
        auto secure = co_await call_tls(std::move(request), limits, std::move(*found));
        co_return std::move(secure);
    }
    auto plain = co_await call_plain(std::move(request), limits, std::move(*found));
    co_return std::move(plain);
}

}  // namespace

asio::awaitable<call_result> call(call_request request, call_limits limits) {
    assert(!request.url.tls || request.tls);
    const http_url url = request.url;
    try {
        auto result = co_await resolve_and_call(std::move(request), limits);
        co_return std::move(result);
    } catch (const boost::system::system_error& thrown) {
        // Once cancelled, every further wait throws; that is an end like the others.
        co_return failure_of(call_stage::connecting, url, thrown.code(), false);
    }
}

}  // namespace hearonce::net
