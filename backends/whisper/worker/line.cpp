// sendmsg() and SCM_RIGHTS by hand. Next file: serve.cpp.
#include <backends/whisper/worker/line.hpp>

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace hearonce::whisper {
namespace {

constexpr std::size_t receive_bytes = 64UL << 10;
constexpr std::size_t descriptors_per_read = 16;

}  // namespace

void line::send(const message& what) {
    const std::string frame = encode(what);
    const std::lock_guard lock(writing_);
    for (std::size_t sent = 0; sent < frame.size();) {
        const ssize_t n = ::send(fd_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) ::_exit(0);  // The gateway is gone.
        sent += static_cast<std::size_t>(n);
    }
}

bool line::receive(std::string& bytes, std::deque<std::unique_ptr<descriptor>>& descriptors) {
    std::array<char, receive_bytes> room;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(descriptors_per_read * sizeof(int))> control;
    iovec piece{room.data(), room.size()};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    ssize_t n = 0;
    do {
        n = ::recvmsg(fd_, &header, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
        if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(each) + i * sizeof fd, sizeof fd);
            descriptors.push_back(std::make_unique<descriptor>(fd));
        }
    }
    bytes.assign(room.data(), static_cast<std::size_t>(n));
    return true;
}

}  // namespace hearonce::whisper
