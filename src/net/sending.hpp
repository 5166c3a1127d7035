// The head and the body of a request, written while the answer is already awaited.
//
// Holds: start_sending(), sending_ended(). Next file: receiving.hpp.
#pragma once

#include <net/conversation.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>

namespace hearonce::net {

// Head and body go out over the conversation's connection; the coroutine that does it is owned by the conversation: closing
// the connection ends it.
void start_sending(std::shared_ptr<conversation> talk);

// Waits until nothing uses the request's body any more, at most to the call's deadline. False: it is still in use.
boost::asio::awaitable<bool> sending_ended(std::shared_ptr<conversation> talk);

}  // namespace hearonce::net
