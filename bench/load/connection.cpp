// Next file: percentiles.hpp.
#include <bench/load/connection.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace hearonce::load {
namespace {

constexpr std::size_t receive_bytes = 64 * 1024;
constexpr timeval patience{30, 0};

// The value of a header of the head, any case; empty: none.
std::string_view header_of(std::string_view head, std::string_view name) {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    const auto found = std::search(head.begin(), head.end(), name.begin(), name.end(), same);
    if (found == head.end()) return {};
    auto value = head.substr(static_cast<std::size_t>(found - head.begin()) + name.size());
    value = value.substr(0, value.find("\r\n"));
    return value.substr(std::min(value.find_first_not_of(' '), value.size()));
}

}  // namespace

connection::connection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (socket_ < 0 || ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
        throw std::runtime_error(std::string("cannot connect: ") + std::strerror(errno));
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

connection::~connection() {
    if (socket_ >= 0) ::close(socket_);
}

void connection::send(std::string_view bytes) const {
    while (!bytes.empty()) {
        const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) throw std::runtime_error("the connection broke while sending");
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void connection::receive() {
    char room[receive_bytes];
    const auto got = ::recv(socket_, room, sizeof room, 0);
    if (got <= 0) throw std::runtime_error("the connection broke, or no answer came in time");
    received_.append(room, static_cast<std::size_t>(got));
}

connection::answer connection::ask(std::string_view request) {
    send(request);
    std::size_t head_end = 0;
    while ((head_end = received_.find("\r\n\r\n")) == std::string::npos) receive();
    const std::string_view head(received_.data(), head_end + 2);
    answer got;
    std::from_chars(head.data() + 9, head.data() + 12, got.status);
    const auto length = header_of(head, "\r\ncontent-length:");
    std::size_t body_bytes = 0;
    if (std::from_chars(length.data(), length.data() + length.size(), body_bytes).ec != std::errc())
        throw std::runtime_error("an answer without Content-Length");
    while (received_.size() < head_end + 4 + body_bytes) receive();
    got.body = received_.substr(head_end + 4, body_bytes);
    received_.erase(0, head_end + 4 + body_bytes);
    return got;
}

}  // namespace hearonce::load
