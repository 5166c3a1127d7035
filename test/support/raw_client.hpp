// A client that sends exactly the bytes it is told to and shows exactly what comes back. Blocking, with a limit on every wait.
//
// Holds: raw_client, raw_answer.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearonce::test {

struct raw_answer {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.
    std::string body;
    bool complete = false;  // The framing said that this is all.

    std::string header(std::string_view name) const {
        for (const auto& [key, value] : headers) {
            if (key == name) return value;
        }
        return {};
    }
    bool has(std::string_view name) const {
        return std::ranges::any_of(headers, [name](const auto& one) { return one.first == name; });
    }
};

class raw_client {
public:
    using milliseconds = std::chrono::milliseconds;
    enum class end_kind { closed, reset, open };  // open: nothing came within the limit.

    explicit raw_client(std::uint16_t port, int receive_buffer_bytes = 0) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (receive_buffer_bytes > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
        if (socket_ < 0 || ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
            if (socket_ >= 0) ::close(std::exchange(socket_, -1));
            throw std::runtime_error("cannot connect");
        }
        int on = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    ~raw_client() { close(); }
    raw_client(const raw_client&) = delete;
    raw_client& operator=(const raw_client&) = delete;

    int descriptor() const noexcept { return socket_; }
    // Its own, which the server sees as the peer's.
    std::uint16_t port() const noexcept {
        sockaddr_in own{};
        socklen_t size = sizeof own;
        if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
        return ntohs(own.sin_port);
    }

    // False: the connection is broken.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    void end_sending() { ::shutdown(socket_, SHUT_WR); }
    void close() {
        if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    }
    void reset() {
        linger hard{1, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        close();
    }

    // One answer; to_head: the request was HEAD. 1xx answers are returned like others.
    raw_answer answer(bool to_head = false, milliseconds limit = milliseconds(10'000)) {
        raw_answer got;
        auto until = std::chrono::steady_clock::now() + limit;
        std::size_t end = std::string::npos;
        while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
            if (!more(until)) return got;
        }
        parse_head(got, received_.substr(0, end + 2));
        received_.erase(0, end + 4);
        if (to_head || got.status < 200 || got.status == 204 || got.status == 304) {
            got.complete = true;
        } else if (got.header("transfer-encoding") == "chunked") {
            read_chunks(got, until);
        } else if (got.has("content-length")) {
            auto length = std::stoul(got.header("content-length"));
            while (received_.size() < length && more(until)) {
            }
            got.body = received_.substr(0, length);
            got.complete = got.body.size() == length;
            received_.erase(0, got.body.size());
        } else {
            while (more(until)) {
            }
            got.body = std::exchange(received_, {});
            got.complete = last_ == end_kind::closed;
        }
        return got;
    }

    // Waits until `text` is among the bytes not yet taken; false when it does not come within the limit.
    bool wait_for(std::string_view text, milliseconds limit = milliseconds(10'000)) {
        auto until = std::chrono::steady_clock::now() + limit;
        while (received_.find(text) == std::string::npos) {
            if (!more(until)) return false;
        }
        return true;
    }

    // Waits for the server to end the connection; bytes that come meanwhile are kept.
    end_kind wait_end(milliseconds limit = milliseconds(10'000)) {
        auto until = std::chrono::steady_clock::now() + limit;
        while (more(until)) {
        }
        return last_;
    }
    // Whether something (bytes or the end) comes within the limit.
    bool anything(milliseconds limit) {
        pollfd one{socket_, POLLIN, 0};
        return ::poll(&one, 1, static_cast<int>(limit.count())) > 0;
    }
    // What was received and not yet taken.
    const std::string& rest() const noexcept { return received_; }

private:
    bool more(std::chrono::steady_clock::time_point until) {
        auto left = std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
        last_ = end_kind::open;
        if (left.count() <= 0 || !anything(left)) return false;
        char buffer[16384];
        auto got = ::recv(socket_, buffer, sizeof buffer, 0);
        if (got > 0) {
            received_.append(buffer, static_cast<std::size_t>(got));
            return true;
        }
        last_ = got == 0 ? end_kind::closed : end_kind::reset;
        return false;
    }
    static void parse_head(raw_answer& got, std::string_view head) {
        auto line = head.substr(0, head.find("\r\n"));
        if (line.size() >= 12 && line.starts_with("HTTP/1.")) got.status = std::stoi(std::string(line.substr(9, 3)));
        head.remove_prefix(std::min(head.size(), line.size() + 2));
        while (!head.empty()) {
            line = head.substr(0, head.find("\r\n"));
            head.remove_prefix(std::min(head.size(), line.size() + 2));
            auto colon = line.find(": ");
            if (colon == std::string_view::npos) continue;
            std::string name(line.substr(0, colon));
            std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            got.headers.emplace_back(std::move(name), std::string(line.substr(colon + 2)));
        }
    }
    void read_chunks(raw_answer& got, std::chrono::steady_clock::time_point until) {
        for (;;) {
            std::size_t eol = std::string::npos;
            while ((eol = received_.find("\r\n")) == std::string::npos) {
                if (!more(until)) return;
            }
            auto size = std::stoul(received_.substr(0, eol), nullptr, 16);
            while (received_.size() < eol + 2 + size + 2) {
                if (!more(until)) return;
            }
            got.body += received_.substr(eol + 2, size);
            received_.erase(0, eol + 2 + size + 2);
            if (size == 0) {
                got.complete = true;
                return;
            }
        }
    }

    int socket_;
    std::string received_;
    end_kind last_ = end_kind::open;
};

}  // namespace hearonce::test
