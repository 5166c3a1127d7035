// The flights of this gateway: work keys to transcripts, and what one flight does from its start to its end.
//
// Holds: flight_end, flights, flight_table_settings(), flight_plan, fly(). Entered by src/http/transcriptions.cpp. Next file:
// dispatcher.hpp.
#pragma once

#include <hearonce/single_flight.hpp>
#include <observe/metrics.hpp>
#include <work/dispatcher.hpp>
#include <work/gate.hpp>
#include <work/idempotency.hpp>
#include <work/work_key.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace hearonce::work {

// How a flight ended, for everyone who waited on it.
struct flight_end {
    result<transcript> heard{error(errc::internal_error)};
    std::string backend;                    // The one that answered, or whose failure this is; empty: none's.
    std::chrono::microseconds upstream{0};  // Time the backends took, queues included.
    bool retried = false;                   // More than one call was made.
};

using flights = single_flight<work_key, flight_end>;

// The table's settings from the configuration's. Kept is what has text: an empty result of processed audio is served but may
// come from a fault, so it is asked for again.
flights::settings flight_table_settings(std::chrono::milliseconds ttl, std::chrono::milliseconds abandon_grace,
                                        std::size_t cache_bytes_max);

// Everything one flight needs; owned by its coroutine. A caller's keys in `chosen` are wiped when it ends, and those of a
// caller who only joins as soon as that is known.
struct flight_plan {
    route chosen;
    std::shared_ptr<const recording> audio;
    transcription_request request;
    deadline limit = deadline::never();
    work_key key;
    std::shared_ptr<delta_log> deltas;  // Where the pieces go, when the caller that led reads along.
    unsigned attempts_spent = 0;        // By the client that led, as it says.
    std::optional<sha256_digest> name;  // Of the Idempotency-Key that led here; freed by a failure.
};

// The work itself: asks the route's backends and counts how it ended. Never throws: an exception of a backend is an
// internal_error to everyone who waits, told to the log alone. `inside` tells the parts' owner when they are no longer used.
boost::asio::awaitable<flight_end> fly(flight_plan plan, gate::pass inside, const dispatcher& asked, idempotency_table& names,
                                       observe::metrics& counted);

}  // namespace hearonce::work
