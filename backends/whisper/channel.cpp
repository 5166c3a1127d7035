// sendmsg() with SCM_RIGHTS by hand, since Asio has no operation for descriptors; reading and waiting by Asio.
// Next file: engine.cpp.
#include <backends/whisper/channel.hpp>

#include <boost/asio/buffer.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace hearonce::whisper {

namespace asio = boost::asio;

channel::channel(asio::any_io_executor executor, owned_descriptor socket, std::function<void(message)> heard,
                 std::function<void(std::string)> lost)
    : socket_(executor, asio::local::stream_protocol(), socket.release()), heard_(std::move(heard)), lost_(std::move(lost)) {}

void channel::close() {
    heard_ = nullptr;
    lost_ = nullptr;
    outgoing_.clear();
    boost::system::error_code ignored;
    socket_.close(ignored);
}

void channel::lose(std::string why) {
    const auto told = std::exchange(lost_, nullptr);
    close();
    if (told) told(std::move(why));
}

void channel::read() {
    socket_.async_read_some(asio::buffer(room_), [self = shared_from_this()](boost::system::error_code ec, std::size_t n) {
        if (!self->lost_) return;
        if (ec) return self->lose("It closed its socket.");
        self->take({self->room_.data(), n});
        if (self->lost_) self->read();
    });
}

void channel::take(std::string_view bytes) {
    frames_.feed(bytes);
    std::string_view payload;
    for (;;) {
        const frame_reader::state next = frames_.next(payload);
        if (next == frame_reader::state::more) return;
        auto what = next == frame_reader::state::frame ? decode(payload) : std::nullopt;
        if (!what) return lose("It spoke nonsense.");
        // The listener may close this channel, and with it the function that is running.
        const auto heard = heard_;
        heard(std::move(*what));
        if (!lost_) return;
    }
}

bool channel::send(const message& what, owned_descriptor along) {
    if (!lost_) return true;
    std::string frame = encode(what);
    if (frame.empty()) return false;
    outgoing_.push_back({std::move(frame), std::move(along), 0});
    if (!waiting_to_write_) write();
    return true;
}

void channel::write() {
    while (!outgoing_.empty() && write_some(outgoing_.front())) {
        if (outgoing_.front().sent == outgoing_.front().frame.size()) outgoing_.pop_front();
    }
    if (outgoing_.empty()) return;
    waiting_to_write_ = true;
    socket_.async_wait(asio::socket_base::wait_write, [self = shared_from_this()](boost::system::error_code ec) {
        self->waiting_to_write_ = false;
        // A dead socket is found by the reader as well.
        if (!ec && self->lost_) self->write();
    });
}

// False: the socket takes no more now, or is dead.
bool channel::write_some(outgoing& first) {
    iovec piece{first.frame.data() + first.sent, first.frame.size() - first.sent};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    if (first.along) {
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        const int fd = first.along.get();
        std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    }
    const ssize_t n = ::sendmsg(socket_.native_handle(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
        if (errno == EINTR) return true;
        if (errno != EAGAIN && errno != EWOULDBLOCK) outgoing_.clear();
        return false;
    }
    first.along.reset();
    first.sent += static_cast<std::size_t>(n);
    return true;
}

}  // namespace hearonce::whisper
