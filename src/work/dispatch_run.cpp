// The coroutine around the policy. Next file: a backend's transcribe().
#include <work/dispatch_run.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace hearonce::work {

namespace {

namespace asio = boost::asio;
using clock = deadline::clock;

// Counts one call, whichever way it ends: an exception leaves it an error. What was turned away before it was sent was no call.
class call_count {
public:
    call_count(observe::metrics& counted, const backend& asked, unsigned& calls)
        : counted_(counted), asked_(asked), calls_(calls), began_(clock::now()) {}
    ~call_count() {
        if (!was_made_) return;
        ++calls_;
        const auto took = clock::now() - began_;
        if (status_ != 0) {
            counted_.upstream_call(asked_.name(), status_, took, audio_seconds_);
        } else {
            counted_.upstream_call(asked_.name(), end_, took, audio_seconds_);
        }
    }
    call_count(const call_count&) = delete;
    call_count& operator=(const call_count&) = delete;

    void end(const result<transcript>& heard) noexcept {
        if (heard) {
            // Only an HTTP answer of this status brings a transcript from a provider; an engine has no status.
            if (asked_.provider() != provider::none) status_ = 200;
            end_ = observe::call_end::ok;
            audio_seconds_ = heard->duration_seconds;
            return;
        }
        const error& why = heard.error();
        status_ = why.upstream_status();
        if (why.code() == errc::cancelled) end_ = observe::call_end::cancelled;
        if (why.code() == errc::upstream_timeout) end_ = observe::call_end::timeout;
        if (why.code() == errc::overloaded) was_made_ = status_ != 0;
    }

private:
    observe::metrics& counted_;
    const backend& asked_;
    unsigned& calls_;
    const deadline::time_point began_;
    observe::call_end end_ = observe::call_end::error;
    std::uint16_t status_ = 0;
    double audio_seconds_ = 0;
    bool was_made_ = true;
};

// Each backend's share of the flight's time: what is generous for one must not let another hang.
std::vector<deadline> limits_of(const dispatch_order& order, clock::time_point start) {
    std::optional<std::chrono::milliseconds> length;
    if (order.audio) length = order.audio->duration;
    std::vector<deadline> limits;
    for (const auto* one : order.stations) limits.push_back(std::min(order.limit, deadline(start + one->at->time_allowed(length))));
    return limits;
}

// False: cancelled meanwhile.
asio::awaitable<bool> pause_until(clock::time_point at) {
    if (at <= clock::now()) co_return true;
    auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, at);
    constexpr auto use_tuple = asio::as_tuple(asio::use_awaitable);
    [[maybe_unused]] auto [code] = co_await timer.async_wait(use_tuple);
    const auto state = co_await asio::this_coro::cancellation_state;
    co_return state.cancelled() == asio::cancellation_type::none;
}

}  // namespace

dispatch_run::dispatch_run(dispatch_order order, const retry_rule& rule, observe::metrics& counted)
    : order_(std::move(order)),
      counted_(counted),
      began_(clock::now()),
      limits_(limits_of(order_, began_)),
      policy_(rule, limits_, began_, order_.spent) {
    assert(order_.terms.empty() || order_.terms.size() == order_.stations.size());
}

asio::awaitable<attempts_end> dispatch_run::run() {
    auto next = policy_.begin(began_);
    while (next.call) {
        const auto which = *next.call;
        const bool waited = co_await pause_until(next.at);
        if (!waited) {
            next = after({error(errc::cancelled)}, which);
            continue;
        }
        auto made = co_await call(which);
        next = after(std::move(made), which);
    }
    co_return ended(std::move(next));
}

// Asked before the line as well as after it: nobody waits for a place at a backend that is left alone.
asio::awaitable<dispatch_run::called> dispatch_run::call(std::size_t which) {
    auto& there = *order_.stations[which];
    if (!stay_) {
        auto refused = there.circuit.refusal();
        if (refused) co_return called{std::move(*refused), false};
    }
    auto place = co_await there.places.enter(limits_[which]);
    if (!place) co_return called{place.error()};
    const auto visited = visit(which);
    if (!visited) co_return called{visited.error(), false};
    auto heard = co_await ask(which);
    co_return called{std::move(heard)};
}

asio::awaitable<result<transcript>> dispatch_run::ask(std::size_t which) {
    auto& asked = *order_.stations[which]->at;
    if (order_.deltas) order_.deltas->set_backend(std::string(asked.name()));
    call_count count(counted_, asked, end_.calls);
    result<transcript> heard = error(errc::internal_error);
    try {
        auto value = co_await asked.transcribe(order_.audio, order_.request, terms_of(which));
        heard = std::move(value);
    } catch (const boost::system::system_error& why) {
        if (why.code() != asio::error::operation_aborted) throw;
        heard = error(errc::cancelled);
    }
    count.end(heard);
    co_return heard;
}

result<void> dispatch_run::visit(std::size_t which) {
    if (stay_) return {};
    auto entered = order_.stations[which]->circuit.enter();
    if (!entered) return entered.error();
    stay_.emplace(std::move(*entered));
    return {};
}

attempt dispatch_run::terms_of(std::size_t which) const {
    attempt terms(limits_[which]);
    terms.deltas = order_.deltas;
    if (order_.terms.empty()) return terms;
    const credentials& own = order_.terms[which];
    terms.key = own.key;
    terms.organization = own.organization;
    terms.project = own.project;
    return terms;
}

// The next step; a step without a call when there is a transcript.
dispatch_run::step dispatch_run::after(called made, std::size_t which) {
    step next;
    if (made.heard) {
        end_.backend = order_.stations[which]->at->name();
    } else if (!made.was_asked) {
        next = policy_.refused(made.heard.error(), clock::now());
    } else {
        const bool told = order_.deltas && !order_.deltas->empty();
        next = policy_.failed(made.heard.error(), told, clock::now());
    }
    if (next.call != which) leave(made.heard, *order_.stations[which]->at);
    end_.heard = std::move(made.heard);
    return next;
}

// A backend that says itself why it cannot work (no model, no key) goes on saying so. One that watches itself is never left
// alone: by now it may have been restarted, so its state does not tell what the failure was about.
void dispatch_run::leave(const result<transcript>& heard, const backend& from) {
    if (!stay_) return;
    auto about = verdict_of(heard);
    if (about == verdict::fails && (from.watches_itself() || !from.state().ready)) about = verdict::nothing;
    stay_->end(about);
    stay_.reset();
}

attempts_end dispatch_run::ended(step last) {
    if (end_.heard) {
        if (end_.heard->backend.empty()) end_.heard->backend = end_.backend;
        return std::move(end_);
    }
    end_.heard = std::move(last.why);
    if (last.by) end_.backend = order_.stations[*last.by]->at->name();
    return std::move(end_);
}

}  // namespace hearonce::work
