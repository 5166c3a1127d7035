// A connection's requests, one after the other; session_call.cpp serves those that a real upstream would be paid for.
//
// Next file: session_call.cpp.
#include <bench/upstream/session.hpp>

#include <bench/upstream/control.hpp>
#include <bench/upstream/openai_answer.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace hearonce::upstream {

namespace asio = boost::asio;

namespace {

constexpr server::head_limits head_limits{64 * 1024, 200, 16 * 1024};
constexpr std::size_t control_body_bytes_max = 1024 * 1024;

}  // namespace

session::session(house& home, std::shared_ptr<peer> wire)
    : home_(home), wire_(std::move(wire)), number_(home.seen.connected()), scan_(head_limits) {}

session::~session() {
    wire_->close();
    home_.seen.disconnected();
}

bool session::keeps() const noexcept {
    return server::wants_keep_alive(head_);
}

std::string session::request_id() const {
    return "req_" + std::to_string(id_);
}

asio::awaitable<void> session::run() {
    bool going = co_await wire_->handshake();
    while (going) {
        const bool asked = co_await read_head();
        if (!asked) break;
        const auto next = co_await serve();
        going = next == then::next;
    }
    wire_->close();
}

// False: no more requests. What is no HTTP gets no answer; nobody who speaks to this server sends such a thing on purpose.
asio::awaitable<bool> session::read_head() {
    scan_.reset();
    for (;;) {
        const auto state = scan_.resume(wire_->input().bytes());
        if (state == server::head_scan::state::failed) co_return false;
        if (state == server::head_scan::state::complete) break;
        const bool more = co_await wire_->receive();
        if (!more) co_return false;
    }
    head_ = {};
    head_.began = clock::now();
    head_.tls = wire_->tls();
    const auto parsed = parser_.parse_head(wire_->input().bytes().substr(0, scan_.size()), head_);
    wire_->input().consume(scan_.size());
    to_ = route_of(head_);
    co_return parsed.has_value();
}

asio::awaitable<session::then> session::serve() {
    if (to_.is_control()) {
        const auto next = co_await serve_control();
        co_return next;
    }
    id_ = home_.seen.began(head_, number_, to_.is_call());
    auto next = then::end;
    if (to_.is_call()) {
        next = co_await serve_call();
    } else {
        next = co_await serve_other();
    }
    co_return next;
}

asio::awaitable<bool> session::read_text(body_reader& body, std::string& to) {
    for (;;) {
        const auto got = co_await body.next();
        if (got != body_reader::got::piece) co_return got == body_reader::got::end;
        if (to.size() + body.data().size() > control_body_bytes_max) co_return false;
        to.append(reinterpret_cast<const char*>(body.data().data()), body.data().size());
    }
}

asio::awaitable<session::then> session::send_plainly(const answer& what) {
    const auto made = sending_of(what, fault(), to_.gemini, keeps(), request_id());
    const bool sent = co_await send(made);
    if (!sent) co_return then::end;
    const auto next = co_await end_as(made);
    co_return next;
}

asio::awaitable<session::then> session::serve_control() {
    body_reader body(*wire_, head_, parser_);
    std::string text;
    const bool whole = co_await read_text(body, text);
    if (!whole) co_return then::end;
    const auto made = control(text);
    const auto next = co_await send_plainly(made);
    co_return next;
}

answer session::control(const std::string& body) {
    answer made;
    switch (to_.what) {
        case ask::stats: made.body = home_.seen.json(); break;
        case ask::reset:
            home_.seen.reset();
            made.body = "{}";
            break;
        default: return set_faults(home_.plot, body);
    }
    return made;
}

asio::awaitable<session::then> session::serve_other() {
    const auto given = home_.plot.fault_of_other(head_);
    const auto wrong = given ? *given : upstream::fault();
    if (wrong.early()) {
        const auto refused = co_await refuse_early(wrong, nullptr);
        co_return refused;
    }
    body_reader body(*wire_, head_, parser_);
    std::string text;
    const bool whole = co_await read_text(body, text);
    if (!whole) co_return then::end;
    auto right = given ? answer_other(head_, to_, home_.how) : refused_fault(given.error().message(), to_.gemini);
    const auto begins = clock::now() + wrong.delay.value_or(std::chrono::milliseconds(0));
    const auto next = co_await answer_with(std::move(right), wrong, begins, nullptr);
    co_return next;
}

asio::awaitable<bool> session::send(const sending& what, flying* counted) {
    for (std::size_t index = 0; index < what.pieces.size(); ++index) {
        if (index > 1 && what.pace.count() > 0) {
            const bool there = co_await wire_->pause(clock::now() + what.pace);
            if (!there) co_return false;
        }
        bool sent = false;
        // One that drips is long in coming, and who leaves it is to be seen.
        if (counted != nullptr && index + 1 == what.pieces.size() && what.drip.count() == 0) counted->land();
        if (what.drip.count() > 0) {
            const auto before_first = index == 0 ? std::chrono::milliseconds(0) : what.drip;
            sent = co_await send_dripping(what.pieces[index], before_first, what.drip);
        } else {
            sent = co_await wire_->send(what.pieces[index]);
        }
        if (!sent) co_return false;
    }
    co_return true;
}

// Not a pause behind the last byte: a peer that has everything may go.
asio::awaitable<bool> session::send_dripping(std::string_view bytes, std::chrono::milliseconds before_first,
                                             std::chrono::milliseconds pause) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const auto wait = at == 0 ? before_first : pause;
        const bool there = co_await wire_->pause(clock::now() + wait);
        if (!there) co_return false;
        const bool sent = co_await wire_->send(bytes.substr(at, 1));
        if (!sent) co_return false;
    }
    co_return true;
}

asio::awaitable<session::then> session::end_as(const sending& what) {
    switch (what.then) {
        case sending::end::keep:
            if (!what.idle_close) co_return then::next;
            // The next request may come before; then it is served, and this was no idle connection.
            co_await wire_->pause_for_bytes(clock::now() + *what.idle_close);
            co_return wire_->input().empty() ? then::end : then::next;
        case sending::end::reset: co_return reset_connection();
        case sending::end::hang: co_await wire_->wait_for_end(); break;
        case sending::end::close: break;
    }
    co_return then::end;
}

session::then session::reset_connection() {
    wire_->reset();
    return then::end;
}

}  // namespace hearonce::upstream
