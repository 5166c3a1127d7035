// Next file: one_call.cpp.
#include <net/connect.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>

#include <algorithm>

namespace hearonce::net {

namespace asio = boost::asio;
constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

watchdog::watchdog(const asio::any_io_executor& executor, deadline all, std::function<void()> expired)
    : timer_(executor), all_(all), expired_(std::move(expired)) {}

void watchdog::allow(std::chrono::milliseconds from_now) {
    if (stopped_ || fired_) return;
    const auto now = deadline::clock::now();
    timer_.expires_at(from_now < all_.left(now) ? now + from_now : all_.at());
    timer_.async_wait([self = weak_from_this()](const boost::system::error_code& ec) {
        const auto alive = self.lock();
        // A wait that ended in the same turn as it was replaced still comes here: the timer's own time decides.
        if (!alive || ec || alive->stopped_ || alive->fired_ || alive->timer_.expiry() > deadline::clock::now()) return;
        alive->fired_ = true;
        alive->expired_();
    });
}

void watchdog::stop() {
    stopped_ = true;
    timer_.cancel();
}

namespace {

// What a look-up leaves behind, for whoever is still there to take it.
struct look_up {
    explicit look_up(const asio::any_io_executor& executor) : resolver(executor), done(executor) {}
    asio::ip::tcp::resolver resolver;
    asio::steady_timer done;
    bool ended = false;
    boost::system::error_code failure;
    endpoints found;
};

}  // namespace

asio::awaitable<boost::system::result<endpoints>> resolve(std::string host, std::uint16_t port, deadline limit) {
    boost::system::error_code no_address;
    const auto address = asio::ip::make_address(host, no_address);
    if (!no_address) {
        endpoints one;
        one.emplace_back(address, port);
        co_return one;
    }
    auto executor = co_await asio::this_coro::executor;
    auto state = std::make_shared<look_up>(executor);
    state->done.expires_at(limit.at());
    state->resolver.async_resolve(host, std::to_string(port), asio::ip::resolver_base::numeric_service,
                                  [state](const boost::system::error_code& ec, const asio::ip::tcp::resolver::results_type& results) {
                                      state->ended = true;
                                      state->failure = ec;
                                      for (const auto& entry : results) state->found.push_back(entry.endpoint());
                                      state->done.cancel();
                                  });
    auto [woken] = co_await state->done.async_wait(use_result);
    if (state->ended && !state->failure) co_return std::move(state->found);
    if (state->ended) co_return state->failure;
    state->resolver.cancel();
    if (woken == asio::error::operation_aborted) co_return woken;
    co_return boost::system::error_code(asio::error::timed_out);
}

asio::awaitable<boost::system::error_code> connect(plain_stream& socket, endpoints candidates) {
    auto [failure, chosen] = co_await asio::async_connect(socket, candidates, use_result);
    boost::system::error_code ignored;
    // Requests go out in one or two writes; waiting to fill segments only delays the last one.
    if (!failure) socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    co_return failure;
}

asio::awaitable<boost::system::error_code> shake_hands(tls_stream& stream, std::string host) {
    boost::system::error_code no_address;
    asio::ip::make_address(host, no_address);
    if (no_address && SSL_set_tlsext_host_name(stream.native_handle(), host.c_str()) != 1) {
        co_return boost::system::error_code(asio::error::invalid_argument);
    }
    boost::system::error_code refused;
    stream.set_verify_callback(asio::ssl::host_name_verification(host), refused);
    if (refused) co_return refused;
    auto [failure] = co_await stream.async_handshake(asio::ssl::stream_base::client, use_result);
    co_return failure;
}

}  // namespace hearonce::net
