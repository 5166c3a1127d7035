// One flight over its backends: attempts, pauses, lines, circuits, keys, and what is counted of them.
#define BOOST_TEST_MODULE dispatch_run
#include <work/dispatcher.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <functional>

namespace {

namespace asio = boost::asio;
using namespace hearonce;
using namespace std::chrono_literals;
using work::attempts_end;
using work::circuit;
using work::dispatcher;

result<transcript> text(std::string words) {
    transcript made;
    made.text = std::move(words);
    return made;
}
error again(errc code = errc::upstream_error) {
    return error(code).with_remedy(remedy::again);
}

// Answers call after call as its script says; what is beyond the script is the script's last line.
class scripted final : public backend {
public:
    explicit scripted(std::string name, hearonce::provider whose = provider::none) : name_(std::move(name)), whose_(whose) {}

    std::string_view name() const noexcept override { return name_; }
    backend_state state() const override { return {ready, ready ? "" : "no model"}; }
    std::vector<std::string> models() const override { return {name_}; }
    std::string default_model() const override { return name_; }
    result<void> supports(const transcription_request&) const override { return {}; }
    hearonce::provider provider() const noexcept override { return whose_; }
    unsigned in_flight_max() const noexcept override { return calls_max; }
    std::chrono::milliseconds time_allowed(std::optional<std::chrono::milliseconds>) const override { return allowed; }

    asio::awaitable<result<transcript>> transcribe(std::shared_ptr<const recording>, transcription_request, attempt terms) override {
        seen.push_back(terms);
        if (hangs) {
            auto executor = co_await asio::this_coro::executor;
            asio::steady_timer timer(executor, asio::steady_timer::time_point::max());
            co_await timer.async_wait(asio::use_awaitable);
        }
        if (throws) throw std::runtime_error("a bug");
        if (tells && terms.deltas) terms.deltas->append({"piece"});
        const auto end = script.at(std::min(seen.size(), script.size()) - 1);
        co_return end;
    }

    std::deque<result<transcript>> script{text("hello")};
    std::vector<attempt> seen;
    std::chrono::milliseconds allowed = 60s;
    unsigned calls_max = 0;
    bool ready = true, hangs = false, throws = false, tells = false;

private:
    std::string name_;
    hearonce::provider whose_;
};

struct running {
    std::optional<attempts_end> end;
    std::exception_ptr thrown;
    asio::cancellation_signal cancel;
};

struct fixture {
    std::shared_ptr<scripted> cloud = std::make_shared<scripted>("cloud", provider::openai);
    std::shared_ptr<scripted> local = std::make_shared<scripted>("local");
    observe::metrics counted{1, {"cloud", "local"}};
    work::retry_rule retry{3, {1ms}, 20s};
    std::optional<dispatcher> table;
    asio::io_context context{1};
    std::deque<running> flights;

    dispatcher& asked() {
        if (!table) table.emplace(std::vector<std::shared_ptr<backend>>{cloud, local}, std::vector<work::route_rule>{}, "", counted, retry);
        return *table;
    }
    work::route both() const { return {{cloud, local}, "m", {"cloud", "local"}}; }
    work::route alone() const { return {{cloud}, "m", {"cloud"}}; }

    running& start(work::route chosen, deadline limit = deadline::after(1min), std::shared_ptr<delta_log> deltas = nullptr,
                   unsigned spent = 0) {
        auto& one = flights.emplace_back();
        auto work = asked().run(std::move(chosen), nullptr, {}, limit, std::move(deltas), spent);
        asio::co_spawn(context, keep(std::move(work), one),
                       asio::bind_cancellation_slot(one.cancel.slot(), [&one](std::exception_ptr why) { one.thrown = why; }));
        return one;
    }
    static asio::awaitable<void> keep(asio::awaitable<attempts_end> work, running& into) {
        auto end = co_await std::move(work);
        into.end = std::move(end);
    }
    attempts_end run(work::route chosen, deadline limit = deadline::after(1min), std::shared_ptr<delta_log> deltas = nullptr,
                     unsigned spent = 0) {
        auto& one = start(std::move(chosen), limit, std::move(deltas), spent);
        context.restart();
        context.run();
        BOOST_REQUIRE(one.end.has_value());
        return std::move(*one.end);
    }
    void poll() {
        context.restart();
        context.poll();
    }
    std::string count_of(const std::string& name, const std::string& status) const {
        const auto all = counted.prometheus_text();
        const auto line = "hearonce_upstream_calls_total{backend=\"" + name + "\",status=\"" + status + "\"} ";
        const auto at = all.find(line);
        return at == std::string::npos ? "0" : all.substr(at + line.size(), all.find('\n', at) - at - line.size());
    }
    void open_circuit() {
        cloud->script = {error(errc::upstream_error)};
        for (unsigned i = 0; i < circuit::failures_max; ++i) (void)run(alone());
        cloud->seen.clear();
    }
};

BOOST_FIXTURE_TEST_SUITE(dispatch_run_, fixture)

BOOST_AUTO_TEST_CASE(it_tries_again_and_says_how_often) {
    cloud->script = {again(), again(), text("hello")};
    const auto end = run(alone());
    BOOST_REQUIRE(end.heard.has_value());
    BOOST_TEST(end.heard->backend == "cloud");
    BOOST_TEST(end.calls == 3u);
    BOOST_TEST(cloud->seen.size() == 3u);
}

BOOST_AUTO_TEST_CASE(it_gives_up_when_the_attempts_are_used_up_those_of_the_client_among_them) {
    cloud->script = {again()};
    const auto end = run(alone());
    BOOST_TEST(end.calls == 3u);
    BOOST_TEST(end.backend == "cloud");
    BOOST_TEST((end.heard.error().code() == errc::upstream_error));
    BOOST_TEST(run(alone(), deadline::after(1min), nullptr, 1).calls == 2u);
    BOOST_TEST(run(alone(), deadline::after(1min), nullptr, 9).calls == 1u);
}

BOOST_AUTO_TEST_CASE(pauses_are_kept) {
    retry.pauses = {30ms};
    cloud->script = {again(), text("hello")};
    const auto began = deadline::clock::now();
    BOOST_TEST(run(alone()).heard.has_value());
    BOOST_TEST((deadline::clock::now() - began >= 30ms));
}

BOOST_AUTO_TEST_CASE(cancelling_ends_a_pause_at_once) {
    retry.pauses = {10s};
    cloud->script = {again()};
    auto& one = start(alone());
    poll();
    BOOST_TEST(cloud->seen.size() == 1u);
    BOOST_TEST(!one.end);
    one.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_REQUIRE(one.end.has_value());
    BOOST_TEST((one.end->heard.error().code() == errc::cancelled));
    BOOST_TEST(one.end->calls == 1u);
}

BOOST_AUTO_TEST_CASE(cancelling_ends_a_call_that_throws_it_and_counts_it) {
    cloud->hangs = true;
    auto& one = start(both());
    poll();
    one.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_REQUIRE(one.end.has_value());
    BOOST_TEST((one.end->heard.error().code() == errc::cancelled));
    BOOST_TEST(local->seen.empty());
    BOOST_TEST(count_of("cloud", "cancelled") == "1");
}

BOOST_AUTO_TEST_CASE(an_exception_is_counted_passed_on_and_gives_its_place_back) {
    cloud->calls_max = 1;
    cloud->throws = true;
    for (int i = 0; i < 3; ++i) {
        auto& one = start(both());
        poll();
        BOOST_TEST(!one.end);
        BOOST_TEST((one.thrown != nullptr));
    }
    BOOST_TEST(count_of("cloud", "error") == "3");
}

BOOST_AUTO_TEST_CASE(beyond_the_bound_flights_wait_in_line_and_go_on_in_turn) {
    cloud->calls_max = 1;
    cloud->hangs = true;
    auto& first = start(alone());
    auto& second = start(alone());
    auto& third = start(alone());
    poll();
    BOOST_TEST(cloud->seen.size() == 1u);
    cloud->hangs = false;
    second.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_REQUIRE(second.end.has_value());
    BOOST_TEST((second.end->heard.error().code() == errc::cancelled));
    BOOST_TEST(second.end->calls == 0u);
    first.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_REQUIRE(third.end.has_value());
    BOOST_TEST(third.end->heard.has_value());
    BOOST_TEST(cloud->seen.size() == 2u);
}

BOOST_AUTO_TEST_CASE(whose_time_ends_in_line_is_overloaded_or_goes_elsewhere) {
    cloud->calls_max = 1;
    cloud->hangs = true;
    auto& holder = start(alone());
    poll();
    auto& waits = start(alone(), deadline::after(20ms));
    context.restart();
    while (!waits.end) context.run_one();
    BOOST_TEST((waits.end->heard.error().code() == errc::overloaded));
    BOOST_TEST(waits.end->heard.error().retry_after().has_value());
    BOOST_TEST(waits.end->calls == 0u);
    cloud->allowed = 20ms;
    auto& goes_on = start(both());
    while (!goes_on.end) context.run_one();
    BOOST_REQUIRE(goes_on.end->heard.has_value());
    BOOST_TEST(goes_on.end->backend == "local");
    holder.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_TEST(cloud->seen.size() == 1u);
}

BOOST_AUTO_TEST_CASE(each_backend_has_its_own_share_of_the_flights_time) {
    cloud->allowed = 10s;
    local->allowed = 90s;
    cloud->script = {error(errc::upstream_error)};
    const auto before = deadline::clock::now();
    const auto limit = deadline(before + 1min);
    (void)run(both(), limit);
    const auto after = deadline::clock::now();
    BOOST_REQUIRE((cloud->seen.size() == 1 && local->seen.size() == 1));
    BOOST_TEST((cloud->seen[0].limit >= deadline(before + 10s)));
    BOOST_TEST((cloud->seen[0].limit <= deadline(after + 10s)));
    BOOST_TEST((local->seen[0].limit == limit));
}

BOOST_AUTO_TEST_CASE(what_was_told_is_the_end) {
    cloud->tells = true;
    cloud->script = {again()};
    const auto end = run(both(), deadline::after(1min), std::make_shared<delta_log>());
    BOOST_TEST((end.heard.error().code() == errc::upstream_error));
    BOOST_TEST(end.calls == 1u);
    BOOST_TEST(local->seen.empty());
}

BOOST_AUTO_TEST_CASE(calls_are_counted_by_the_upstreams_own_status) {
    cloud->script = {again().with_upstream_status(503), error(errc::overloaded).with_remedy(remedy::again).with_upstream_status(529),
                     error(errc::invalid_parameter).with_upstream_status(400)};
    BOOST_TEST(run(alone()).calls == 3u);
    cloud->script = {error(errc::upstream_timeout).with_upstream_status(504)};
    (void)run(alone());
    cloud->script = {error(errc::upstream_timeout)};
    (void)run(alone());
    cloud->script = {text("hello")};
    (void)run(alone());
    (void)run({{local}, "m", {"local"}});
    for (const auto* status : {"503", "529", "400", "504", "timeout", "200"}) BOOST_TEST(count_of("cloud", status) == "1", status);
    BOOST_TEST(count_of("local", "ok") == "1");
}

BOOST_AUTO_TEST_CASE(what_a_full_engine_turned_away_was_no_call) {
    local->script = {error(errc::overloaded)};
    const auto end = run({{local}, "m", {"local"}});
    BOOST_TEST(end.calls == 0u);
    BOOST_TEST(counted.sum().backends.at(1).calls == 0u);
}

BOOST_AUTO_TEST_CASE(an_open_circuit_answers_at_once_without_a_call) {
    open_circuit();
    const auto end = run(alone());
    BOOST_TEST((end.heard.error().code() == errc::overloaded));
    BOOST_REQUIRE(end.heard.error().retry_after().has_value());
    BOOST_TEST(end.heard.error().retry_after()->count() > 20);
    BOOST_TEST(cloud->seen.empty());
    const auto state = asked().state_of(*cloud);
    BOOST_TEST(!state.ready);
    BOOST_TEST(state.reason.starts_with("work failed 5 times in a row"));
    BOOST_TEST(asked().state_of(*local).ready);
}

BOOST_AUTO_TEST_CASE(an_open_circuit_is_passed_over_where_there_is_another_backend) {
    open_circuit();
    const auto end = run(both());
    BOOST_REQUIRE(end.heard.has_value());
    BOOST_TEST(end.backend == "local");
    BOOST_TEST(cloud->seen.empty());
    local->script = {error(errc::upstream_error)};
    const auto failed = run(both());
    BOOST_TEST((failed.heard.error().code() == errc::upstream_error));
    BOOST_TEST(failed.backend == "local");
}

BOOST_AUTO_TEST_CASE(a_flight_counts_once_however_often_it_tried) {
    cloud->script = {again()};
    for (unsigned i = 0; i + 1 < circuit::failures_max; ++i) BOOST_TEST(run(alone()).calls == 3u);
    BOOST_TEST(asked().state_of(*cloud).ready);
    BOOST_TEST(run(alone()).calls == 3u);
    BOOST_TEST(!asked().state_of(*cloud).ready);
}

BOOST_AUTO_TEST_CASE(callers_faults_limits_and_cancellations_do_not_open_it) {
    for (const auto code : {errc::invalid_parameter, errc::invalid_api_key, errc::rate_limit_exceeded, errc::insufficient_quota,
                            errc::overloaded, errc::cancelled, errc::internal_error}) {
        cloud->script = {error(code)};
        for (unsigned i = 0; i < circuit::failures_max + 1; ++i) (void)run(alone());
        BOOST_TEST(asked().state_of(*cloud).ready, entry_of(code).code);
    }
}

BOOST_AUTO_TEST_CASE(a_backend_that_says_itself_why_it_cannot_work_goes_on_saying_so) {
    cloud->ready = false;
    cloud->script = {error(errc::upstream_error, "There is no model.")};
    for (unsigned i = 0; i < circuit::failures_max + 2; ++i) {
        const auto end = run(alone());
        BOOST_TEST(end.heard.error().message() == "There is no model.");
    }
    BOOST_TEST(asked().state_of(*cloud).reason == "no model");
}

BOOST_AUTO_TEST_CASE(flights_that_wait_in_line_when_it_opens_are_not_sent) {
    cloud->calls_max = 1;
    cloud->script = {error(errc::upstream_error)};
    for (unsigned i = 0; i + 1 < circuit::failures_max; ++i) (void)run(alone());
    cloud->seen.clear();
    cloud->hangs = true;
    auto& holder = start(alone());
    auto& fails = start(alone());
    auto& waits = start(alone());
    poll();
    cloud->hangs = false;
    holder.cancel.emit(asio::cancellation_type::terminal);
    poll();
    BOOST_REQUIRE((fails.end && waits.end));
    BOOST_TEST((fails.end->heard.error().code() == errc::upstream_error));
    BOOST_TEST((waits.end->heard.error().code() == errc::overloaded));
    BOOST_TEST(waits.end->calls == 0u);
    BOOST_TEST(cloud->seen.size() == 2u);
}

BOOST_AUTO_TEST_CASE(each_backend_gets_its_own_terms_and_no_others) {
    auto keys = std::make_shared<caller_keys>();
    keys->bearer = secret("sk-caller");
    keys->organization = "org";
    keys->project = "proj";
    auto chosen = work::callable_with(both(), keys, true);
    BOOST_REQUIRE(chosen.has_value());
    std::weak_ptr<const caller_keys> left = keys;
    keys.reset();
    cloud->script = {error(errc::upstream_error)};
    (void)run(std::move(*chosen));
    BOOST_REQUIRE((cloud->seen.size() == 1 && local->seen.size() == 1));
    BOOST_REQUIRE(cloud->seen[0].key != nullptr);
    BOOST_TEST(cloud->seen[0].key->reveal() == "sk-caller");
    BOOST_TEST(cloud->seen[0].organization == "org");
    BOOST_TEST(cloud->seen[0].project == "proj");
    BOOST_TEST((local->seen[0].key == nullptr));
    BOOST_TEST(local->seen[0].organization == "");
    BOOST_TEST(!left.expired());
    cloud->seen.clear();
    BOOST_TEST(left.expired());
}

BOOST_AUTO_TEST_CASE(without_terms_no_key_is_given) {
    (void)run(alone());
    BOOST_REQUIRE(cloud->seen.size() == 1u);
    BOOST_TEST((cloud->seen[0].key == nullptr));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
