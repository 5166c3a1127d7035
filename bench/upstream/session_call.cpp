// One call from its head to its end, with whatever is to go wrong.
//
// Next file: call.hpp.
#include <bench/upstream/session.hpp>

#include <utility>

namespace hearonce::upstream {

namespace asio = boost::asio;

namespace {

constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
// A body that is too large is read on to tell its size, as the real one does; beyond this it is cut off.
constexpr std::uint64_t body_bytes_max = 1024ULL * 1024 * 1024;
constexpr std::chrono::milliseconds linger_limit{2000};

}  // namespace

session::then session::peer_left(std::string_view during) {
    home_.seen.left(id_, during, head_.began);
    return then::end;
}

asio::awaitable<session::then> session::serve_call() {
    call it(head_, to_, home_.how, home_.plot.fault_of(head_));
    flying counted(home_.seen, it);
    auto next = then::end;
    if (it.fault().early()) {
        next = co_await refuse_early(it.fault(), &counted);
    } else {
        next = co_await hear(it, counted);
    }
    co_return next;
}

// With the body, or what is left of it, unread.
asio::awaitable<session::then> session::refuse_early(const upstream::fault& wrong, flying* counted) {
    if (wrong.reset == fault::reset_at::before_body) {
        if (counted != nullptr) counted->land();
        co_return reset_connection();
    }
    const auto made = to_.gemini ? gemini_key_refusal() : openai_key_refusal();
    home_.seen.answered(id_, made.status);
    const auto bytes = sending_of(made, fault(), to_.gemini, false, request_id());
    const bool sent = co_await send(bytes, counted);
    if (sent) co_await wire_->linger(linger_limit);
    co_return then::end;
}

asio::awaitable<session::then> session::hear(call& it, flying& counted) {
    if (server::expectation_of(head_) == server::expectation::go_on) {
        const bool sent = co_await wire_->send(go_on);
        if (!sent) co_return peer_left("upload");
    }
    body_reader body(*wire_, head_, parser_);
    for (;;) {
        const auto got = co_await body.next();
        if (got == body_reader::got::end) break;
        if (got == body_reader::got::left) co_return peer_left("upload");
        if (got == body_reader::got::broken || body.bytes() > body_bytes_max) co_return then::end;
        it.feed(body.data());
        if (!it.fault().early()) continue;
        // The prompt came before the recording.
        const auto next = co_await refuse_early(it.fault(), &counted);
        co_return next;
    }
    it.finish();
    const auto recording = it.recording();
    home_.seen.told(id_, it.fields(), it.files(), recording ? &*recording : nullptr);
    auto next = then::end;
    if (it.fault().early()) {
        // Its prompt came too late to stop the upload.
        next = co_await refuse_early(it.fault(), &counted);
    } else {
        next = co_await answer_call(it, counted);
    }
    co_return next;
}

asio::awaitable<session::then> session::answer_call(const call& it, flying& counted) {
    const auto begins = clock::now() + it.fault().delay.value_or(home_.plot.delay());
    auto right = it.answer();
    const auto next = co_await answer_with(std::move(right), it.fault(), begins, &counted);
    co_return next;
}

asio::awaitable<session::then> session::answer_with(answer right, const upstream::fault& wrong, clock::time_point begins, flying* counted) {
    const auto made = with_fault(std::move(right), wrong, to_.gemini, std::chrono::system_clock::now());
    const auto bytes = sending_of(made, wrong, to_.gemini, keeps(), request_id());
    const bool there = co_await wire_->pause(begins);
    if (!there) co_return peer_left("waiting");
    if (!bytes.pieces.empty()) home_.seen.answered(id_, made.status);
    const bool sent = co_await send(bytes, counted);
    if (!sent) co_return peer_left("answer");
    if (bytes.then == sending::end::reset && counted != nullptr) counted->land();
    const auto next = co_await end_as(bytes);
    if (bytes.then == sending::end::hang) peer_left("waiting");
    co_return next;
}

}  // namespace hearonce::upstream
