// One flight's calls, one after the other, until one succeeds or the policy says that it is over.
//
// Holds: station, attempts_end, dispatch_order, dispatch_run. Made by dispatcher.cpp; asks dispatch_policy.hpp what follows.
// Next file: the backend's own: backends/openai/openai_backend.hpp, backends/gemini/gemini_backend.hpp or
// backends/whisper/whisper_backend.hpp.
#pragma once

#include <hearonce/backend.hpp>
#include <observe/metrics.hpp>
#include <work/circuit.hpp>
#include <work/dispatch_policy.hpp>
#include <work/in_flight.hpp>
#include <work/route.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hearonce::work {

// A backend and what all flights to it share.
struct station {
    explicit station(std::shared_ptr<backend> one) : at(std::move(one)), circuit(std::string(at->name())), places(at->in_flight_max()) {}

    std::shared_ptr<backend> at;
    breaker circuit;
    in_flight places;
};

// What came of trying: the transcript or the failure that tells most, and the backend it came from (empty: none).
struct attempts_end {
    result<transcript> heard{error(errc::internal_error)};
    std::string backend;
    unsigned calls = 0;  // Made by this flight, over all backends. What was turned away before it was sent is none.
};

// One flight's work and its terms.
struct dispatch_order {
    std::vector<station*> stations;  // In the route's order.
    std::vector<credentials> terms;  // As many, or none.
    std::shared_ptr<const recording> audio;
    transcription_request request;
    deadline limit = deadline::never();
    std::shared_ptr<delta_log> deltas;
    unsigned spent = 0;  // Attempts the client has made itself.
};

// Lives in the frame of the coroutine that awaits run(), once.
class dispatch_run {
public:
    // `rule` and `counted` must outlive this.
    dispatch_run(dispatch_order order, const retry_rule& rule, observe::metrics& counted);

    // Ends by the order's limit. Cancelling (terminal) ends it promptly, pauses and lines included, with errc::cancelled.
    boost::asio::awaitable<attempts_end> run();

private:
    using step = dispatch_policy::step;

    struct called {
        result<transcript> heard;
        bool was_asked = true;  // False: its circuit let nobody in.
    };
    // One call, from the place in line to the count of its end.
    boost::asio::awaitable<called> call(std::size_t which);
    boost::asio::awaitable<result<transcript>> ask(std::size_t which);
    result<void> visit(std::size_t which);
    attempt terms_of(std::size_t which) const;
    step after(called made, std::size_t which);
    void leave(const result<transcript>& heard, const backend& from);
    attempts_end ended(step last);

    dispatch_order order_;
    observe::metrics& counted_;
    const deadline::time_point began_;
    const std::vector<deadline> limits_;
    dispatch_policy policy_;
    std::optional<breaker::pass> stay_;  // At the backend that is called now, for all its attempts.
    attempts_end end_{};
};

}  // namespace hearonce::work
