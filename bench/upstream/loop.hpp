// One event loop with a thread of its own, and the connections that live on it.
//
// Holds: loop. Next file: session.hpp.
#pragma once

#include <bench/upstream/session.hpp>

#include <server/input.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

namespace hearonce::upstream {

class loop {
public:
    explicit loop(house& home);
    // After join().
    ~loop() = default;
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    // Before start(). Accepted sockets go to `all` in turns; this is one of them. Throws std::runtime_error when it cannot listen.
    std::uint16_t listen(const boost::asio::ip::tcp::endpoint& where, const std::vector<std::unique_ptr<loop>>& all, SSL_CTX* tls);
    void start();
    // From any thread: no more connections, and the open ones end. join() waits for that.
    void stop();
    void join();

private:
    using tcp = boost::asio::ip::tcp;

    void accept();
    void accepted(boost::system::error_code failed);
    void serve(tcp::socket socket);
    void tick();
    void shut();

    house& home_;
    boost::asio::io_context context_{1};
    server::block_pool blocks_;
    boost::asio::steady_timer tick_;
    boost::asio::steady_timer pause_;  // When no descriptor is free.
    tcp::acceptor door_;
    tcp::socket next_;
    std::size_t turn_ = 0;
    const std::vector<std::unique_ptr<loop>>* all_ = nullptr;
    SSL_CTX* tls_ = nullptr;
    std::unordered_set<session*> sessions_;
    bool stopped_ = false;
    std::thread thread_;
};

}  // namespace hearonce::upstream
