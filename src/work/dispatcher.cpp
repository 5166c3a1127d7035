// The dispatcher: a pure choice of route, and one loop over its backends. Next file: a backend's transcribe().
#include <work/dispatcher.hpp>

#include <fnmatch.h>

#include <utility>

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

// Counts one call, whichever way it ends: an exception leaves `end_` as it began. What a full queue turned away was no call.
class call_count {
public:
    call_count(observe::metrics& counted, std::string_view backend, deadline::time_point began)
        : counted_(counted), backend_(backend), began_(began) {}
    ~call_count() {
        if (was_made_) counted_.upstream_call(backend_, end_, deadline::clock::now() - began_, audio_seconds_);
    }
    call_count(const call_count&) = delete;
    call_count& operator=(const call_count&) = delete;

    void end(const result<transcript>& heard) noexcept {
        if (heard) {
            end_ = observe::call_end::ok;
            audio_seconds_ = heard->duration_seconds;
        } else if (heard.error().code() == errc::cancelled) {
            end_ = observe::call_end::cancelled;
        } else if (heard.error().code() == errc::upstream_timeout) {
            end_ = observe::call_end::timeout;
        } else if (heard.error().code() == errc::overloaded) {
            was_made_ = false;
        }
    }

private:
    observe::metrics& counted_;
    std::string_view backend_;
    deadline::time_point began_;
    observe::call_end end_ = observe::call_end::error;
    double audio_seconds_ = 0;
    bool was_made_ = true;
};

}  // namespace

dispatcher::dispatcher(std::vector<std::shared_ptr<backend>> backends, std::vector<route_rule> rules, std::string default_backend,
                       observe::metrics& counted)
    : backends_(std::move(backends)), rules_(std::move(rules)), default_backend_(std::move(default_backend)), counted_(counted) {}

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
    std::vector<std::shared_ptr<backend>> can;
    std::optional<error> first;
    for (const auto& one : chosen.backends) {
        const auto supported = one->supports(request);
        if (supported) {
            can.push_back(one);
        } else if (!first) {
            first = supported.error();
        }
    }
    if (can.empty()) return first.value_or(error(errc::model_not_found));
    chosen.backends = std::move(can);
    return chosen;
}

std::chrono::milliseconds dispatcher::time_allowed(const route& chosen, std::optional<std::chrono::milliseconds> audio) {
    std::chrono::milliseconds most{0};
    for (const auto& one : chosen.backends) most = std::max(most, one->time_allowed(audio));
    return most;
}

bool another_may_succeed(const error& why) noexcept {
    switch (why.code()) {
        case errc::upstream_error:
        case errc::overloaded:
        case errc::rate_limit_exceeded:
        case errc::insufficient_quota:
        case errc::internal_error: return true;
        default: return false;
    }
}

boost::asio::awaitable<attempts_end> dispatcher::run(route chosen, std::shared_ptr<const recording> audio, transcription_request request,
                                                     deadline limit, std::shared_ptr<delta_log> deltas) const {
    request.model = chosen.model;
    attempts_end end;
    end.heard = error(errc::upstream_error);
    for (const auto& one : chosen.backends) {
        const auto began = deadline::clock::now();
        if (limit.passed(began)) {
            end.heard = error(errc::upstream_timeout);
            break;
        }
        end.backend = one->name();
        call_count call(counted_, end.backend, began);
        attempt terms(limit);
        terms.deltas = deltas;
        if (deltas) deltas->set_backend(end.backend);
        end.heard = co_await one->transcribe(audio, request, std::move(terms));
        call.end(end.heard);
        const bool told = deltas && !deltas->empty();
        if (end.heard || told || !another_may_succeed(end.heard.error())) break;
    }
    if (end.heard && end.heard->backend.empty()) end.heard->backend = end.backend;
    co_return end;
}

}  // namespace hearonce::work
