// Which backends take a model, and what all flights to a backend share.
//
// Holds: route_rule, dispatcher. Called by a flight's work (src/http/transcriptions.cpp starts it). Next file: dispatch_run.hpp.
#pragma once

#include <hearonce/backend.hpp>
#include <observe/metrics.hpp>
#include <work/dispatch_policy.hpp>
#include <work/dispatch_run.hpp>
#include <work/route.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::work {

// `[[routes]]` of the configuration: a glob (fnmatch(3)) and the names of the backends that take it, in order.
struct route_rule {
    std::string model;
    std::vector<std::string> backends;
};

// Thread-safe. Must outlive the work it runs.
class dispatcher {
public:
    // `default_backend`: takes model names that nobody claims and requests without a model; empty: nobody does.
    dispatcher(std::vector<std::shared_ptr<backend>> backends, std::vector<route_rule> rules, std::string default_backend,
               observe::metrics& counted, retry_rule retry = {});
    ~dispatcher();

    const std::vector<std::shared_ptr<backend>>& backends() const noexcept { return backends_; }

    // Whether a backend takes work now, by its own account and by how work fared there.
    backend_state state_of(const backend& one) const;

    // Rules first, then the backend that claims the name, then the default. errc::model_not_found when nobody takes it.
    result<route> route_for(std::string_view model) const;

    // The route with those backends only that can give what is asked. The first backend's reason when none can.
    static result<route> able(route chosen, const transcription_request& request);

    // How long the whole flight may take: the most generous of the route's backends.
    static std::chrono::milliseconds time_allowed(const route& chosen, std::optional<std::chrono::milliseconds> audio);

    // Tries the route's backends as dispatch_policy says and counts each call. Ends by `limit`, each backend's attempts by its
    // own share of it. What was told to `deltas` (null: nobody reads along) is not taken back: a failure after it is the end.
    // `spent`: attempts the client has made itself.
    boost::asio::awaitable<attempts_end> run(route chosen, std::shared_ptr<const recording> audio, transcription_request request,
                                             deadline limit, std::shared_ptr<delta_log> deltas = nullptr, unsigned spent = 0) const;

private:
    std::shared_ptr<backend> find(std::string_view name) const;
    station& station_of(const backend& one) const;

    std::vector<std::shared_ptr<backend>> backends_;
    std::vector<route_rule> rules_;
    std::string default_backend_;
    observe::metrics& counted_;
    const retry_rule retry_;
    std::vector<std::unique_ptr<station>> stations_;  // One a backend, in their order.
};

}  // namespace hearonce::work
