// One connection: reads a head, lets the handler answer it, and again. It is the exchange its handlers see.
//
// Holds: connection. connection.cpp is the session, connection_exchange.cpp what the handler calls, connection_wait.cpp reading,
// writing and waiting. Next file: connection.cpp.
#pragma once

#include <http/exchange.hpp>
#include <server/framing.hpp>
#include <server/input.hpp>
#include <server/loop.hpp>
#include <server/request_parser.hpp>
#include <server/transport.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

namespace hearonce::server {

// Lives on one loop. Kept alive by its own session coroutine; the loop's list knows it but does not own it.
class connection final : public http::exchange, public loop_member {
public:
    connection(std::shared_ptr<loop> home, transport wire, const boost::asio::ip::tcp::endpoint& peer, counted place);
    ~connection() override;

    void start();

    void expire(std::chrono::steady_clock::time_point now) override;
    void begin_drain() override;
    void last_call() override;
    void close_hard() override;

    const http::request_head& head() const noexcept override { return head_; }
    boost::asio::any_io_executor executor() override;
    boost::asio::awaitable<result<std::span<const std::byte>>> read_body() override;
    void on_left(std::function<void()> left) override;
    boost::asio::awaitable<void> respond(http::response answer) override;
    boost::asio::awaitable<result<void>> begin(http::response answer) override;
    boost::asio::awaitable<result<void>> send(std::string piece) override;
    boost::asio::awaitable<result<void>> finish() override;
    void abort() noexcept override;

private:
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr time_point never = time_point::max();
    // How long a connection without a request may take to say what it wants, in a drain.
    static constexpr std::chrono::milliseconds drain_patience{1000};

    // Where the request in hand stands.
    enum class stage : std::uint8_t {
        idle,       // Between requests: not a byte of the next head.
        head,       // A head has begun.
        open,       // The handler has it.
        streaming,  // begin() was called, finish() not yet.
        answered,   // Nothing more may be sent for it.
    };
    enum class next : std::uint8_t { serve, refuse, end };

    // connection.cpp
    boost::asio::awaitable<void> run();
    boost::asio::awaitable<bool> handshake();
    boost::asio::awaitable<next> read_head();
    next head_step();
    next take_head(std::size_t bytes);
    next refused(error why);
    void forget_request();
    boost::asio::awaitable<void> serve();
    void say_failed(std::exception_ptr failure) const;
    boost::asio::awaitable<void> refuse();
    boost::asio::awaitable<void> end();

    // connection_exchange.cpp
    result<bool> body_step(std::span<const std::byte>& piece);
    void settle(bool close) noexcept;
    void watch();
    void caller_left();

    // connection_wait.cpp
    enum class received : std::uint8_t { bytes, nothing };
    // Appends what arrives to the input, waiting until `limit` for it. Nothing: the caller's end, an error, the limit (then
    // expired_ is set), or the server's end.
    boost::asio::awaitable<received> receive(time_point limit);
    // Sends out_, then body_, then tail_. broken_ tells whether that worked.
    boost::asio::awaitable<void> flush();
    // Reads and drops what still comes after the last answer.
    boost::asio::awaitable<void> linger();
    void join_small_pieces();
    boost::asio::awaitable<void> wait_for(transport::io::kind what, time_point limit);
    bool turn_is_over() noexcept;
    boost::asio::awaitable<void> give_way();
    boost::asio::awaitable<void> readable();
    boost::asio::awaitable<void> writable();
    void arm();
    void woken();

    std::shared_ptr<loop> loop_;
    counted place_;  // Ends after the socket is closed.
    counted held_;   // While the request in hand holds a drain.
    const settings& how_;
    transport wire_;
    input input_;
    head_scan scan_;
    request_parser parser_;
    boost::asio::cancellation_signal cancel_;

    // The one pending wait for bytes. It is left pending when an answer overtakes it: the next head is awaited with it.
    struct parked {
        virtual ~parked() = default;
        virtual void resume() = 0;
    };
    std::unique_ptr<parked> waiter_;  // The session, when it waits for the pending wait.
    bool armed_ = false;
    bool wait_first_ = true;       // The last read took all there was, so trying again would be a wasted call.
    unsigned steps_in_a_row_ = 0;  // Reads and requests without a wait between.

    time_point limit_ = never;     // Until when the session may wait; watched by the loop's timer.
    time_point patience_ = never;  // In a drain: until when it may wait for a request.
    bool expired_ = false;
    bool last_try_ = false;  // Last call: a request that has come already is answered, none is waited for.
    bool closed_ = false;    // Hard close.
    bool broken_ = false;    // Nothing can be sent any more.

    stage stage_ = stage::idle;
    http::request_head head_;
    error refusal_{errc::invalid_http};
    bool first_ = true;  // No request was served yet.
    bool late_ = false;  // The head began after the drain.
    bool keep_alive_ = false;
    bool linger_ = false;
    bool owes_continue_ = false;
    bool chunked_answer_ = false;
    bool left_seen_ = false;  // The caller's end was seen while its handler waited.
    bool body_done_ = true;
    std::uint64_t body_left_ = 0;  // Of Content-Length.
    std::function<void()> left_;

    std::string out_;
    std::shared_ptr<const std::string> body_;
    std::string piece_;
    std::string_view tail_;
};

}  // namespace hearonce::server
