// The gateway's end of the socket: frames out, with a descriptor where one goes along, and messages in.
//
// Holds: channel. Runs on one executor. Next file: engine.hpp.
#pragma once

#include <backends/whisper/process.hpp>
#include <backends/whisper/protocol.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace hearonce::whisper {

class channel : public std::enable_shared_from_this<channel> {
public:
    // `heard` is called for each message, `lost` once when the other side closed, failed or said nonsense; neither after
    // close(). Both on the executor, never from inside start() or send().
    channel(boost::asio::any_io_executor executor, owned_descriptor socket, std::function<void(message)> heard,
            std::function<void(std::string)> lost);

    void start() { read(); }
    // Sends what it can at once, the rest when the socket takes it. Failures show as `lost`. False: the message does not fit
    // into a frame and is not sent; all else goes on.
    bool send(const message& what, owned_descriptor along = {});
    void close();

private:
    struct outgoing {
        std::string frame;
        owned_descriptor along;
        std::size_t sent = 0;
    };

    void read();
    void take(std::string_view bytes);
    void write();
    bool write_some(outgoing& first);
    void lose(std::string why);

    boost::asio::local::stream_protocol::socket socket_;
    std::function<void(message)> heard_;
    std::function<void(std::string)> lost_;
    frame_reader frames_;
    std::deque<outgoing> outgoing_;
    bool waiting_to_write_ = false;
    std::array<char, 64UL << 10> room_;
};

}  // namespace hearonce::whisper
