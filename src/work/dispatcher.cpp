// The choice of route. Next file: dispatch_run.cpp.
#include <work/dispatcher.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

#include <fnmatch.h>

namespace hearonce::work {

namespace {

bool matches(const std::string& glob, std::string_view model) {
    const std::string name(model);
    return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

route make_route(std::vector<std::shared_ptr<backend>> backends, std::string model) {
    std::vector<std::string> names;
    for (const auto& one : backends) names.emplace_back(one->name());
    return {std::move(backends), std::move(model), std::move(names)};
}

}  // namespace

dispatcher::dispatcher(std::vector<std::shared_ptr<backend>> backends, std::vector<route_rule> rules, std::string default_backend,
                       observe::metrics& counted, retry_rule retry)
    : backends_(std::move(backends)),
      rules_(std::move(rules)),
      default_backend_(std::move(default_backend)),
      counted_(counted),
      retry_(std::move(retry)) {
    for (const auto& one : backends_) stations_.push_back(std::make_unique<station>(one));
}

dispatcher::~dispatcher() = default;

station& dispatcher::station_of(const backend& one) const {
    const auto found = std::ranges::find_if(stations_, [&one](const auto& each) { return each->at.get() == &one; });
    assert(found != stations_.end() && "a route's backends are the dispatcher's");
    return **found;
}

backend_state dispatcher::state_of(const backend& one) const {
    auto state = one.state();
    if (!state.ready) return state;
    state.reason = station_of(one).circuit.complaint();
    state.ready = state.reason.empty();
    return state;
}

std::shared_ptr<backend> dispatcher::find(std::string_view name) const {
    for (const auto& one : backends_) {
        if (one->name() == name) return one;
    }
    return nullptr;
}

result<route> dispatcher::route_for(std::string_view model) const {
    const auto fallback = find(default_backend_);
    if (model.empty()) {
        if (!fallback) return error(errc::model_not_found, "The field 'model' is missing and no default backend is configured.");
        return make_route({fallback}, fallback->default_model());
    }
    for (const auto& rule : rules_) {
        if (!matches(rule.model, model)) continue;
        std::vector<std::shared_ptr<backend>> chosen;
        for (const auto& name : rule.backends) {
            if (auto one = find(name)) chosen.push_back(std::move(one));
        }
        if (!chosen.empty()) return make_route(std::move(chosen), std::string(model));
    }
    for (const auto& one : backends_) {
        for (const auto& glob : one->models()) {
            if (matches(glob, model)) return make_route({one}, std::string(model));
        }
    }
    if (fallback) return make_route({fallback}, std::string(model));
    return error(errc::model_not_found, "The model `" + std::string(model.substr(0, 128)) + "` does not exist or no backend takes it.");
}

result<route> dispatcher::able(route chosen, const transcription_request& request) {
    route can;
    can.model = std::move(chosen.model);
    can.names = std::move(chosen.names);
    std::optional<error> first;
    for (std::size_t i = 0; i < chosen.backends.size(); ++i) {
        const auto supported = chosen.backends[i]->supports(request);
        if (supported) {
            can.backends.push_back(chosen.backends[i]);
            if (!chosen.terms.empty()) can.terms.push_back(std::move(chosen.terms[i]));
        } else if (!first) {
            first = supported.error();
        }
    }
    if (can.backends.empty()) return first.value_or(error(errc::model_not_found));
    return can;
}

std::chrono::milliseconds dispatcher::time_allowed(const route& chosen, std::optional<std::chrono::milliseconds> audio) {
    std::chrono::milliseconds most{0};
    for (const auto& one : chosen.backends) most = std::max(most, one->time_allowed(audio));
    return most;
}

boost::asio::awaitable<attempts_end> dispatcher::run(route chosen, std::shared_ptr<const recording> audio, transcription_request request,
                                                     deadline limit, std::shared_ptr<delta_log> deltas, unsigned spent) const {
    dispatch_order order;
    for (const auto& one : chosen.backends) order.stations.push_back(&station_of(*one));
    order.terms = std::move(chosen.terms);
    order.audio = std::move(audio);
    order.request = std::move(request);
    order.request.model = std::move(chosen.model);
    order.limit = limit;
    order.deltas = std::move(deltas);
    order.spent = spent;
    dispatch_run work(std::move(order), retry_, counted_);
    auto end = co_await work.run();
    co_return end;
}

}  // namespace hearonce::work
