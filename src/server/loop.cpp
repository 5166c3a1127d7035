// One event loop's share of the server.
//
// Next file: connection.cpp.
#include <server/loop.hpp>

#include <server/connection.hpp>

#include <array>
#include <utility>

namespace hearonce::server {

namespace {

using namespace std::chrono_literals;

// Often enough that the shortest limit is kept to within a quarter, and never so often that it costs.
std::chrono::milliseconds tick_for(const settings& how) {
    auto shortest = std::min({how.header_timeout, how.idle_timeout, how.upload_stall_timeout, how.answer_stall_timeout, how.linger_timeout,
                              how.linger_stall_timeout});
    return std::clamp<std::chrono::milliseconds>(shortest / 4, 5ms, 1000ms);
}

std::string fixdate(std::time_t when) {
    std::tm parts{};
    gmtime_r(&when, &parts);
    static constexpr std::array<const char*, 7> days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::array<char, 64> text{};  // strftime would write the locale's names.
    auto length = std::snprintf(
        text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT", days[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
        months[static_cast<std::size_t>(parts.tm_mon)], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
    return std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace

counted::counted(std::shared_ptr<shared_state> shared, count what) : shared_(std::move(shared)), what_(what) {
    ((*shared_).*what_).fetch_add(1);
}

counted& counted::operator=(counted&& other) noexcept {
    if (this == &other) return *this;
    end();
    shared_ = std::move(other.shared_);
    what_ = other.what_;
    return *this;
}

void counted::end() noexcept {
    if (!shared_) return;
    auto shared = std::exchange(shared_, nullptr);
    ((*shared).*what_).fetch_sub(1);
    if (!shared->crowded && !shared->draining) return;
    try {
        if (shared->ended) shared->ended();
    } catch (...) {  // No memory for the message: the next one to end tells it, and a drain has its limit.
    }
}

loop::loop(boost::asio::io_context& context, std::shared_ptr<shared_state> shared)
    : context_(&context),
      shared_(std::move(shared)),
      timer_(context),
      tick_every_(tick_for(shared_->how)),
      random_(std::random_device{}()) {}

void loop::serve(boost::asio::ip::tcp::socket socket, const boost::asio::ip::tcp::endpoint& peer, counted place) {
    ssl_session session;
    if (shared_->tls) {
        session = shared_->tls->open(socket.native_handle());
        if (!session) return;  // Never plain where TLS was asked for.
    }
    auto one = std::make_shared<connection>(shared_from_this(), transport(std::move(socket), std::move(session)), peer, std::move(place));
    one->start();
}

void loop::add(loop_member& one) {
    members_.push_back(one);
    tick_later();
}

void loop::remove(loop_member& one) noexcept {
    members_.erase(members_.iterator_to(one));
    // An empty loop must be able to run out of work.
    if (members_.empty()) timer_.cancel();
}

std::vector<std::shared_ptr<loop_member>> loop::members() {
    std::vector<std::shared_ptr<loop_member>> all;
    for (auto& one : members_) all.push_back(one.shared_from_this());
    return all;
}

void loop::begin_drain() {
    for (auto& one : members()) one->begin_drain();
}

void loop::last_call() {
    for (auto& one : members()) one->last_call();
}

void loop::close_all() {
    for (auto& one : members()) one->close_hard();
}

void loop::tick_later() {
    if (ticking_) return;
    ticking_ = true;
    timer_.expires_after(tick_every_);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code) {
        self->ticking_ = false;
        self->tick();
    });
}

void loop::tick() {
    if (members_.empty()) return;
    auto now = std::chrono::steady_clock::now();
    for (auto& one : members_) one.expire(now);
    tick_later();
}

std::string_view loop::date() {
    auto now = std::time(nullptr);
    if (now != date_of_) {
        date_of_ = now;
        date_ = fixdate(now);
    }
    return date_;
}

std::string loop::make_request_id() {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string id(32, '0');
    for (std::size_t half = 0; half < 2; ++half) {
        auto bits = random_();
        for (std::size_t i = 0; i < 16; ++i, bits >>= 4) id[half * 16 + i] = digits[bits & 15];
    }
    return id;
}

}  // namespace hearonce::server
