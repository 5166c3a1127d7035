// One call to the upstream: the form goes out, the answer comes back whole or in events.
//
// Holds: upstream_order, upstream_end, call_upstream(). Next files: request_form.hpp, then answer.hpp and events.hpp.
#pragma once

#include <hearonce/backend.hpp>
#include <net/one_call.hpp>

#include <memory>
#include <string>

namespace hearonce::openai {

// Where to, and as whom.
struct upstream_order {
    net::http_url base;
    net::tls_context tls;
    std::string upstream_model;
    std::shared_ptr<const secret> key;  // Never null; empty: none is sent.
    bool callers_key = false;
};

struct upstream_end {
    result<transcript> heard{error(errc::internal_error)};
    std::string log;  // For the operator; may be empty.
};

// Runs on the calling coroutine's executor. Tells pieces to `terms.deltas` where the model streams; one that answers in one
// piece all the same is a success of one piece.
boost::asio::awaitable<upstream_end> call_upstream(upstream_order order, std::shared_ptr<const recording> audio,
                                                   transcription_request request, attempt terms);

}  // namespace hearonce::openai
