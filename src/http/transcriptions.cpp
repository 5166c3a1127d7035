// The endpoint's sequence: receive (or ask), decide, enter the flight, wait, render. Next files: receive.cpp, ask.cpp, decide.cpp,
// transcript_stream.cpp, then src/work/flights.cpp.
#include <http/ask.hpp>
#include <http/cache_status.hpp>
#include <http/decide.hpp>
#include <http/event_stream.hpp>
#include <http/transcript_stream.hpp>
#include <http/transcriptions.hpp>

namespace hearonce::http {

namespace {

namespace asio = boost::asio;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::steady_clock;

// Added to a flight's own limit: the flight must be the one that says that time is up.
constexpr std::chrono::seconds waiter_slack{5};

error error_of(flight_refusal why) {
    if (why == flight_refusal::stopped) return errc::draining;
    if (why == flight_refusal::unknown) return errc::audio_unknown;
    return error(errc::overloaded).with_retry_after(std::chrono::seconds(5));
}

// Null in every mode but `own-key`. Handed straight on: a waiter must not keep keys while it waits.
std::shared_ptr<const caller_keys> keys_of(const services& parts, const request_head& head) {
    return parts.auth.mode() == auth_mode::own_key ? caller_keys_of(head) : nullptr;
}

void count(services& parts, flight_role role) {
    if (role == flight_role::led) parts.counted.work_led();
    if (role == flight_role::joined) parts.counted.work_joined();
    if (role == flight_role::hit) parts.counted.work_hit();
}

// For a caller that brought no bytes: finds or joins, never leads.
work::flights::ticket find(services& parts, decided& asked) {
    auto ticket = parts.flights.find(asked.key);
    count(parts, ticket.role());
    // It leads nowhere, and the caller's keys must not wait along.
    asked.plan = {};
    return ticket;
}

// Not a coroutine, and all of the plan is gone when it returns unless it leads: the bytes of a joined upload are dropped here.
work::flights::ticket enter(services& parts, decided& asked, const asio::any_io_executor& executor) {
    std::shared_ptr<void> told = asked.plan.deltas;
    auto work = [&parts, plan = std::move(asked.plan)]() mutable {
        return work::fly(std::move(plan), work::gate::pass(parts.under_way), parts.dispatcher, parts.names, parts.counted);
    };
    auto ticket = parts.flights.enter(asked.key, executor, std::move(work), asked.how, std::move(told));
    count(parts, ticket.role());
    return ticket;
}

// Who may ask without sending: in `open` mode a hash would be a key that anybody could try, so it takes this very machine.
bool may_ask(const services& parts, const request_head& head) {
    return parts.auth.mode() != auth_mode::open || asks_from_loopback(head, parts.trusted_proxies);
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

// The headers of a success; a stream's go out before it is known whether it is stored, so they promise nothing.
response success(const decided& asked, std::optional<std::chrono::seconds> ttl_left, const access_notes& notes) {
    response answer;
    answer.headers = {{"Content-Type", std::string(asked.stream ? event_stream_type : content_type_of(asked.wanted.format))},
                      {"Cache-Status", cache_status(notes.how, asked.how != enter_as::usual, ttl_left)}};
    if (asked.stream) {
        answer.headers.push_back({"Cache-Control", "no-cache"});
        answer.headers.push_back({"X-Accel-Buffering", "no"});
    }
    return answer;
}

response answer_of(const transcript& heard, const decided& asked, const work::flights::result& end, const access_notes& notes) {
    std::optional<std::chrono::seconds> ttl_left;
    if (end.stored && !(notes.how == observe::came::led && asked.stream)) ttl_left = duration_cast<std::chrono::seconds>(end.ttl_left);
    auto answer = success(asked, ttl_left, notes);
    auto body = asked.stream ? render_events(heard, asked.wanted) : render(heard, asked.wanted);
    answer.body = std::make_shared<const std::string>(std::move(body));
    return answer;
}

// For a caller that reads along a flight that is told; null for every other.
std::shared_ptr<transcript_stream> stream_of(services& parts, work::flights::ticket& entered, const decided& asked,
                                             steady_clock::time_point limit, access_notes& notes) {
    auto log = entered.beside<delta_log>();
    if (!asked.stream || !log) return nullptr;
    return std::make_shared<transcript_stream>(std::move(entered), std::move(log), parts, asked, limit, notes);
}

}  // namespace

asio::awaitable<result<response>> transcribe(exchange& request, services& parts, task wanted, std::string principal, access_notes& notes) {
    const auto words = caller_words_of(request.head());
    if (!words) co_return words.error();
    notes.device_id = words->device_id;
    if (!words->traceparent.empty()) notes.trace_id = words->traceparent.substr(3, 32);
    if (principal.empty()) principal = open_principal(words->device_id, client_address_of(request.head(), parts.trusted_proxies));

    const bool asking = request.head().method == "GET";
    if (asking && !may_ask(parts, request.head())) co_return errc::audio_unknown;
    result<received> upload = errc::internal_error;
    if (asking) {
        // A body means nothing here; it is over before the caller's connection is watched.
        auto piece = co_await request.read_body();
        if (!piece) co_return piece.error();
        if (!piece->empty()) co_return error(errc::invalid_parameter, "A GET takes no body.");
        upload = ask_of(request.head(), *words, wanted);
    } else {
        upload = co_await receive(request, parts, wanted, words->audio_duration, notes);
    }
    if (!upload) co_return upload.error();
    const auto sha256 = upload->audio->sha256;
    auto asked = decide(parts, *words, principal, keys_of(parts, request.head()), std::move(*upload));
    if (!asked) co_return asked.error();

    const auto limit = asked->plan.limit.at() + waiter_slack;
    const auto entered = steady_clock::now();
    auto place = asking ? find(parts, *asked) : enter(parts, *asked, request.executor());
    if (!place) {
        release_name(parts, *asked);
        co_return error_of(place.refusal());
    }
    notes.how = came_of(place.role());
    // Found by it, so it is what the gateway hashed when the recording came.
    if (asking) notes.sha256 = hex_of(sha256);
    const auto stream = stream_of(parts, place, *asked, limit, notes);
    auto& ticket = stream ? stream->place() : place;
    if (stream) {
        request.on_left([&stream] { stream->leave(); });
        const bool begun = co_await stream->first();
        request.on_left({});
        if (begun) {
            auto answer = success(*asked, std::nullopt, notes);
            answer.pieces = stream;
            co_return answer;
        }
    }
    request.on_left([&ticket] { ticket.leave(); });
    auto end = co_await ticket.wait(limit);
    request.on_left({});
    notes.wait = duration_cast<microseconds>(steady_clock::now() - entered);
    if (end.outcome) notes.backend = end.outcome->backend;
    if (end.outcome && ticket.role() != flight_role::hit) notes.upstream = end.outcome->upstream;

    const auto heard = outcome_of(end);
    if (!heard) {
        notes.retried = end.outcome && end.outcome->retried;
        // A caller that only left may come back for the work that goes on.
        if (heard.error().code() != errc::caller_left) release_name(parts, *asked);
        co_return heard.error();
    }
    const transcript& text = **heard;
    if (ticket.role() != flight_role::led) parts.counted.work_saved(text.duration_seconds);
    co_return answer_of(text, *asked, end, notes);
}

}  // namespace hearonce::http
