// One call while it runs: what the coroutine that receives and the one that sends share.
//
// Holds: conversation. Next file: sending.hpp.
#pragma once

#include <net/connection.hpp>
#include <net/one_call.hpp>
#include <net/watchdog.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace hearonce::net {

// Shared by both coroutines, as the sender may end an instant after the call. Closing the connection ends both.
struct conversation {
    conversation(const boost::asio::any_io_executor& executor, call_request asked, call_limits bounds);
    conversation(const conversation&) = delete;
    conversation& operator=(const conversation&) = delete;

    // Over `other`, from the first byte of head and body.
    void begin(std::shared_ptr<connection> other, bool is_fresh);
    // The connection is of no more use. Ends the sender, too.
    void close() noexcept;
    call_failure failure(const boost::system::error_code& ec) const;
    // A kept connection that turned out to be dead: nothing of an answer came, and neither side of this call ended it.
    bool given_up_by_peer(const call_failure& why) const noexcept;

    call_request request;
    call_limits limits;
    std::string head;
    std::shared_ptr<watchdog> watch;
    std::shared_ptr<connection> link;
    call_stage stage = call_stage::connecting;
    bool fresh = true;
    bool all_sent = false;
    bool sender_ended = true;
    bool answer_seen = false;  // At least one byte came back, of an interim answer too.
    bool answered = false;     // The answer was read as a whole.
    bool sink_stopped = false;
    std::string body_failure;
    std::string distrust;            // Why the peer's certificate was not believed.
    boost::asio::steady_timer sent;  // Cancelled when the sender has ended.
};

}  // namespace hearonce::net
