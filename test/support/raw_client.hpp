// A client that sends exactly the bytes it is told to: tests of the whole gateway speak through it.
#pragma once

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::test {

struct raw_answer {
    int status = 0;
    std::map<std::string, std::string> headers;  // Names in lower case; the last of a repeated one.
    std::string body;
    std::string head;  // As received.

    std::string header(const std::string& name) const {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string() : found->second;
    }
};

struct form_part {
    std::string name;
    std::string value;
    std::optional<std::string> file_name;
    std::string type;
};

// A multipart/form-data body in the order given.
inline std::string form_body(const std::string& boundary, const std::vector<form_part>& parts) {
    std::string body;
    for (const auto& part : parts) {
        body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + part.name + "\"";
        if (part.file_name) body += "; filename=\"" + *part.file_name + "\"";
        if (!part.type.empty()) body += "\r\nContent-Type: " + part.type;
        body += "\r\n\r\n" + part.value + "\r\n";
    }
    return body + "--" + boundary + "--\r\n";
}

// One connection, blocking, each call bounded by SO_RCVTIMEO/SO_SNDTIMEO so that a hang fails the test instead of CI.
class raw_client {
public:
    explicit raw_client(std::uint16_t port, std::chrono::seconds limit = std::chrono::seconds(30)) : socket_(context_) {
        socket_.connect({boost::asio::ip::address_v4::loopback(), port});
        const timeval bound{static_cast<time_t>(limit.count()), 0};
        ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
        ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
    }

    void send(std::string_view bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes.data(), bytes.size())); }

    // The next answer with its body, by Content-Length or to the end of the stream. `head_only`: after a HEAD request.
    raw_answer read_answer(bool head_only = false) {
        raw_answer answer;
        for (;;) {
            const auto end = kept_.find("\r\n\r\n");
            if (end != std::string::npos) {
                answer.head = kept_.substr(0, end + 2);
                kept_.erase(0, end + 4);
                break;
            }
            if (!more()) throw std::runtime_error("the connection ended before an answer; got: " + kept_);
        }
        parse_head(answer);
        if (head_only || answer.status == 204 || answer.status < 200) return answer;
        const auto length = answer.headers.find("content-length");
        if (length == answer.headers.end()) {
            while (more()) {
            }
            answer.body = std::move(kept_);
            kept_.clear();
            return answer;
        }
        const auto want = std::stoul(length->second);
        while (kept_.size() < want) {
            if (!more()) throw std::runtime_error("the connection ended within a body");
        }
        answer.body = kept_.substr(0, want);
        kept_.erase(0, want);
        return answer;
    }

    // True if the peer closes without another byte.
    bool closes() { return kept_.empty() && !more(); }

    void shutdown_send() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }
    void close() { socket_.close(); }
    // Closes with RST instead of FIN.
    void reset() {
        socket_.set_option(boost::asio::socket_base::linger(true, 0));
        socket_.close();
    }

private:
    bool more() {
        char piece[16384];
        const auto got = ::recv(socket_.native_handle(), piece, sizeof piece, 0);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) throw std::runtime_error("no answer in time; got: " + kept_.substr(0, 200));
        if (got <= 0) return false;
        kept_.append(piece, static_cast<std::size_t>(got));
        return true;
    }

    static void parse_head(raw_answer& answer) {
        answer.status = std::stoi(answer.head.substr(9, 3));
        std::size_t at = answer.head.find("\r\n") + 2;
        while (at < answer.head.size()) {
            const auto end = answer.head.find("\r\n", at);
            const auto line = answer.head.substr(at, end - at);
            at = end + 2;
            const auto colon = line.find(':');
            auto name = line.substr(0, colon);
            std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            auto value = line.substr(colon + 1);
            value.erase(0, value.find_first_not_of(' '));
            answer.headers[name] = value;
        }
    }

    boost::asio::io_context context_;
    boost::asio::ip::tcp::socket socket_;
    std::string kept_;
};

// One whole POST of a form; `headers` are extra lines, each ended by CRLF.
inline std::string post_form(const std::string& path, const std::string& body, const std::string& boundary, const std::string& headers = {}) {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=" + boundary +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

inline raw_answer post(std::uint16_t port, const std::string& path, const std::vector<form_part>& parts, const std::string& headers = {},
                       const std::string& boundary = "xYz123") {
    raw_client client(port);
    client.send(post_form(path, form_body(boundary, parts), boundary, headers));
    return client.read_answer();
}

inline raw_answer get(std::uint16_t port, const std::string& path, const std::string& headers = {}) {
    raw_client client(port);
    client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    return client.read_answer();
}

}  // namespace hearonce::test
