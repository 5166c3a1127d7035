// The parts of the gateway, built from the bottom up and ended from the top down. Next files: event_loops.cpp, then
// src/server/server.cpp, which calls src/http/router.cpp for each request.
#include <app/event_loops.hpp>
#include <app/gateway.hpp>
#include <app/part_settings.hpp>
#include <http/router.hpp>
#include <observe/log.hpp>
#include <server/server.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdlib>
#include <future>
#include <utility>

namespace hearonce::app {

namespace {

// Idempotency-Keys remembered at one time.
constexpr std::size_t names_max = 65536;
constexpr std::chrono::seconds sweep_every{10};

std::vector<std::string> names_of(const std::vector<std::shared_ptr<backend>>& backends) {
    std::vector<std::string> names;
    for (const auto& one : backends) names.emplace_back(one->name());
    return names;
}

}  // namespace

// Members stand in the order in which each may use the ones before it; destruction is the other way round.
struct gateway::parts {
    parts(settings given, const backend_maker& make_backends)
        : wanted(std::move(given)),
          loops(wanted.server.threads),
          store(std::make_shared<http::audio_store>(audio_store_settings_of(wanted))),
          backends(make_backends(loops.at(0).get_executor())),
          counted(wanted.server.threads, names_of(backends)),
          auth(auth_mode_of(wanted), hmac_key_of(wanted)),
          dispatcher(std::in_place, backends, route_rules_of(wanted), wanted.default_backend.value_or(""), counted, retry_rule_of(wanted)),
          names(names_max, wanted.flight.ttl),
          flights(work::flight_table_settings(wanted.flight.ttl, wanted.flight.abandon_grace, wanted.flight.cache_bytes)),
          services(make_services()),
          router(services) {}

    http::services make_services() {
        return {.audio_bytes_max = wanted.server.max_audio_bytes,
                .fields_bytes_max = wanted.server.max_fields_bytes,
                .browser = browser_rules_of(wanted),
                .trusted_proxies = wanted.server.trusted_proxies,
                .auth = auth,
                .own_key_local = wanted.auth.own_key_local,
                .store = store,
                .dispatcher = *dispatcher,
                .flights = flights,
                .under_way = under_way,
                .names = names,
                .counted = counted,
                .draining = draining,
                .started = std::chrono::system_clock::now(),
                .started_steady = std::chrono::steady_clock::now()};
    }

    void watch_gauges();
    void sweep_later();
    void end_flights();

    const settings wanted;
    event_loops loops;
    std::shared_ptr<http::audio_store> store;
    std::vector<std::shared_ptr<backend>> backends;
    observe::metrics counted;
    http::authenticator auth;
    std::optional<work::dispatcher> dispatcher;
    work::idempotency_table names;
    work::gate under_way;
    work::flights flights;
    std::atomic<bool> draining{false};
    http::services services;
    http::router router;
    boost::asio::steady_timer sweep_timer{loops.at(0)};
    std::unique_ptr<server::server> listening;
    std::vector<observe::metrics::watch> watches;

    std::promise<void> served;  // Fulfilled when the server has nothing left.
    std::atomic<bool> served_once{false};
    bool running = false;  // The loops have threads.
};

void gateway::parts::watch_gauges() {
    using observe::gauge;
    const auto watch = [this](gauge which, std::function<double()> read) {
        watches.push_back(counted.watch_gauge(which, std::move(read)));
    };
    watch(gauge::work_in_flight, [this] { return static_cast<double>(flights.stats().flights); });
    watch(gauge::waiters, [this] { return static_cast<double>(flights.stats().waiters); });
    watch(gauge::cache_bytes, [this] { return static_cast<double>(flights.stats().bytes); });
    watch(gauge::cache_entries, [this] { return static_cast<double>(flights.stats().entries); });
    watch(gauge::audio_memory_bytes, [this] { return static_cast<double>(store->memory_bytes()); });
    watch(gauge::connections, [this] { return static_cast<double>(listening->connections()); });
    for (const auto& one : backends) {
        if (const auto engine = whisper_of(one)) {
            watch(gauge::whisper_queue, [engine] { return static_cast<double>(engine->counts().waiting); });
            watch(gauge::whisper_restarts, [engine] { return static_cast<double>(engine->counts().restarts); });
        }
    }
}

// Finished results go when their time is over, also when no request comes by.
void gateway::parts::sweep_later() {
    sweep_timer.expires_after(sweep_every);
    sweep_timer.async_wait([this](const boost::system::error_code& cancelled) {
        if (cancelled) return;
        flights.sweep();
        sweep_later();
    });
}

// Cancelled work ends on its own loop, soon; a backend that does not let go must not keep the process.
void gateway::parts::end_flights() {
    flights.stop();
    if (under_way.wait_empty(std::chrono::seconds(5))) return;
    // A backend that does not let go still uses these parts: taking them apart under it would be worse than not tidying up.
    observe::say(observe::log_level::error, "work that was cancelled has not ended; ending the process");
    observe::close_log();
    std::_Exit(EXIT_FAILURE);
}

gateway::gateway(settings wanted, const backend_maker& make_backends) : parts_(std::make_unique<parts>(std::move(wanted), make_backends)) {}

gateway::~gateway() {
    if (!parts_->running) return;
    end();
    wait();
}

result<void> gateway::start() {
    auto tokens = tokens_of(parts_->wanted);
    if (!tokens) return tokens.error();
    parts_->auth.replace_tokens(std::move(*tokens));
    const auto contexts = parts_->loops.all();
    try {
        auto handler = [router = &parts_->router](http::exchange& request) { return router->answer(request); };
        auto refusals = [router = &parts_->router](const error& why, const http::request_head& head) { return router->refuse(why, head); };
        parts_->listening =
            std::make_unique<server::server>(server_settings_of(parts_->wanted), contexts, std::move(handler), std::move(refusals));
    } catch (const server::setup_error& why) {
        return error(errc::invalid_parameter, why.what());
    }
    if (const auto complaint = parts_->store->complaint()) observe::say(observe::log_level::warn, *complaint);
    parts_->watch_gauges();
    parts_->loops.start(
        [](const std::string& what) { observe::say(observe::log_level::error, "an exception reached an event loop", {{"what", what}}); });
    parts_->running = true;
    parts_->listening->start();
    boost::asio::post(parts_->loops.at(0), [one = parts_.get()] { one->sweep_later(); });
    return {};
}

std::vector<boost::asio::ip::tcp::endpoint> gateway::listening() const {
    return parts_->listening->local_endpoints();
}

void gateway::drain() {
    parts_->draining = true;
    parts_->listening->drain(parts_->wanted.server.drain, [one = parts_.get()] {
        if (!one->served_once.exchange(true)) one->served.set_value();
    });
    parts_->flights.abandon_now();
}

void gateway::end() {
    parts_->draining = true;
    parts_->listening->drain(std::chrono::milliseconds(0), [one = parts_.get()] {
        if (!one->served_once.exchange(true)) one->served.set_value();
    });
}

void gateway::wait() {
    if (!parts_->running) return;
    parts_->served.get_future().wait();
    parts_->end_flights();
    parts_->store->stop();
    parts_->watches.clear();
    parts_->loops.stop();
    parts_->running = false;
}

result<void> gateway::reload(const settings& fresh) {
    // All or nothing: tokens that cannot be read leave the certificate as it was, and the other way round.
    auto tokens = tokens_of(fresh);
    if (!tokens) return tokens.error();
    const auto complaint = parts_->listening->reload_certificate();
    if (!complaint.empty()) return error(errc::invalid_parameter, complaint);
    parts_->auth.replace_tokens(std::move(*tokens));
    return {};
}

gateway::remains gateway::left() const {
    const auto flying = parts_->flights.stats();
    return {parts_->listening ? parts_->listening->connections() : 0, flying.flights, flying.waiters, parts_->store->memory_bytes()};
}

}  // namespace hearonce::app
