// Next file: names.cpp.
#include <hearonce/ascii.hpp>
#include <net/idle_connections.hpp>

#include <algorithm>
#include <cassert>
#include <ranges>
#include <utility>

namespace hearonce::net {

namespace asio = boost::asio;

origin::origin(const http_url& url, tls_context trusted)
    : tls(url.tls), host(ascii::lowered(url.host)), port(url.port), trust(url.tls ? std::move(trusted) : nullptr) {}

asio::execution_context::id idle_connections::id;

idle_connections::idle_connections(asio::execution_context& loop, idle_limits limits)
    : asio::execution_context::service(loop), limits_(limits) {}

std::shared_ptr<connection> idle_connections::take(const origin& to) {
    drop_old();
    for (;;) {
        const auto newest = std::ranges::find_if(kept_ | std::views::reverse, [&to](const entry& one) { return one.to == to; });
        if (newest == kept_.rend()) return nullptr;
        auto link = newest->link;
        kept_.erase(std::next(newest).base());
        rest_when_empty();
        // The peer may have closed it an instant ago, before the wait for that could end.
        if (!link->quiet()) {
            link->close();
            continue;
        }
        boost::system::error_code ignored;
        link->socket().cancel(ignored);
        return link;
    }
}

void idle_connections::give(origin to, std::shared_ptr<connection> link, std::chrono::milliseconds idle) {
    assert(link && link->socket().is_open());
    if (idle <= idle.zero() || limits_.per_origin_max == 0 || limits_.all_max == 0 || !link->quiet()) {
        link->close();
        return;
    }
    make_room(to);
    if (!clock_) clock_.emplace(link->get_executor());
    kept_.push_back({next_number_++, std::move(to), std::move(link), deadline::after(idle)});
    watch(kept_.back());
    wait_for_oldest();
}

void idle_connections::make_room(const origin& to) {
    const auto same = [&to](const entry& one) { return one.to == to; };
    if (static_cast<std::size_t>(std::ranges::count_if(kept_, same)) >= limits_.per_origin_max) {
        drop(std::ranges::find_if(kept_, same)->number);
    }
    if (kept_.size() >= limits_.all_max) drop(kept_.front().number);
}

// Readable means closed or a word out of turn; either way it is of no more use.
void idle_connections::watch(const entry& one) {
    one.link->socket().async_wait(connection::tcp_socket::wait_read, [this, number = one.number](const boost::system::error_code& ec) {
        if (ec != asio::error::operation_aborted) drop(number);
    });
}

void idle_connections::drop(std::uint64_t number) noexcept {
    const auto at = std::ranges::find(kept_, number, &entry::number);
    if (at == kept_.end()) return;
    at->link->close();
    kept_.erase(at);
    rest_when_empty();
}

// A wait that ends before its time looks again; so one that is early enough is left alone.
void idle_connections::wait_for_oldest() {
    if (kept_.empty()) return;
    const auto first = std::ranges::min_element(kept_, {}, &entry::until)->until;
    if (waiting_ && clock_->expiry() <= first.at()) return;
    waiting_ = true;
    clock_->expires_at(first.at());
    clock_->async_wait([this](const boost::system::error_code& ec) {
        if (ec) return;
        waiting_ = false;
        drop_old();
        wait_for_oldest();
    });
}

// An empty pool keeps no loop running.
void idle_connections::rest_when_empty() noexcept {
    if (!kept_.empty() || !waiting_) return;
    waiting_ = false;
    clock_->cancel();
}

void idle_connections::drop_old() {
    const auto now = deadline::clock::now();
    std::erase_if(kept_, [now](const entry& one) {
        const bool old = one.until.passed(now);
        if (old) one.link->close();
        return old;
    });
}

void idle_connections::close_all() noexcept {
    for (const auto& one : kept_) one.link->close();
    kept_.clear();
    clock_.reset();
    waiting_ = false;
}

}  // namespace hearonce::net
