// Next file: session.cpp.
#include <bench/upstream/loop.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

namespace hearonce::upstream {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::chrono::seconds tick_every{1};
constexpr std::chrono::milliseconds descriptor_pause{20};

}  // namespace

loop::loop(house& home) : home_(home), tick_(context_), pause_(context_), door_(context_), next_(context_) {}

std::uint16_t loop::listen(const tcp::endpoint& where, const std::vector<std::unique_ptr<loop>>& all, SSL_CTX* tls) {
    all_ = &all;
    for (const auto& one : all) one->tls_ = tls;
    error_code failed;
    door_.open(where.protocol(), failed);
    if (!failed) door_.set_option(tcp::acceptor::reuse_address(true), failed);
    if (!failed) door_.bind(where, failed);
    if (!failed) door_.listen(tcp::acceptor::max_listen_connections, failed);
    if (failed) throw std::runtime_error("cannot listen: " + failed.message());
    return door_.local_endpoint().port();
}

void loop::start() {
    if (door_.is_open()) accept();
    tick();
    thread_ = std::thread([this] { context_.run(); });
}

void loop::stop() {
    asio::post(context_, [this] { shut(); });
}

void loop::join() {
    if (thread_.joinable()) thread_.join();
}

void loop::shut() {
    stopped_ = true;
    error_code ignored;
    door_.close(ignored);
    pause_.cancel();
    tick_.cancel();
    for (auto* one : sessions_) one->wire().close();
}

void loop::accept() {
    auto& to = *(*all_)[turn_++ % all_->size()];
    next_ = tcp::socket(to.context_);
    door_.async_accept(next_, [this](error_code failed) { accepted(failed); });
}

void loop::accepted(error_code failed) {
    if (stopped_) return;
    if (!failed) {
        auto& to = *(*all_)[(turn_ - 1) % all_->size()];
        // Shared, for a handler must be copied in some Asio versions and a socket cannot be.
        auto socket = std::make_shared<tcp::socket>(std::move(next_));
        asio::post(to.context_, [&to, socket] { to.serve(std::move(*socket)); });
        return accept();
    }
    // No descriptor is free: somebody will close one.
    pause_.expires_after(descriptor_pause);
    pause_.async_wait([this](error_code cancelled) {
        if (!cancelled) accept();
    });
}

void loop::serve(tcp::socket socket) {
    if (stopped_) return;
    hearonce::server::ssl_session tls(tls_ == nullptr ? nullptr : SSL_new(tls_));
    if (tls) {
        SSL_set_fd(tls.get(), socket.native_handle());
        SSL_set_accept_state(tls.get());
    }
    auto wire = std::make_shared<peer>(hearonce::server::transport(std::move(socket), std::move(tls)), blocks_, context_);
    auto one = std::make_shared<session>(home_, std::move(wire));
    sessions_.insert(one.get());
    asio::co_spawn(context_, one->run(), [this, one](std::exception_ptr failure) {
        sessions_.erase(one.get());
        // A bug of this program: whoever watches its answers must be told why one is missing.
        if (failure) std::fputs("hearonce-bench upstream: a connection ended by an exception\n", stderr);
    });
}

void loop::tick() {
    tick_.expires_after(tick_every);
    tick_.async_wait([this](error_code cancelled) {
        if (cancelled || stopped_) return;
        const auto now = peer::clock::now();
        for (auto* one : sessions_) one->wire().expire(now);
        tick();
    });
}

}  // namespace hearonce::upstream
