// The order of a call's steps: a kept connection or a fresh one, then sending and receiving at one time. Next files:
// idle_connections.cpp, names.cpp, connection.cpp, sending.cpp, receiving.cpp.
#include <net/one_call.hpp>

#include <net/conversation.hpp>
#include <net/idle_connections.hpp>
#include <net/receiving.hpp>
#include <net/request_head.hpp>
#include <net/sending.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cassert>

namespace hearonce::net {

namespace asio = boost::asio;

conversation::conversation(const asio::any_io_executor& executor, call_request asked, call_limits bounds)
    : request(std::move(asked)), limits(bounds), sent(executor) {
    watch = std::make_shared<watchdog>(executor, limits.all, [this] { close(); });
}

void conversation::begin(std::shared_ptr<connection> other, bool is_fresh) {
    assert(!link && sender_ended);
    link = std::move(other);
    fresh = is_fresh;
    stage = call_stage::connecting;
    all_sent = false;
    answer_seen = false;
}

void conversation::close() noexcept {
    if (!link) return;
    if (answered && all_sent) {
        link->close();
    } else {
        link->abort();
    }
}

namespace {

// Leaves neither a timer nor a socket behind, however the call ends; whoever still sends is ended by it.
class ending {
public:
    explicit ending(std::shared_ptr<conversation> talk) : talk_(std::move(talk)) {}
    ending(const ending&) = delete;
    ending& operator=(const ending&) = delete;
    ~ending() {
        talk_->watch->stop();
        talk_->close();
        talk_->link.reset();
    }

private:
    std::shared_ptr<conversation> talk_;
};

using maybe_failure = std::optional<call_failure>;

// Sends and receives over the conversation's connection, and keeps it for the next call where both sides are through.
asio::awaitable<call_result> exchange(std::shared_ptr<conversation> talk, idle_connections& pool) {
    start_sending(talk);
    const auto why = std::make_shared<call_failure>();
    auto got = co_await receive(talk, why);
    if (!got) co_return std::move(*why);
    talk->answered = true;
    if (talk->request.keep_alive && got->reusable && talk->all_sent && !talk->watch->expired()) {
        origin to(talk->request.url, talk->request.tls);
        pool.give(std::move(to), std::exchange(talk->link, nullptr), talk->limits.idle);
    }
    co_return std::move(got->answer);
}

// Name, connection and handshake within one limit.
asio::awaitable<maybe_failure> open(std::shared_ptr<conversation> talk) {
    const http_url& url = talk->request.url;
    auto executor = co_await asio::this_coro::executor;
    talk->begin(std::make_shared<connection>(executor, url.tls ? talk->request.tls : nullptr), true);
    const deadline begun_by = std::min(talk->limits.all, deadline::after(talk->limits.connect));
    auto found = co_await resolve(url.host, url.port, begun_by);
    if (!found) co_return talk->failure(found.error());
    // The time the name took is not given to the connection again.
    talk->watch->allow(std::chrono::duration_cast<std::chrono::milliseconds>(begun_by.left(deadline::clock::now())));
    auto refused = co_await connect(talk->link->socket(), std::move(*found), begun_by);
    if (refused) {
        asio::use_service<names>(asio::query(executor, asio::execution::context)).forget(url.host);
        co_return talk->failure(refused);
    }
    if (!url.tls) co_return std::nullopt;
    auto distrusted = co_await shake_hands(*talk->link->tls(), url.host);
    talk->distrust = distrusted.reason;
    if (distrusted.ec) co_return talk->failure(distrusted.ec);
    co_return std::nullopt;
}

// Over a kept connection, if there is one; nullopt: a fresh one is needed.
asio::awaitable<std::optional<call_result>> call_over_kept(std::shared_ptr<conversation> talk, idle_connections& pool) {
    auto kept = pool.take(origin(talk->request.url, talk->request.tls));
    if (!kept) co_return std::nullopt;
    talk->begin(std::move(kept), false);
    auto first = co_await exchange(talk, pool);
    if (first || !talk->given_up_by_peer(first.error())) co_return std::move(first);
    talk->close();
    talk->link.reset();
    // The body cannot be read from its start while the old connection's sender still uses it.
    auto free = co_await sending_ended(talk);
    if (!free) co_return std::move(first);
    if (talk->request.body) talk->request.body->rewind();
    co_return std::nullopt;
}

asio::awaitable<call_result> run(std::shared_ptr<conversation> talk) {
    auto executor = co_await asio::this_coro::executor;
    auto& pool = asio::use_service<idle_connections>(asio::query(executor, asio::execution::context));
    if (talk->request.keep_alive) {
        auto over_kept = co_await call_over_kept(talk, pool);
        if (over_kept) co_return std::move(*over_kept);
    }
    auto refused = co_await open(talk);
    if (refused) co_return std::move(*refused);
    auto answer = co_await exchange(talk, pool);
    co_return std::move(answer);
}

call_failure unsendable_failure(const std::string& reason) {
    call_failure why;
    why.unsendable = true;
    why.message = "the request cannot be sent: " + reason;
    return why;
}

}  // namespace

asio::awaitable<call_result> call(call_request request, call_limits limits) {
    assert(!request.url.tls || request.tls);
    auto head = head_of(request);
    if (!head.refusal.empty()) co_return unsendable_failure(head.refusal);
    auto executor = co_await asio::this_coro::executor;
    const auto talk = std::make_shared<conversation>(executor, std::move(request), limits);
    talk->head = std::move(head.text);
    const ending end(talk);
    try {
        auto result = co_await run(talk);
        co_return std::move(result);
    } catch (const boost::system::system_error& thrown) {
        // Once cancelled, every further wait throws; that is an end like the others.
        co_return talk->failure(thrown.code());
    }
}

void close_idle_connections(asio::execution_context& loop) {
    if (asio::has_service<idle_connections>(loop)) asio::use_service<idle_connections>(loop).close_all();
}

}  // namespace hearonce::net
