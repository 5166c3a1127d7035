// From an upstream's refusal to the error a caller gets and the line the operator reads. Pure.
//
// Holds: error_of_answer(). Next files: refusal.hpp, then backends/cloud/failure.hpp for what is every provider's.
#pragma once

#include <backends/cloud/failure.hpp>
#include <net/one_call.hpp>

namespace hearonce::openai {

using cloud::failed;
using cloud::key_terms;

// Any status but 2xx. A 4xx about the request keeps its status and message; what is not JSON is never told on.
failed error_of_answer(const net::http_answer& answer, const key_terms& terms);

}  // namespace hearonce::openai
