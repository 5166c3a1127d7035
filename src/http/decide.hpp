// What is decided between an upload's end and its flight's start.
//
// Holds: decided, decide(), release_name(). Called by transcriptions.cpp. Next file: src/work/flights.hpp.
#pragma once

#include <http/identity.hpp>
#include <http/receive.hpp>
#include <http/render.hpp>
#include <http/services.hpp>

#include <memory>
#include <string>

namespace hearonce::http {

// Which work a caller asks for, and how it wants the answer.
struct decided {
    work::flight_plan plan;
    work::work_key key;                 // Also in the plan, which goes to the flight.
    std::optional<sha256_digest> name;  // Of the Idempotency-Key, likewise.
    shape wanted;
    bool stream = false;
    enter_as how = enter_as::usual;
};

// Checks the announced hash, chooses the route, makes the key and claims the Idempotency-Key. `keys`: the caller's own under
// `own-key`, null in every other mode, where no credential of a caller goes any further.
result<decided> decide(services& parts, const caller_words& words, const std::string& principal, std::shared_ptr<const caller_keys> keys,
                       received upload);

// The caller got no result: its Idempotency-Key may stand for other work.
void release_name(services& parts, const decided& asked);

}  // namespace hearonce::http
