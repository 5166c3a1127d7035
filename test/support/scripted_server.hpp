// A server that does exactly what a test says: how much it reads, what it writes, how it ends. One thread, blocking, each
// wait bounded, so that a hang fails the test instead of CI.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

namespace hearonce::test {

// What is done with one connection.
struct scripted_reply {
    enum class end { close, reset, hold, keep };  // keep: the next reply is the same connection's.

    std::size_t body_bytes = std::numeric_limits<std::size_t>::max();  // Of the request's body to read first; all by default.
    bool read_head = true;
    std::vector<std::string> pieces;     // Written one after the other.
    std::chrono::milliseconds pause{0};  // Before each piece but the first; cut short when the peer goes.
    std::function<void()> after;         // Called when the pieces are written, before the end.
    end then = end::close;
    bool close_notify = true;  // TLS: say goodbye before closing.
};

inline scripted_reply answering(std::string text) {
    scripted_reply made;
    made.pieces.push_back(std::move(text));
    return made;
}

inline std::string http_text(int status, const std::string& type, const std::string& body) {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

class scripted_server {
public:
    using tcp = boost::asio::ip::tcp;

    explicit scripted_server(std::vector<scripted_reply> replies, boost::asio::ssl::context* tls = nullptr)
        : replies_(std::move(replies)),
          tls_(tls),
          acceptor_(context_, {boost::asio::ip::address_v4::loopback(), 0}),
          port_(acceptor_.local_endpoint().port()),
          thread_([this] { run(); }) {}
    scripted_server(const scripted_server&) = delete;
    scripted_server& operator=(const scripted_server&) = delete;
    ~scripted_server() {
        stopped_ = true;
        // Wakes the thread out of accept or read; the descriptors are closed by the thread that uses them.
        ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
        {
            const std::lock_guard lock(mutex_);
            if (held_ >= 0) ::shutdown(held_, SHUT_RDWR);
        }
        thread_.join();
    }

    std::uint16_t port() const { return port_; }
    std::string url(const std::string& path = {}, const std::string& host = "127.0.0.1") const {
        return (tls_ ? "https://" : "http://") + host + ":" + std::to_string(port_) + path;
    }

    // The nth request as far as it was read, once it was; empty after 20 s.
    std::string request(std::size_t index) {
        std::unique_lock lock(mutex_);
        arrived_.wait_for(lock, std::chrono::seconds(20), [&] { return requests_.size() > index; });
        return requests_.size() > index ? requests_[index] : std::string();
    }
    std::size_t connections() const { return connections_; }
    // When the nth connection was over for the server; waits for it up to 20 s.
    std::chrono::steady_clock::time_point ended(std::size_t index) {
        std::unique_lock lock(mutex_);
        arrived_.wait_for(lock, std::chrono::seconds(20), [&] { return ended_.size() > index; });
        return ended_.size() > index ? ended_[index] : std::chrono::steady_clock::time_point::max();
    }
    std::size_t requests() {
        const std::lock_guard lock(mutex_);
        return requests_.size();
    }

private:
    void run() {
        for (std::size_t next = 0; next < replies_.size();) {
            boost::system::error_code ec;
            tcp::socket socket(context_);
            acceptor_.accept(socket, ec);
            if (ec || stopped_) return;
            ++connections_;
            const timeval bound{20, 0};
            ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
            ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
            hold(socket.native_handle());
            if (tls_) {
                boost::asio::ssl::stream<tcp::socket&> stream(socket, *tls_);
                stream.handshake(boost::asio::ssl::stream_base::server, ec);
                const scripted_reply* last = ec ? &replies_[next++] : serve_all(stream, socket, next);
                if (!ec && last->close_notify && last->then == scripted_reply::end::close) stream.shutdown(ec);
            } else {
                serve_all(socket, socket, next);
            }
            hold(-1);
            socket.close(ec);
            const std::lock_guard lock(mutex_);
            ended_.push_back(std::chrono::steady_clock::now());
            arrived_.notify_all();
        }
    }

    template <class Stream>
    const scripted_reply* serve_all(Stream& stream, tcp::socket& socket, std::size_t& next) {
        for (;;) {
            const scripted_reply& reply = replies_[next++];
            serve(stream, socket, reply);
            if (reply.then != scripted_reply::end::keep) return &reply;
            if (next == replies_.size()) {
                wait_for_goodbye(socket, 20'000);
                return &reply;
            }
        }
    }

    void hold(int descriptor) {
        const std::lock_guard lock(mutex_);
        held_ = descriptor;
    }

    template <class Stream>
    void serve(Stream& stream, tcp::socket& socket, const scripted_reply& reply) {
        boost::system::error_code ec;
        read_request(stream, reply);
        for (const std::string& piece : reply.pieces) {
            if (reply.pause.count() > 0 && &piece != reply.pieces.data()) wait_for_goodbye(socket, static_cast<int>(reply.pause.count()));
            boost::asio::write(stream, boost::asio::buffer(piece), ec);
            if (ec) break;
        }
        if (reply.after) reply.after();
        if (reply.then == scripted_reply::end::hold) {
            // Until the peer goes; what it still sends is left where it is.
            char byte = 0;
            while (!stopped_ && ::recv(socket.native_handle(), &byte, 1, MSG_PEEK) > 0) {
                const std::size_t waiting = socket.available(ec);
                std::vector<char> sink(reply.body_bytes == 0 ? 0 : waiting);
                if (sink.empty()) {
                    wait_for_goodbye(socket, 20'000);
                    break;
                }
                socket.read_some(boost::asio::buffer(sink), ec);
            }
        }
        if (reply.then == scripted_reply::end::reset) {
            socket.set_option(boost::asio::socket_base::linger(true, 0), ec);
            socket.close(ec);
        }
    }

    // Does not read, so the peer's sending comes to a stop; ends when the peer closes.
    void wait_for_goodbye(tcp::socket& socket, int most_ms) {
        pollfd watched{socket.native_handle(), POLLRDHUP, 0};
        for (int waited = 0; waited < most_ms && !stopped_; waited += 100) {
            if (::poll(&watched, 1, std::min(most_ms - waited, 100)) != 0) return;
        }
    }

    template <class Stream>
    void read_request(Stream& stream, const scripted_reply& reply) {
        std::string text;
        std::size_t wanted = reply.read_head ? std::string::npos : 0;
        boost::system::error_code ec;
        std::vector<char> buffer(64 * 1024);
        while (text.size() < wanted && !ec) {
            const std::size_t most = reply.body_bytes == 0 ? 1 : buffer.size();
            const std::size_t got = stream.read_some(boost::asio::buffer(buffer.data(), most), ec);
            text.append(buffer.data(), got);
            const auto head = text.find("\r\n\r\n");
            if (head != std::string::npos && wanted == std::string::npos)
                wanted = head + 4 + std::min(reply.body_bytes, content_length(text.substr(0, head)));
        }
        const std::lock_guard lock(mutex_);
        requests_.push_back(std::move(text));
        arrived_.notify_all();
    }

    static std::size_t content_length(const std::string& head) {
        const auto at = head.find("Content-Length: ");
        return at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
    }

    std::vector<scripted_reply> replies_;
    boost::asio::ssl::context* tls_;
    boost::asio::io_context context_;
    tcp::acceptor acceptor_;
    std::uint16_t port_;
    std::atomic<bool> stopped_ = false;
    std::atomic<std::size_t> connections_ = 0;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<std::string> requests_;
    std::vector<std::chrono::steady_clock::time_point> ended_;
    int held_ = -1;
    std::thread thread_;  // Last: it uses everything above.
};

}  // namespace hearonce::test
