// Which backends take a model, and the attempt at each in turn.
//
// Holds: route, route_rule, attempts_end, dispatcher. Called by a flight's work (src/http/transcriptions.cpp starts it); calls
// hearonce/backend.hpp. Next file: the backend's own, backends/whisper/whisper_backend.hpp.
#pragma once

#include <hearonce/backend.hpp>
#include <observe/metrics.hpp>

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

// Where one request goes: the backends to try in order, and the model's name for them. `names` are the backends' names as
// configured; they are part of the work key, so that a change of the configuration never serves another backend's result.
struct route {
    std::vector<std::shared_ptr<backend>> backends;
    std::string model;
    std::vector<std::string> names;
};

// What came of trying: the transcript or the last failure, and the backend it came from (empty: none was asked).
struct attempts_end {
    result<transcript> heard{error(errc::internal_error)};
    std::string backend;
};

// Immutable after construction; thread-safe.
class dispatcher {
public:
    // `default_backend`: takes model names that nobody claims and requests without a model; empty: nobody does.
    dispatcher(std::vector<std::shared_ptr<backend>> backends, std::vector<route_rule> rules, std::string default_backend,
               observe::metrics& counted);

    const std::vector<std::shared_ptr<backend>>& backends() const noexcept { return backends_; }

    // Rules first, then the backend that claims the name, then the default. errc::model_not_found when nobody takes it.
    result<route> route_for(std::string_view model) const;

    // The route with those backends only that can give what is asked. The first backend's reason when none can.
    static result<route> able(route chosen, const transcription_request& request);

    // How long the whole flight may take: the most generous of the route's backends.
    static std::chrono::milliseconds time_allowed(const route& chosen, std::optional<std::chrono::milliseconds> audio);

    // Tries each backend in turn, going on only after a failure that another backend may not share, and counts each call.
    // Ends by `limit`. What was told to `deltas` (null: nobody reads along) is not taken back: a failure after it is the end.
    boost::asio::awaitable<attempts_end> run(route chosen, std::shared_ptr<const recording> audio, transcription_request request,
                                             deadline limit, std::shared_ptr<delta_log> deltas = nullptr) const;

private:
    std::shared_ptr<backend> find(std::string_view name) const;

    std::vector<std::shared_ptr<backend>> backends_;
    std::vector<route_rule> rules_;
    std::string default_backend_;
    observe::metrics& counted_;
};

// True when another backend may succeed where this one failed: the request itself is not at fault.
bool another_may_succeed(const error& why) noexcept;

}  // namespace hearonce::work
