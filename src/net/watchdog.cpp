// Next file: sending.cpp.
#include <net/watchdog.hpp>

#include <utility>

namespace hearonce::net {

watchdog::watchdog(const boost::asio::any_io_executor& executor, deadline all, std::function<void()> expired)
    : timer_(executor), all_(all), until_(all), expired_(std::move(expired)) {}

void watchdog::allow(std::chrono::milliseconds from_now) {
    if (stopped_ || fired_) return;
    const auto now = deadline::clock::now();
    until_ = from_now < all_.left(now) ? deadline(now + from_now) : all_;
    if (!waiting_ || until_.at() < timer_.expiry()) wait();
}

void watchdog::wait() {
    waiting_ = true;
    timer_.expires_at(until_.at());
    timer_.async_wait([self = weak_from_this()](const boost::system::error_code& ec) {
        const auto alive = self.lock();
        if (!alive || ec || alive->stopped_ || alive->fired_) return;
        // More was given since, or the wait was replaced in the same turn as it ended: the time decides, not who comes here.
        if (!alive->until_.passed(deadline::clock::now())) {
            alive->wait();
            return;
        }
        alive->fired_ = true;
        alive->expired_();
    });
}

void watchdog::stop() {
    stopped_ = true;
    timer_.cancel();
}

}  // namespace hearonce::net
