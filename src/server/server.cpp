// The HTTP server: puts listener, loops and connections together, and ends them in good order.
//
// Next file: listener.cpp.
#include <server/server.hpp>

#include <http/error_response.hpp>
#include <observe/log.hpp>
#include <server/descriptors.hpp>
#include <server/listener.hpp>
#include <server/loop.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

namespace hearonce::server {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

// A handler that was cancelled and still does not end keeps nobody waiting longer than this.
constexpr std::chrono::seconds after_hard_close(2);

// Time for the refusals of those who came at the end of a drain.
constexpr std::chrono::seconds last_call_patience(2);

}  // namespace

// What the first loop does for the server as a whole.
class server::impl : public std::enable_shared_from_this<server::impl> {
public:
    impl(settings how, std::span<asio::io_context* const> contexts, http::handler handler, refusal_renderer refusals);

    void open_doors();
    void drain(std::chrono::milliseconds limit, std::function<void()> done);
    void check();
    void close_all();

    asio::io_context& first() noexcept { return *first_; }
    shared_state& shared() noexcept { return *shared_; }
    listener& door() noexcept { return *listener_; }
    bool ended() const noexcept { return ended_; }

private:
    enum class phase { serving, draining, last_call, closing, ended };

    void wait_until(steady_clock::time_point when);
    void limit_passed();
    void begin_drain();
    void last_call();
    void tell_done();

    asio::io_context* first_;
    std::shared_ptr<shared_state> shared_ = std::make_shared<shared_state>();
    std::vector<std::shared_ptr<loop>> loops_;
    std::shared_ptr<listener> listener_;
    asio::steady_timer timer_;
    phase phase_ = phase::serving;
    steady_clock::time_point limit_ = steady_clock::time_point::max();
    std::vector<std::function<void()>> done_;
    std::atomic<bool> ended_ = false;
};

server::impl::impl(settings how, std::span<asio::io_context* const> contexts, http::handler handler, refusal_renderer refusals)
    : first_(contexts.front()), timer_(*first_) {
    assert(!how.listen.empty() && how.head_bytes_max <= block_bytes / 2);
    auto descriptors = raise_descriptor_limit(descriptors_for(how.connections_max));
    auto fit = connections_within(descriptors, how.connections_max);
    if (fit < how.connections_max) {
        observe::say(observe::log_level::warn, "The limit of open files is too low for server.max_connections, which is lowered.",
                     {{"open_files", descriptors}, {"max_connections", how.connections_max}, {"lowered_to", fit}});
        how.connections_max = fit;
    }
    if (!how.tls_certificate_file.empty()) shared_->tls.emplace(how.tls_certificate_file, how.tls_key_file);
    shared_->how = std::move(how);
    shared_->handler = std::move(handler);
    shared_->refusals = std::move(refusals);
    if (!shared_->refusals) shared_->refusals = [](const error& why, const http::request_head&) { return http::error_response(why); };
    for (auto* context : contexts) loops_.push_back(std::make_shared<loop>(*context, shared_));
    listener_ = std::make_shared<listener>(shared_, loops_);
}

void server::impl::open_doors() {
    shared_->ended = [weak = weak_from_this()] {
        auto self = weak.lock();
        if (!self) return;
        asio::post(self->first(), [self] { self->check(); });
    };
    for (const auto& address : shared_->how.listen) listener_->open(address);
}

void server::impl::drain(std::chrono::milliseconds limit, std::function<void()> done) {
    if (done) done_.push_back(std::move(done));
    auto when = steady_clock::now() + limit;
    if (phase_ == phase::serving) begin_drain();
    if ((phase_ == phase::draining || phase_ == phase::last_call) && when < limit_) {
        limit_ = when;
        if (limit <= std::chrono::milliseconds::zero()) return limit_passed();
        wait_until(when);
    }
    check();
}

// It goes on listening, so that who comes now is told where it stands instead of finding nobody.
void server::impl::begin_drain() {
    phase_ = phase::draining;
    for (auto& one : loops_) {
        // Until a loop has looked which of its connections hold the drain, it does so itself.
        auto look = [one, held = counted(shared_, &shared_state::held)] { one->begin_drain(); };
        asio::post(one->context(), std::move(look));
    }
}

// Every request begun before is answered. What is left are callers to refuse, which may not take long.
void server::impl::last_call() {
    phase_ = phase::last_call;
    listener_->finish();
    for (auto& one : loops_) asio::post(one->context(), [one] { one->last_call(); });
    limit_ = std::min(limit_, steady_clock::now() + last_call_patience);
    wait_until(limit_);
}

void server::impl::wait_until(steady_clock::time_point when) {
    timer_.expires_at(when);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code failed) {
        if (!failed) self->limit_passed();
    });
}

void server::impl::limit_passed() {
    if (phase_ == phase::closing) return tell_done();
    if (phase_ == phase::ended) return;
    phase_ = phase::closing;
    close_all();
    wait_until(steady_clock::now() + after_hard_close);
    check();
}

void server::impl::close_all() {
    listener_->close();
    for (auto& one : loops_) asio::post(one->context(), [one] { one->close_all(); });
}

// One of the counts went down, or the drain has begun.
void server::impl::check() {
    if (phase_ == phase::serving || phase_ == phase::draining) listener_->room_again();
    if (phase_ == phase::draining && shared_->held == 0) last_call();
    bool last = phase_ == phase::last_call || phase_ == phase::closing;
    if (phase_ == phase::ended || (last && listener_->closed() && shared_->open == 0)) tell_done();
}

void server::impl::tell_done() {
    phase_ = phase::ended;
    ended_ = true;
    timer_.cancel();
    for (auto& done : std::exchange(done_, {})) done();
}

server::server(settings how, std::span<asio::io_context* const> loops, http::handler handler, refusal_renderer refusals)
    : impl_(std::make_shared<impl>(std::move(how), loops, std::move(handler), std::move(refusals))) {
    impl_->open_doors();
}

server::~server() {
    if (!impl_->ended()) drain({}, {});
}

void server::start() {
    asio::post(impl_->first(), [impl = impl_] { impl->door().start(); });
}

std::vector<asio::ip::tcp::endpoint> server::local_endpoints() const {
    return impl_->door().local_endpoints();
}
std::size_t server::connections_max() const noexcept {
    return impl_->shared().how.connections_max;
}
bool server::draining() const noexcept {
    return impl_->shared().draining;
}
std::size_t server::connections() const noexcept {
    return impl_->shared().open;
}
std::uint64_t server::accepted_total() const noexcept {
    return impl_->shared().accepted;
}

std::string server::reload_certificate() {
    return impl_->shared().tls ? impl_->shared().tls->reload() : std::string();
}

void server::drain(std::chrono::milliseconds limit, std::function<void()> done) {
    impl_->shared().draining = true;
    asio::post(impl_->first(), [impl = impl_, limit, done = std::move(done)]() mutable { impl->drain(limit, std::move(done)); });
}

}  // namespace hearonce::server
