// GET /health/live and /health/ready.
//
// Holds: live_answer(), ready_answer(). Pure. Next file: stats.hpp.
#pragma once

#include <http/exchange.hpp>
#include <http/models_answer.hpp>

#include <span>

namespace hearonce::http {

// 200 {"status":"ok"}: the process answers. Never the bare word OK, which some clients take for another product.
response live_answer();

// 200 when at least one backend can take work, else 503; always 503 while draining. The body names every backend, whether it
// is ready, and why not: {"status":"ready|not_ready|draining","backends":[{"name":"local","ready":false,"reason":"…"}]}.
response ready_answer(std::span<const listed_backend> backends, bool draining);

}  // namespace hearonce::http
