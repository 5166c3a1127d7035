// The endpoint's sequence: receive, decide, enter the flight, wait, render. Next file: receive.cpp, then src/work/flights.cpp.
#include <http/cache_status.hpp>
#include <http/identity.hpp>
#include <http/receive.hpp>
#include <http/render.hpp>
#include <http/transcriptions.hpp>

#include <cstdio>

namespace hearonce::http {

namespace {

namespace asio = boost::asio;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::steady_clock;

// Added to a flight's own limit: the flight must be the one that says that time is up.
constexpr std::chrono::seconds waiter_slack{5};

// Who asks for which work: everything that is decided between the upload's end and the flight's start.
struct decided {
    work::flight_plan plan;
    shape wanted;
    bool stream = false;
    enter_as how = enter_as::usual;
};

enter_as how_of(const caller_words& words) {
    // no-store is the stronger wish: it also starts new work, and keeps nothing.
    if (words.no_store) return enter_as::no_store;
    return words.no_cache ? enter_as::refresh : enter_as::usual;
}

result<void> check_name(services& parts, const caller_words& words, const std::string& principal, decided& made) {
    if (words.idempotency_key.empty()) return {};
    const auto caller = std::to_string(principal.size()) + ":" + principal + std::to_string(words.device_id.size()) + ":" + words.device_id;
    made.plan.name = digest_of(keyed_digest(parts.auth.hmac_key(), caller + words.idempotency_key));
    if (parts.names.claim(*made.plan.name, made.plan.key.bytes, steady_clock::now())) return {};
    return errc::idempotency_conflict;
}

result<decided> decide(services& parts, const caller_words& words, const std::string& principal, received upload) {
    if (words.audio_sha256 && *words.audio_sha256 != upload.audio->sha256) return errc::audio_hash_mismatch;
    auto chosen = parts.dispatcher.route_for(upload.request.model);
    if (!chosen) return chosen.error();
    decided made;
    made.wanted = shape_of(upload.request);
    made.stream = upload.request.stream;
    made.how = how_of(words);
    upload.request.model = chosen->model;
    auto able = work::dispatcher::able(std::move(*chosen), upload.request);
    if (!able) return able.error();
    made.plan.key = work::work_key_of(principal, words.device_id, upload.audio->sha256, able->names, upload.request);
    made.plan.limit = deadline::after(work::dispatcher::time_allowed(*able, upload.audio->duration));
    made.plan.chosen = std::move(*able);
    made.plan.audio = std::move(upload.audio);
    made.plan.request = std::move(upload.request);
    made.plan.request.caller = principal + '\n' + words.device_id;
    if (const auto named = check_name(parts, words, principal, made); !named) return named.error();
    return made;
}

error error_of(flight_refusal why) {
    if (why == flight_refusal::stopped) return errc::draining;
    return error(errc::overloaded).with_retry_after(std::chrono::seconds(5));
}

// Not a coroutine, and all of the plan is gone when it returns unless it leads: the bytes of a joined upload are dropped here.
work::flights::ticket enter(services& parts, decided& asked, const asio::any_io_executor& executor) {
    const auto key = asked.plan.key;
    auto work = [&parts, plan = std::move(asked.plan)]() mutable {
        return work::fly(std::move(plan), work::gate::pass(parts.under_way), parts.dispatcher, parts.names, parts.counted);
    };
    auto ticket = parts.flights.enter(key, executor, std::move(work), asked.how);
    if (ticket.role() == flight_role::led) parts.counted.work_led();
    return ticket;
}

// What a waiter gets: the transcript, or the error that is its answer.
result<const transcript*> outcome_of(const work::flights::result& end) {
    switch (end.status) {
        case wait_status::done:
            if (!end.outcome->heard) return end.outcome->heard.error();
            return &*end.outcome->heard;
        case wait_status::left: return errc::caller_left;
        case wait_status::timed_out: return errc::upstream_timeout;
        case wait_status::stopped: return errc::draining;
        default: return errc::internal_error;
    }
}

observe::came came_of(flight_role role) {
    switch (role) {
        case flight_role::led: return observe::came::led;
        case flight_role::joined: return observe::came::joined;
        case flight_role::hit: return observe::came::hit;
        case flight_role::refused: break;
    }
    return observe::came::not_yet;
}

void count(observe::metrics& counted, flight_role role, const work::flights::result& end) {
    const double audio_seconds = end.outcome && end.outcome->heard ? end.outcome->heard->duration_seconds : 0;
    if (role == flight_role::joined) counted.work_joined(audio_seconds);
    if (role == flight_role::hit) counted.work_hit(audio_seconds);
}

std::string server_timing(const access_notes& notes) {
    const auto milliseconds = [](microseconds time) { return static_cast<double>(time.count()) / 1000; };
    char text[128];
    const int size = std::snprintf(text, sizeof text, "receive;dur=%.1f, wait;dur=%.1f, upstream;dur=%.1f", milliseconds(notes.receive),
                                   milliseconds(notes.wait), milliseconds(notes.upstream));
    return {text, static_cast<std::size_t>(size)};
}

response answer_of(const transcript& heard, const decided& asked, const work::flights::result& end, const access_notes& notes) {
    response answer;
    const bool led = notes.how == observe::came::led;
    std::optional<std::chrono::seconds> ttl_left;
    // A stream's headers go out before success is known, so they promise nothing.
    if (end.stored && !(led && asked.stream)) ttl_left = duration_cast<std::chrono::seconds>(end.ttl_left);
    auto body = asked.stream ? render_events(heard, asked.wanted) : render(heard, asked.wanted);
    answer.headers = {{"Content-Type", std::string(asked.stream ? event_stream_type : content_type_of(asked.wanted.format))},
                      {"X-Audio-Sha256", notes.sha256},
                      {"X-Hearonce-Backend", heard.backend},
                      {"Cache-Status", cache_status(notes.how, asked.how != enter_as::usual, ttl_left)},
                      {"Server-Timing", server_timing(notes)}};
    if (asked.stream) {
        answer.headers.push_back({"Cache-Control", "no-cache"});
        answer.headers.push_back({"X-Accel-Buffering", "no"});
    }
    answer.body = std::make_shared<const std::string>(std::move(body));
    return answer;
}

}  // namespace

asio::awaitable<result<response>> transcribe(exchange& request, services& parts, task wanted, std::string principal, access_notes& notes) {
    const auto words = caller_words_of(request.head());
    if (!words) co_return words.error();
    notes.device_id = words->device_id;
    if (!words->traceparent.empty()) notes.trace_id = words->traceparent.substr(3, 32);
    if (principal.empty()) principal = open_principal(words->device_id, client_address_of(request.head(), parts.trusted_proxies));

    auto upload = co_await receive(request, parts, wanted, words->audio_duration, notes);
    if (!upload) co_return upload.error();
    auto asked = decide(parts, *words, principal, std::move(*upload));
    if (!asked) co_return asked.error();

    const auto limit = asked->plan.limit.at() + waiter_slack;
    const auto entered = steady_clock::now();
    auto ticket = enter(parts, *asked, request.executor());
    if (!ticket) co_return error_of(ticket.refusal());
    notes.how = came_of(ticket.role());
    request.on_left([&ticket] { ticket.leave(); });
    auto end = co_await ticket.wait(limit);
    request.on_left({});
    notes.wait = duration_cast<microseconds>(steady_clock::now() - entered);
    count(parts.counted, ticket.role(), end);

    const auto heard = outcome_of(end);
    if (!heard) co_return heard.error();
    const transcript& text = **heard;
    notes.backend = text.backend;
    if (ticket.role() != flight_role::hit) notes.upstream = end.outcome->upstream;
    co_return answer_of(text, *asked, end, notes);
}

}  // namespace hearonce::http
