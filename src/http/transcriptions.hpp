// POST /v1/audio/transcriptions and /v1/audio/translations: the endpoint the gateway exists for.
//
// Holds: transcribe(). Called by router.cpp. It reads the upload (receive.hpp), makes the work key, enters the flight
// (src/work/flights.hpp) and renders what comes back (render.hpp). Next file: receive.hpp.
#pragma once

#include <http/exchange.hpp>
#include <http/services.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>

namespace hearonce::http {

// `principal`: of an authenticated mode; empty where nothing authenticates. Errors without a status (caller_left, body_cut)
// mean that nobody is there to read an answer.
boost::asio::awaitable<result<response>> transcribe(exchange& request, services& parts, task wanted, std::string principal,
                                                    access_notes& notes);

}  // namespace hearonce::http
