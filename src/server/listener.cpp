// Accepts connections.
//
// Next file: loop.cpp, which serves them.
#include <server/listener.hpp>

#include <observe/log.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
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

// How many connections a drain takes beyond the limit, so that its refusals do not wait for those who are still served.
constexpr std::size_t late_connections_max = 64;

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

void listener::go_on() {
    for (auto& one : doors_) finishing_ ? ready(one) : wait(one);
}

std::size_t listener::open_max() const noexcept {
    return shared_->how.connections_max + (shared_->draining ? late_connections_max : 0);
}

void listener::wait(door& one) {
    if (closed_ || std::exchange(one.waiting, true)) return;
    one.acceptor.async_wait(tcp::acceptor::wait_read, [self = shared_from_this(), &one](error_code) {
        one.waiting = false;
        self->ready(one);
    });
}

void listener::ready(door& one) {
    if (closed_ || !one.acceptor.is_open()) return;
    switch (empty_queue(one)) {
        case outcome::emptied: return finishing_ ? shut(one) : wait(one);
        case outcome::more:
            if (!finishing_) return wait(one);
            // With nobody left a wait would never end.
            return asio::post(loops_.front()->context(), [self = shared_from_this(), &one] { self->ready(one); });
        case outcome::full: return;  // room_again() goes on.
        case outcome::no_descriptors: return pause_for_descriptors();
    }
}

listener::outcome listener::empty_queue(door& one) {
    for (int accepted = 0; accepted < accepts_in_a_row_max;) {
        if (full_ || pausing_) return full_ ? outcome::full : outcome::no_descriptors;
        if (!finishing_ && shared_->open >= open_max()) {
            if (!somebody_waits(one.acceptor)) return outcome::emptied;
            shared_->crowded = true;
            // One may have ended before it could see that it is awaited.
            if (shared_->open >= open_max()) {
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
    counted place(shared_, &shared_state::open);
    shared_->accepted.fetch_add(1, std::memory_order_relaxed);
    auto serve = [home = to.shared_from_this(), socket = std::move(socket), peer, place = std::move(place)]() mutable {
        home->serve(std::move(socket), peer, std::move(place));
    };
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
    pause_.async_wait([self = shared_from_this()](error_code cancelled) {
        if (cancelled) return;
        self->pausing_ = false;
        if (!self->full_) self->go_on();
    });
}

void listener::room_again() {
    if (!full_ || closed_ || shared_->open >= open_max()) return;
    full_ = false;
    shared_->crowded = false;
    go_on();
}

void listener::finish() {
    if (closed_ || finishing_) return;
    finishing_ = true;  // They get a refusal, which needs little; the limit is for those who stay.
    full_ = pausing_ = false;
    for (auto& one : doors_) ready(one);
}

// Everybody in its queue has been accepted.
void listener::shut(door& one) {
    error_code ignored;
    one.acceptor.close(ignored);
    if (std::ranges::any_of(doors_, [](const door& each) { return each.acceptor.is_open(); })) return;
    close();
    shared_->ended();
}

void listener::close() {
    if (std::exchange(closed_, true)) return;
    error_code ignored;
    for (auto& one : doors_) one.acceptor.close(ignored);
    pause_.cancel();
}

}  // namespace hearonce::server
