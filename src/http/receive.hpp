// From the body of an upload to a recording and its settings.
//
// Holds: received, receive(). Called by transcriptions.cpp; drives upload.hpp (parse, hash, spool). Next file: upload.hpp.
#pragma once

#include <http/exchange.hpp>
#include <http/services.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>

namespace hearonce::http {

struct received {
    std::shared_ptr<const recording> audio;
    transcription_request request;
};

// Refuses from the headers what can be refused there (415, 413, 503), else reads the body to its end.
// `announced_duration` is the caller's word and goes before what the container says. errc::body_cut: the connection is gone.
boost::asio::awaitable<result<received>> receive(exchange& request, services& parts, task wanted,
                                                 std::optional<std::chrono::milliseconds> announced_duration, access_notes& notes);

}  // namespace hearonce::http
