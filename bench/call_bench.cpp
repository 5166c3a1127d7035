// What an outbound call costs its event loop: 32 KiB posted over loopback, kept alive or not, plain and through TLS, collected
// and in pieces. The peer is a thread of its own, so that CPU is the caller's alone.
#include <net/framed_recording_body.hpp>
#include <net/one_call.hpp>
#include <test/support/certificate.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <benchmark/benchmark.h>

#include <string>
#include <thread>
#include <vector>

#include <sys/socket.h>

namespace {

namespace asio = boost::asio;
namespace net = hearonce::net;
using asio::ip::tcp;

// Answers each request of a known length; one connection at a time, blocking.
class peer {
public:
    peer(std::size_t answer_bytes, asio::ssl::context* tls)
        : tls_(tls), acceptor_(context_, {asio::ip::address_v4::loopback(), 0}), thread_([this, answer_bytes] { run(answer_bytes); }) {}
    ~peer() {
        ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
        thread_.join();
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    void run(std::size_t answer_bytes) {
        const std::string answer =
            "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(answer_bytes) + "\r\n\r\n" + std::string(answer_bytes, 'a');
        for (;;) {
            tcp::socket socket(context_);
            boost::system::error_code ec;
            acceptor_.accept(socket, ec);
            if (ec) return;
            socket.set_option(tcp::no_delay(true), ec);
            if (tls_) {
                asio::ssl::stream<tcp::socket&> stream(socket, *tls_);
                stream.handshake(asio::ssl::stream_base::server, ec);
                if (!ec) serve(stream, answer);
            } else {
                serve(socket, answer);
            }
        }
    }
    template <class Stream>
    void serve(Stream& stream, const std::string& answer) {
        std::vector<char> buffer(256 * 1024);
        boost::system::error_code ec;
        while (!ec) {
            std::string head;
            std::size_t wanted = std::string::npos, got = 0;
            while (!ec && got < wanted) {
                const std::size_t some = stream.read_some(asio::buffer(buffer), ec);
                got += some;
                if (wanted != std::string::npos) continue;
                head.append(buffer.data(), some);
                const auto end = head.find("\r\n\r\n");
                const auto length = head.find("Content-Length: ");
                if (end != std::string::npos) wanted = end + 4 + std::stoul(head.substr(length + 16));
            }
            if (!ec) asio::write(stream, asio::buffer(answer), ec);
        }
    }

    asio::io_context context_;
    asio::ssl::context* tls_;
    tcp::acceptor acceptor_;
    std::thread thread_;
};

class in_memory final : public hearonce::stored_bytes {
public:
    explicit in_memory(std::size_t size) : bytes_(size, std::byte{'x'}), piece_(bytes_) {}
    std::uint64_t size_bytes() const noexcept override { return bytes_.size(); }
    std::span<const std::span<const std::byte>> pieces() const noexcept override { return std::span(&piece_, 1); }
    int file_descriptor() const noexcept override { return -1; }

private:
    std::vector<std::byte> bytes_;
    std::span<const std::byte> piece_;
};

asio::awaitable<void> call_many(benchmark::State& state, net::call_request request, std::shared_ptr<const hearonce::stored_bytes> recording,
                                bool sink) {
    std::size_t bytes = 0;
    while (state.KeepRunning()) {
        net::call_request next = request;
        next.body = std::make_shared<net::framed_recording_body>("head", recording, "tail");
        if (sink) {
            next.on_piece = [&bytes](const net::http_answer&, std::string_view piece) {
                bytes += piece.size();
                return true;
            };
        }
        net::call_limits limits;
        limits.answer_bytes_max = 1ULL << 40;
        auto result = co_await net::call(std::move(next), limits);
        if (!result) {
            state.SkipWithError(result.error().message.c_str());
            co_return;
        }
        bytes += result->body.size();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

// Arguments: kept alive, TLS, bytes posted, bytes answered, in pieces.
void call(benchmark::State& state) {
    const auto shown = hearonce::test::make_certificate("DNS:localhost");
    const auto context = hearonce::test::server_context(shown);
    const bool tls = state.range(1) != 0;
    const peer other(static_cast<std::size_t>(state.range(3)), tls ? context.get() : nullptr);
    net::call_request request;
    request.url = *net::parse_url((tls ? "https://localhost:" : "http://127.0.0.1:") + std::to_string(other.port()) + "/v1/x");
    request.method = "POST";
    request.headers.push_back({"Authorization", "Bearer 0123456789"});
    request.headers.push_back({"Content-Type", "multipart/form-data; boundary=x"});
    request.keep_alive = state.range(0) != 0;
    if (tls) {
        request.tls = *net::make_tls_context();
        request.tls->add_certificate_authority(asio::buffer(shown.pem));
    }
    asio::io_context loop(1);
    const auto recording = std::make_shared<in_memory>(static_cast<std::size_t>(state.range(2)));
    asio::co_spawn(loop, call_many(state, std::move(request), recording, state.range(4) != 0), [&](std::exception_ptr thrown) {
        net::close_idle_connections(loop);
        if (thrown) std::rethrow_exception(thrown);
    });
    loop.run();
}

constexpr std::int64_t kib = 1024, mib = 1024 * kib;
BENCHMARK(call)
    ->ArgNames({"kept", "tls", "post", "answer", "pieces"})
    ->Args({1, 0, 32 * kib, 200, 0})
    ->Args({0, 0, 32 * kib, 200, 0})
    ->Args({1, 1, 32 * kib, 200, 0})
    ->Args({0, 1, 32 * kib, 200, 0})
    ->Args({1, 0, 8 * mib, 200, 0})
    ->Args({1, 1, 8 * mib, 200, 0})
    ->Args({1, 0, 0, 64 * mib, 1})
    ->Args({1, 1, 0, 64 * mib, 1})
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
