// What a handler asks of its connection.
//
// Next file: connection_wait.cpp.
#include <server/connection.hpp>

#include <server/answer_head.hpp>

#include <boost/asio/post.hpp>

#include <array>
#include <cassert>
#include <charconv>
#include <utility>

namespace hearonce::server {

namespace asio = boost::asio;
using std::chrono::steady_clock;

asio::any_io_executor connection::executor() {
    return loop_->context().get_executor();
}

// Takes the next piece of the body out of what has arrived. False: more must arrive.
result<bool> connection::body_step(std::span<const std::byte>& piece) {
    std::string_view bytes = input_.bytes();
    if (!head_.chunked) {
        bytes = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), body_left_)));
        input_.consume(bytes.size());
        body_left_ -= bytes.size();
        body_done_ = body_left_ == 0;
        piece = std::as_bytes(std::span(bytes));
        return !bytes.empty();
    }
    auto step = parser_.parse_chunked(bytes);
    if (step.has_error()) return step.error();
    input_.consume(step->consumed);
    piece = std::as_bytes(std::span(step->data));
    body_done_ = step->is == request_parser::step::kind::end;
    bool more = step->is == request_parser::step::kind::more;
    // A chunk's own line, or the trailers, longer than a whole head may be.
    if (more && input_.size() > how_.head_bytes_max) return error(errc::invalid_http, "The chunked framing of the body is broken.");
    return !more;
}

asio::awaitable<result<std::span<const std::byte>>> connection::read_body() {
    assert(stage_ == stage::open);
    std::span<const std::byte> piece;
    if (body_done_ || broken_) {
        if (!body_done_) co_return error(errc::body_cut);
        co_return piece;
    }
    if (owes_continue_) {
        owes_continue_ = false;
        // A caller that did not wait needs no permission.
        if (input_.empty()) {
            out_ = "HTTP/1.1 100 Continue\r\n\r\n";
            co_await flush();
        }
    }
    while (!broken_) {
        auto step = body_step(piece);
        if (step.has_error()) {
            linger_ = true;
            co_return step.error();
        }
        if (*step) co_return piece;
        // Only this wait counts as a stall: while the handler works, nobody reads.
        auto limit = steady_clock::now() + how_.upload_stall_timeout;
        auto got = co_await receive(limit);
        broken_ = broken_ || got == received::nothing;
    }
    co_return error(errc::body_cut);
}

void connection::on_left(std::function<void()> left) {
    assert(!left || stage_ == stage::open || stage_ == stage::streaming);
    left_ = std::move(left);
    if (!left_) return;
    if (left_seen_ || closed_) {
        auto self = std::static_pointer_cast<connection>(shared_from_this());
        asio::post(loop_->context(), [self] { self->caller_left(); });
        return;
    }
    if (wire_.tls()) {
        watch();  // What OpenSSL holds already wakes no wait.
    } else {
        input_.park();
        arm();
    }
}

// Looks whether the caller is still there, while its handler waits. What it reads is the beginning of the next request.
void connection::watch() {
    if (!left_ || left_seen_) return;
    while (left_ && input_.size() < how_.pipelined_bytes_max) {
        auto room = input_.prepare();
        auto step = wire_.read(room.first(std::min(room.size(), how_.pipelined_bytes_max - input_.size())));
        if (step.is == transport::io::kind::done) {
            input_.commit(step.bytes);
            continue;
        }
        input_.park();
        if (step.is == transport::io::kind::read_later) return arm();
        if (step.is == transport::io::kind::write_later) return;
        left_seen_ = true;
        return caller_left();
    }
    input_.park();
}

void connection::caller_left() {
    if (!left_) return;
    auto left = std::exchange(left_, nullptr);
    left();
}

// Decides what becomes of the connection after the answer.
void connection::settle(bool close) noexcept {
    auto& shared = loop_->shared();
    if (!body_done_) linger_ = true;
    keep_alive_ = keep_alive_ && !close && body_done_ && !left_seen_ && !shared.draining && !shared.crowded;
}

asio::awaitable<void> connection::respond(http::response answer) {
    assert(stage_ == stage::open);
    stage_ = stage::answered;
    left_ = nullptr;
    settle(answer.close);
    if (broken_) co_return;
    bool bodyless = has_no_body(answer.status);
    answer_framing how{.version = head_.version,
                       .keep_alive = keep_alive_,
                       .content_length = {},
                       .chunked = false,
                       .request_id = head_.request_id,
                       .date = loop_->date()};
    if (!bodyless) how.content_length = answer.body ? answer.body->size() : 0;
    write_answer_head(out_, answer, how);
    if (!bodyless && head_.method != "HEAD") body_ = std::move(answer.body);
    co_await flush();
}

asio::awaitable<result<void>> connection::begin(http::response answer) {
    assert(stage_ == stage::open);
    stage_ = stage::streaming;
    chunked_answer_ = head_.version == 11;
    // Without chunks only the end of the connection ends the answer.
    settle(answer.close || !chunked_answer_);
    if (broken_) co_return error(errc::caller_left);
    answer_framing how{.version = head_.version,
                       .keep_alive = keep_alive_,
                       .content_length = {},
                       .chunked = chunked_answer_,
                       .request_id = head_.request_id,
                       .date = loop_->date()};
    write_answer_head(out_, answer, how);
    co_await flush();
    if (broken_) co_return error(errc::caller_left);
    co_return result<void>();
}

asio::awaitable<result<void>> connection::send(std::string piece) {
    assert(stage_ == stage::streaming);
    if (broken_ || left_seen_) co_return error(errc::caller_left);
    // An empty chunk would end the answer.
    if (piece.empty() || head_.method == "HEAD") co_return result<void>();
    if (chunked_answer_) {
        std::array<char, 16> digits;
        auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16);
        out_.append(digits.data(), end).append("\r\n");
        tail_ = "\r\n";
    }
    piece_ = std::move(piece);
    co_await flush();
    if (broken_) co_return error(errc::caller_left);
    co_return result<void>();
}

asio::awaitable<result<void>> connection::finish() {
    assert(stage_ == stage::streaming);
    stage_ = stage::answered;
    left_ = nullptr;
    if (chunked_answer_ && head_.method != "HEAD") out_ = "0\r\n\r\n";
    co_await flush();
    if (broken_) co_return error(errc::caller_left);
    co_return result<void>();
}

void connection::abort() noexcept {
    stage_ = stage::answered;
    left_ = nullptr;
    broken_ = true;
    keep_alive_ = false;
}

}  // namespace hearonce::server
