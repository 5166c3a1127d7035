// The router. Next file: transcriptions.cpp.
#include <http/error_response.hpp>
#include <http/health_answer.hpp>
#include <http/identity.hpp>
#include <http/router.hpp>
#include <http/stats.hpp>
#include <http/transcriptions.hpp>
#include <observe/log.hpp>

#include <boost/url/pct_string_view.hpp>

#include <array>
#include <cstdio>

namespace hearonce::http {

// Who may ask: anybody, a caller of the mode's kind, or (from elsewhere than this machine) the holder of a token.
enum class admission : std::uint8_t { anybody, caller, operator_only };

struct router::path_entry {
    std::string_view path;
    observe::route route;
    std::string_view methods;  // As Allow says them.
    admission who;
};

namespace {

using path_entry = router::path_entry;

namespace asio = boost::asio;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr std::string_view models_prefix = "/v1/models/";

constexpr std::array paths{
    path_entry{"/v1/audio/transcriptions", observe::route::transcriptions, "GET, POST", admission::caller},
    path_entry{"/v1/audio/translations", observe::route::translations, "GET, POST", admission::caller},
    path_entry{"/v1/models", observe::route::models, "GET, HEAD", admission::caller},
    path_entry{"/health/live", observe::route::live, "GET, HEAD", admission::anybody},
    path_entry{"/health/ready", observe::route::ready, "GET, HEAD", admission::anybody},
    path_entry{"/metrics", observe::route::metrics, "GET, HEAD", admission::operator_only},
    path_entry{"/v1/stats", observe::route::stats, "GET, HEAD", admission::operator_only},
};

constexpr path_entry one_model{models_prefix, observe::route::models, "GET, HEAD", admission::caller};

// Groq's client and Azure's newer one write /openai/v1 where others write /v1.
std::string_view plain_path(std::string_view path) {
    constexpr std::string_view before = "/openai";
    if (path.starts_with("/openai/v1/")) path.remove_prefix(before.size());
    return path;
}

const path_entry* entry_of(std::string_view asked) {
    const auto path = plain_path(asked);
    for (const auto& entry : paths) {
        if (entry.path == path) return &entry;
    }
    return path.starts_with(models_prefix) && path.size() > models_prefix.size() ? &one_model : nullptr;
}

bool takes(std::string_view methods, std::string_view method) {
    while (!methods.empty()) {
        const auto comma = methods.find(", ");
        if (methods.substr(0, comma) == method) return true;
        methods = comma == std::string_view::npos ? std::string_view() : methods.substr(comma + 2);
    }
    return false;
}

// The caller's principal where the path needs one. Under `operator_only` a caller on this machine needs none.
result<std::string> admit(const services& parts, const request_head& head, admission who) {
    if (who == admission::anybody) return std::string();
    if (who == admission::caller) return parts.auth.principal_of(head);
    if (asks_from_loopback(head, parts.trusted_proxies)) return std::string();
    auto holder = parts.auth.token_holder(head);
    if (holder.empty()) return error(errc::invalid_api_key, "From elsewhere than the gateway's own machine this needs one of its tokens.");
    return holder;
}

// The name behind `/v1/models/`; what is not validly encoded stays as it is and is then not found.
std::string model_id_of(std::string_view path) {
    const auto encoded = path.substr(models_prefix.size());
    const auto valid = boost::urls::make_pct_string_view(encoded);
    return valid ? valid->decode() : std::string(encoded);
}

response about_backends(const services& parts, const request_head& head, observe::route which) {
    const auto listed = parts.list_backends();
    switch (which) {
        case observe::route::models:
            if (const auto path = plain_path(head.path); path.size() > models_prefix.size())
                return model_answer(listed, model_id_of(path), parts.started);
            return models_answer(listed, parts.started);
        case observe::route::ready: return ready_answer(listed, parts.draining.load(std::memory_order_relaxed));
        case observe::route::metrics: return metrics_answer(parts.counted);
        case observe::route::stats:
            return stats_answer(parts.counted.sum(), listed,
                                duration_cast<std::chrono::seconds>(steady_clock::now() - parts.started_steady));
        default: return live_answer();
    }
}

std::string server_timing(const access_notes& notes) {
    const auto milliseconds = [](microseconds time) { return static_cast<double>(time.count()) / 1000; };
    char text[128];
    const int size = std::snprintf(text, sizeof text, "receive;dur=%.1f, wait;dur=%.1f, upstream;dur=%.1f", milliseconds(notes.receive),
                                   milliseconds(notes.wait), milliseconds(notes.upstream));
    return {text, static_cast<std::size_t>(size)};
}

// What was learned about an upload is told with every answer to it, failures included.
void add_notes(response& answer, const access_notes& notes) {
    if (notes.sha256.empty()) return;
    answer.headers.push_back({"X-Audio-Sha256", notes.sha256});
    if (!notes.backend.empty()) answer.headers.push_back({"X-Hearonce-Backend", notes.backend});
    answer.headers.push_back({"Server-Timing", server_timing(notes)});
}

void log_request(const services& parts, const request_head& head, observe::route which, std::uint16_t status, std::string_view code,
                 std::uint64_t sent_bytes, const access_notes& notes) {
    const auto client = client_address_of(head, parts.trusted_proxies).to_string();
    const auto device = notes.device_id.empty() ? std::string() : keyed_digest(parts.auth.hmac_key(), notes.device_id).substr(0, 16);
    observe::access_line line;
    line.request_id = head.request_id;
    line.method = head.method;
    line.path = which;
    line.status = status;
    line.code = code;
    line.client = client;
    line.device = device;
    line.sha256 = notes.sha256;
    line.how = notes.how;
    line.backend = notes.backend;
    line.trace_id = notes.trace_id;
    line.received_bytes = notes.received_bytes;
    line.sent_bytes = sent_bytes;
    line.total = duration_cast<microseconds>(steady_clock::now() - head.began);
    line.receive = notes.receive;
    line.wait = notes.wait;
    line.upstream = notes.upstream;
    observe::say_access(line);
}

}  // namespace

std::vector<listed_backend> services::list_backends() const {
    std::vector<listed_backend> listed;
    for (const auto& one : dispatcher.backends()) {
        const auto state = dispatcher.state_of(*one);
        listed.push_back({std::string(one->name()), one->models(), one->default_model(), state.ready, state.reason,
                          [one](const std::string& model) { return std::string(one->shutdown_date(model)); }});
    }
    return listed;
}

asio::awaitable<result<response>> router::decide(exchange& request, const path_entry* entry, access_notes& notes) {
    const auto& head = request.head();
    // Foreign pages and rebound names are turned away before anything is said about paths or credentials.
    const auto host = check_host(head, parts_.browser);
    if (!host) co_return host.error();
    const auto origin = check_origin(head, parts_.browser);
    if (!origin) co_return origin.error();
    if (entry == nullptr) co_return errc::not_found;
    if (is_preflight(head)) co_return preflight_answer(head, parts_.browser, entry->methods);
    if (!takes(entry->methods, head.method)) co_return method_not_allowed(entry->methods);
    auto principal = admit(parts_, head, entry->who);
    if (!principal) co_return principal.error();
    if (entry->route != observe::route::transcriptions && entry->route != observe::route::translations) {
        co_return about_backends(parts_, head, entry->route);
    }
    const auto wanted = entry->route == observe::route::translations ? task::translate : task::transcribe;
    auto made = co_await transcribe(request, parts_, wanted, std::move(*principal), notes);
    co_return made;
}

// Sends a body as it is made; how many bytes of it there were. A caller that leaves is told no end.
asio::awaitable<std::uint64_t> send_pieces(exchange& request, response answer) {
    const auto pieces = answer.pieces;
    std::uint64_t sent_bytes = 0;
    bool left = false;
    auto begun = co_await request.begin(std::move(answer));
    if (!begun) co_return sent_bytes;
    request.on_left([&left, pieces] {
        left = true;
        pieces->leave();
    });
    for (;;) {
        auto piece = co_await pieces->next();
        if (!piece || left) break;
        sent_bytes += piece->size();
        auto sent = co_await request.send(std::move(*piece));
        if (!sent) co_return sent_bytes;
    }
    if (left) co_return sent_bytes;
    request.on_left({});
    [[maybe_unused]] auto finished = co_await request.finish();
    co_return sent_bytes;
}

asio::awaitable<void> router::answer(exchange& request) {
    const auto& head = request.head();
    const auto* entry = entry_of(head.path);
    const auto which = entry != nullptr ? entry->route : observe::route::other;
    access_notes notes;
    auto made = co_await decide(request, entry, notes);
    const auto code = made ? std::string_view() : hearonce::entry_of(made.error().code()).code;
    // Counted before the answer is sent: whoever has read it finds it in the metrics.
    if (!made && made.error().status() == 0) {
        parts_.counted.request(which, 0, steady_clock::now() - head.began);
        request.abort();
        log_request(parts_, head, which, 0, code, 0, notes);
        co_return;
    }
    auto answer = made ? std::move(*made) : error_response(made.error(), notes.retried);
    add_notes(answer, notes);
    add_cors(answer, head, parts_.browser);
    const auto status = answer.status;
    std::uint64_t sent_bytes = answer.body ? answer.body->size() : 0;
    parts_.counted.request(which, status, steady_clock::now() - head.began);
    if (answer.pieces) {
        sent_bytes = co_await send_pieces(request, std::move(answer));
    } else {
        co_await request.respond(std::move(answer));
    }
    log_request(parts_, head, which, status, notes.failed ? hearonce::entry_of(*notes.failed).code : code, sent_bytes, notes);
}

response router::refuse(const error& why, const request_head& head) const {
    const auto* entry = entry_of(head.path);
    const auto which = entry != nullptr ? entry->route : observe::route::other;
    auto answer = error_response(why);
    add_cors(answer, head, parts_.browser);
    const std::uint64_t sent_bytes = answer.body ? answer.body->size() : 0;
    parts_.counted.request(which, answer.status, steady_clock::now() - head.began);
    log_request(parts_, head, which, answer.status, hearonce::entry_of(why.code()).code, sent_bytes, {});
    return answer;
}

}  // namespace hearonce::http
