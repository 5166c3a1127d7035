// Flights over scripted backends, on one loop that the test drives.
#pragma once

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

namespace hearonce::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using work::attempts_end;
using work::circuit;
using work::dispatcher;

inline result<transcript> text(std::string words) {
    transcript made;
    made.text = std::move(words);
    return made;
}
inline error again(errc code = errc::upstream_error) {
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
    bool watches_itself() const noexcept override { return watches; }
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
    bool ready = true, hangs = false, throws = false, tells = false, watches = false;

private:
    std::string name_;
    hearonce::provider whose_;
};

struct running {
    std::optional<attempts_end> end;
    std::exception_ptr thrown;
    asio::cancellation_signal cancel;
};

struct dispatching {
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

}  // namespace hearonce::test
