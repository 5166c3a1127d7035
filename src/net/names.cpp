// Next file: connection.cpp.
#include <net/names.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace hearonce::net {

namespace asio = boost::asio;
constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

namespace {

void ask_system(asio::any_io_executor executor, const std::string& host, names::finished done) {
    auto resolver = std::make_shared<asio::ip::tcp::resolver>(executor);
    resolver->async_resolve(
        host, std::string(),
        [resolver, done = std::move(done)](const boost::system::error_code& ec, const asio::ip::tcp::resolver::results_type& results) {
            looked_up found;
            found.failure = ec;
            for (const auto& entry : results) found.addresses.push_back(entry.endpoint().address());
            if (!ec && found.addresses.empty()) found.failure = asio::error::host_not_found;
            done(std::move(found));
        });
}

looked_up failed(boost::system::error_code why) {
    looked_up found;
    found.failure = why;
    return found;
}

}  // namespace

asio::execution_context::id names::id;

names::names(asio::execution_context& loop) : names(loop, name_limits(), ask_system) {}

names::names(asio::execution_context& loop, name_limits limits, look_up ask)
    : asio::execution_context::service(loop), limits_(limits), cache_(limits), ask_(std::move(ask)) {}

void names::shutdown() noexcept {
    running_.clear();
}

std::size_t names::waiting(const std::string& host) const {
    const auto at = running_.find(host);
    return at == running_.end() ? 0 : at->second.size();
}

asio::awaitable<looked_up> names::addresses_of(std::string host, deadline limit) {
    if (const auto* known = cache_.find(host, deadline::clock::now())) co_return *known;
    const bool joined = running_.contains(host);
    // A resolver that hangs must not gather an endless queue behind it.
    if (!joined && running_.size() >= limits_.running_max) co_return failed(asio::error::try_again);
    auto executor = co_await asio::this_coro::executor;
    const auto self = std::make_shared<waiter>(executor, limit);
    running_[host].push_back(self);
    if (!joined) start(executor, host);
    auto [woken] = co_await self->wake.async_wait(use_result);
    if (self->found) co_return std::move(*self->found);
    if (const auto at = running_.find(host); at != running_.end()) std::erase(at->second, self);
    if (woken == asio::error::operation_aborted) co_return failed(woken);
    co_return failed(asio::error::timed_out);
}

void names::start(const asio::any_io_executor& executor, const std::string& host) {
    ask_(executor, host, [this, host](looked_up found) { finish(host, std::move(found)); });
}

void names::finish(const std::string& host, looked_up found) {
    auto node = running_.extract(host);
    if (node.empty()) return;
    for (const auto& one : node.mapped()) {
        one->found = found;
        one->wake.cancel();
    }
    cache_.put(host, std::move(found), deadline::clock::now());
}

asio::awaitable<boost::system::result<endpoints>> resolve(std::string host, std::uint16_t port, deadline limit) {
    boost::system::error_code no_address;
    const auto address = asio::ip::make_address(host, no_address);
    endpoints found;
    if (!no_address) {
        found.emplace_back(address, port);
        co_return found;
    }
    auto executor = co_await asio::this_coro::executor;
    auto& book = asio::use_service<names>(asio::query(executor, asio::execution::context));
    auto answer = co_await book.addresses_of(std::move(host), limit);
    if (answer.failure) co_return answer.failure;
    for (const auto& one : answer.addresses) found.emplace_back(one, port);
    co_return found;
}

}  // namespace hearonce::net
