// A connection's session: head, handler, answer, and again.
//
// Next file: connection_exchange.cpp.
#include <server/connection.hpp>

#include <http/auth.hpp>
#include <http/identity.hpp>
#include <observe/log.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>

#include <cassert>
#include <exception>
#include <utility>

namespace hearonce::server {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

bool is_loopback(const asio::ip::address& peer) {
    if (!peer.is_v6() || !peer.to_v6().is_v4_mapped()) return peer.is_loopback();
    return asio::ip::make_address_v4(asio::ip::v4_mapped, peer.to_v6()).is_loopback();
}

}  // namespace

connection::connection(std::shared_ptr<loop> home, transport wire, const asio::ip::tcp::endpoint& peer, counted place)
    : loop_(std::move(home)),
      place_(std::move(place)),
      how_(loop_->shared().how),
      wire_(std::move(wire)),
      input_(loop_->blocks()),
      scan_({how_.head_bytes_max, how_.headers_max, how_.target_bytes_max}) {
    // Also a head that is refused before it has been read is of this peer.
    head_.peer = peer.address();
    head_.peer_port = peer.port();
    head_.loopback = is_loopback(head_.peer);
    head_.tls = wire_.tls();
    loop_->add(*this);
}

connection::~connection() {
    loop_->remove(*this);
    http::wipe_credentials(head_);
}

void connection::start() {
    auto self = std::static_pointer_cast<connection>(shared_from_this());
    auto ended = [self](std::exception_ptr failure) {
        // Cancelled by close_hard(), or a bug that ends this connection alone.
        if (failure && !self->closed_)
            observe::say(observe::log_level::error, "A connection ended by an exception.", {{"request_id", self->head_.request_id}});
        self->wire_.close();
    };
    asio::co_spawn(loop_->context(), run(), asio::bind_cancellation_slot(cancel_.slot(), std::move(ended)));
}

asio::awaitable<void> connection::run() {
    bool ready = true;
    if (wire_.tls()) ready = co_await handshake();
    while (ready) {
        auto step = co_await read_head();
        if (step == next::serve) co_await serve();
        if (step == next::refuse) co_await refuse();
        if (step != next::serve || !keep_alive_) break;
        if (turn_is_over()) co_await give_way();
    }
    co_await end();
}

asio::awaitable<bool> connection::handshake() {
    auto limit = steady_clock::now() + how_.header_timeout;
    for (;;) {
        auto step = wire_.handshake();
        if (step.is == transport::io::kind::done) {
            wait_first_ = false;  // The first request may have come with the last of the handshake.
            co_return true;
        }
        broken_ = step.is == transport::io::kind::failed || step.is == transport::io::kind::ended;
        if (broken_) co_return false;
        co_await wait_for(step.is, limit);
        broken_ = expired_ || closed_;
        if (broken_) co_return false;
    }
}

void connection::forget_request() {
    stage_ = stage::idle;
    scan_.reset();
    head_.method.clear();
    head_.path.clear();
    head_.query.clear();
    head_.version = 11;
    http::wipe_credentials(head_);
    head_.headers.clear();
    head_.content_length.reset();
    head_.chunked = false;
    head_.request_id.clear();
    held_ = counted();
    patience_ = loop_->shared().draining ? steady_clock::now() + drain_patience : never;
    late_ = false;
    keep_alive_ = false;
    owes_continue_ = false;
    body_done_ = true;
    body_left_ = 0;
}

asio::awaitable<connection::next> connection::read_head() {
    forget_request();
    auto limit = never;
    auto limit_for = stage::answered;
    for (;;) {
        auto step = head_step();
        if (step != next::end) co_return step;
        if (limit_for != stage_) {
            // Set once for the wait and once for the head, so that a head in small pieces gains no time.
            limit_for = stage_;
            limit = steady_clock::now() + (stage_ == stage::head ? how_.header_timeout : how_.idle_timeout);
        }
        auto got = co_await receive(limit);
        if (got == received::bytes) continue;
        if (stage_ == stage::head && expired_) co_return refused(errc::request_timeout);
        co_return next::end;
    }
}

// Looks at what has arrived. End: more is needed.
connection::next connection::head_step() {
    // Blank lines before a request are left over from careless senders (RFC 9112 section 2.2).
    while (stage_ == stage::idle && input_.bytes().starts_with("\r\n")) input_.consume(2);
    if (input_.empty() || (stage_ == stage::idle && input_.bytes() == "\r")) return next::end;
    if (stage_ == stage::idle) {
        stage_ = stage::head;
        body_done_ = false;  // Until the head has said what follows it, anything may.
        late_ = loop_->shared().draining;
        patience_ = never;
        last_try_ = false;
        head_.began = steady_clock::now();  // Until it is complete, for a refusal.
    }
    switch (scan_.resume(input_.bytes())) {
        case head_scan::state::more: return next::end;
        case head_scan::state::failed: return refused(scan_.failure());
        case head_scan::state::complete: break;
    }
    return take_head(scan_.size());
}

connection::next connection::take_head(std::size_t bytes) {
    auto parsed = parser_.parse_head(input_.bytes().substr(0, bytes), head_);
    head_.began = steady_clock::now();
    auto callers = http::request_id_of(head_);
    head_.request_id = callers ? std::move(*callers) : loop_->make_request_id();
    if (parsed.has_error()) return refused(parsed.error());
    input_.consume(bytes);
    keep_alive_ = wants_keep_alive(head_);
    body_left_ = head_.content_length.value_or(0);
    body_done_ = !head_.chunked && body_left_ == 0;
    auto expects = expectation_of(head_);
    if (expects == expectation::unknown)
        return refused(error(errc::invalid_http, "The only expectation is 100-continue.").with_status(417));
    owes_continue_ = expects == expectation::go_on && !body_done_;
    return late_ ? refused(errc::draining) : next::serve;
}

connection::next connection::refused(error why) {
    refusal_ = std::move(why);
    if (head_.request_id.empty()) head_.request_id = loop_->make_request_id();
    return next::refuse;
}

// The head is not valid, or no request is wanted any more: say so and end the connection.
asio::awaitable<void> connection::refuse() {
    stage_ = stage::open;
    expired_ = false;
    auto answer = loop_->shared().refusals(refusal_, head_);
    answer.close = true;
    co_await respond(std::move(answer));
}

// The words of an exception are for the log alone.
void connection::say_failed(std::exception_ptr failure) const {
    std::string what = "it ended without an answer";
    try {
        if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& known) {
        what = known.what();
    } catch (...) {
        what = "an exception of unknown type";
    }
    observe::say(observe::log_level::error, "A request's handler failed.",
                 {{"request_id", head_.request_id}, {"method", head_.method}, {"what", what}});
}

asio::awaitable<void> connection::serve() {
    stage_ = stage::open;
    first_ = false;
    left_seen_ = false;
    std::exception_ptr failure;
    try {
        auto work = loop_->shared().handler(*this);
        co_await std::move(work);
    } catch (...) {
        failure = std::current_exception();
    }
    left_ = nullptr;
    keep_alive_ = keep_alive_ && !broken_ && !failure;
    bool answered = stage_ == stage::answered || broken_;
    if (!closed_ && (failure || !answered)) say_failed(failure);
    if (answered) co_return;
    if (stage_ == stage::streaming) {
        broken_ = true;  // What has been sent must not pass for a whole answer.
        keep_alive_ = false;
        co_return;
    }
    auto answer = loop_->shared().refusals(errc::internal_error, head_);
    answer.close = true;
    co_await respond(std::move(answer));
}

asio::awaitable<void> connection::end() {
    stage_ = stage::answered;
    if (!broken_) {
        wire_.end_sending();
        // Bytes nobody reads would turn the close into a reset, which takes the answer away from the caller.
        if (linger_ || !input_.empty()) co_await linger();
    }
    wire_.close();
}

}  // namespace hearonce::server
