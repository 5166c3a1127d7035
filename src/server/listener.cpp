// Accepts connections.
//
// Next file: loop.cpp, which serves them.
#include <server/listener.hpp>

#include <observe/log.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>

#include <sstream>
#include <utility>

#include <poll.h>

namespace hearonce::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

// Without a descriptor the queue stays readable, so going on at once would spin.
constexpr std::chrono::milliseconds descriptor_pause(50);
constexpr std::chrono::seconds descriptor_say_again(10);

// After so many the loop's own connections have their turn.
constexpr int accepts_in_a_row_max = 64;

bool lacks_descriptors(const error_code& failed) noexcept {
    return failed == asio::error::no_descriptors || failed.value() == ENFILE || failed == asio::error::no_buffer_space ||
           failed == asio::error::no_memory;
}

bool somebody_waits(tcp::acceptor& door) noexcept {
    pollfd queue{door.native_handle(), POLLIN, 0};
    return ::poll(&queue, 1, 0) > 0;
}

std::string text_of(const tcp::endpoint& address) {
    std::ostringstream text;
    text << address;
    return text.str();
}

}  // namespace

listener::listener(std::shared_ptr<shared_state> shared, std::vector<std::shared_ptr<loop>> loops)
    : shared_(std::move(shared)), loops_(std::move(loops)), pause_(loops_.front()->context()) {}

void listener::open(const tcp::endpoint& address) {
    auto& one = doors_.emplace_back(door{tcp::acceptor(loops_.front()->context()), address, false});
    error_code failed;
    one.acceptor.open(address.protocol(), failed);
    // Lets a new process listen while old connections linger in the kernel; on Linux it does not let two listen at a time.
    if (!failed) one.acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
    if (!failed && address.address().is_v6()) one.acceptor.set_option(asio::ip::v6_only(true), failed);
    if (!failed) one.acceptor.bind(address, failed);
    if (!failed) one.acceptor.listen(tcp::acceptor::max_listen_connections, failed);
    if (!failed) one.acceptor.non_blocking(true, failed);
    if (failed == asio::error::address_in_use) throw setup_error("server.listen: " + text_of(address) + " is in use by another program");
    if (failed) throw setup_error("server.listen: cannot listen on " + text_of(address) + ": " + failed.message());
    one.address = one.acceptor.local_endpoint();
}

std::vector<tcp::endpoint> listener::local_endpoints() const {
    std::vector<tcp::endpoint> all;
    for (const auto& one : doors_) all.push_back(one.address);
    return all;
}

void listener::start() {
    for (auto& one : doors_) wait(one);
}

void listener::wait(door& one) {
    if (closed_ || std::exchange(one.waiting, true)) return;
    one.acceptor.async_wait(tcp::acceptor::wait_read, [self = shared_from_this(), &one](error_code) {
        one.waiting = false;
        if (!self->closed_) self->ready(one);
    });
}

void listener::ready(door& one) {
    switch (empty_queue(one)) {
        case outcome::emptied:
        case outcome::more: return wait(one);
        case outcome::full: return;  // room_again() goes on.
        case outcome::no_descriptors: return pause_for_descriptors();
    }
}

listener::outcome listener::empty_queue(door& one) {
    for (int accepted = 0; accepted < accepts_in_a_row_max;) {
        if (full_ || pausing_) return full_ ? outcome::full : outcome::no_descriptors;
        if (!finishing_ && shared_->open >= shared_->how.connections_max) {
            if (!somebody_waits(one.acceptor)) return outcome::emptied;
            shared_->crowded = true;
            // One may have ended before it could see that it is awaited.
            if (shared_->open >= shared_->how.connections_max) {
                full_ = true;
                return outcome::full;
            }
            shared_->crowded = false;
        }
        auto& to = *loops_[next_];
        tcp::socket socket(to.context());
        tcp::endpoint peer;
        error_code failed;
        one.acceptor.accept(socket, peer, failed);
        if (!failed) {
            next_ = (next_ + 1) % loops_.size();
            hand_over(std::move(socket), peer, to);
            ++accepted;
            continue;
        }
        if (failed == asio::error::would_block || failed == asio::error::try_again) return outcome::emptied;
        if (lacks_descriptors(failed)) return outcome::no_descriptors;
        // Whoever was next has left already (accept(2): errors of the new connection are told here).
    }
    return outcome::more;
}

void listener::hand_over(tcp::socket socket, const tcp::endpoint& peer, loop& to) {
    shared_->open.fetch_add(1);
    shared_->accepted.fetch_add(1, std::memory_order_relaxed);
    auto serve = [home = to.shared_from_this(), socket = std::move(socket), peer]() mutable { home->serve(std::move(socket), peer); };
    asio::post(to.context(), std::move(serve));
}

void listener::pause_for_descriptors() {
    if (pausing_) return;
    pausing_ = true;
    auto now = std::chrono::steady_clock::now();
    if (now >= say_again_)
        observe::say(observe::log_level::warn, "No file descriptor is free: new connections wait.",
                     {{"connections", shared_->open.load()}});
    if (now >= say_again_) say_again_ = now + descriptor_say_again;
    pause_.expires_after(descriptor_pause);
    pause_.async_wait([self = shared_from_this()](error_code) {
        self->pausing_ = false;
        if (!self->closed_ && !self->full_) self->start();
    });
}

void listener::room_again() {
    if (!full_ || closed_ || shared_->open >= shared_->how.connections_max) return;
    full_ = false;
    shared_->crowded = false;
    start();
}

void listener::finish() {
    if (closed_) return;
    full_ = pausing_ = false;
    finishing_ = true;  // They get a refusal, which needs little; the limit is for those who stay.
    for (auto& one : doors_) {
        while (empty_queue(one) == outcome::more) {
        }
    }
    close();
}

void listener::close() {
    if (std::exchange(closed_, true)) return;
    error_code ignored;
    for (auto& one : doors_) one.acceptor.close(ignored);
    pause_.cancel();
}

}  // namespace hearonce::server
