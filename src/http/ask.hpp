// GET on the transcription paths: asks for work before a recording is sent again.
//
// Holds: ask_of(). Called by transcriptions.cpp in place of receive.hpp. Next file: decide.hpp.
//
// Every form field but the file is a query parameter of the same name; `sha256` stands for the file. What is found is the
// caller's own, as it would be by an upload: principal and device are inside the work key, so foreign work and unknown work are
// the same to whoever asks.
#pragma once

#include <http/identity.hpp>
#include <http/receive.hpp>

namespace hearonce::http {

// A recording without bytes, for the key alone, and the request. Errors as form::finish(), and
//   errc::invalid_parameter  `sha256` is missing, repeated or not 64 hex digits; the query is not validly encoded
result<received> ask_of(const request_head& head, const caller_words& words, task wanted);

}  // namespace hearonce::http
