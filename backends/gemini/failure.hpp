// From google.rpc's error model to the error a caller gets and the line the operator reads. Pure.
//
// Holds: failure_of_answer(), failure_of_record(), error_in(). Next file: backends/cloud/failure.hpp, for what is every
// provider's.
#pragma once

#include <backends/cloud/failure.hpp>
#include <net/one_call.hpp>

#include <boost/json/object.hpp>

#include <string_view>

namespace hearonce::gemini {

using cloud::failed;
using cloud::key_terms;

// Any status but 200. What is not JSON is never told on.
failed failure_of_answer(const net::http_answer& answer, std::string_view body, const key_terms& terms);

// The `error` member of a record within a stream that began well.
failed failure_of_record(const boost::json::object& error, const key_terms& terms);

// The object with the error in it: {"error":{…}} or, of a stream that was not asked for as events, [{"error":{…}}].
// nullptr: neither.
const boost::json::object* error_in(const boost::json::value& body) noexcept;

}  // namespace hearonce::gemini
