// The answer, as it arrives.
//
// Holds: received, receive(). Next file: call_failure.cpp.
#pragma once

#include <net/conversation.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>

namespace hearonce::net {

struct received {
    http_answer answer;
    bool reusable = false;  // The answer's own end is known and nothing came after it; the peer keeps the connection.
};

// Reads interim answers and the final one. nullopt: it failed, and `why` says how.
boost::asio::awaitable<std::optional<received>> receive(std::shared_ptr<conversation> talk, std::shared_ptr<call_failure> why);

}  // namespace hearonce::net
