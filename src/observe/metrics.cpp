// The events and the sums. Next file: metrics_text.cpp, which writes them down.
#include <observe/json_text.hpp>
#include <observe/metrics_cell.hpp>

#include <cassert>

namespace hearonce::observe {
namespace {

constexpr std::uint16_t status_of_no_answer = 499;  // As other servers call a request whose caller left.
constexpr unsigned cells_max = 256;

std::size_t slot_of(std::uint16_t status) noexcept {
    const bool known = status >= 100 && status < 100 + status_slots;
    return static_cast<std::size_t>(known ? status : status_of_no_answer) - 100;
}

std::uint64_t milliseconds_of_audio(double seconds) noexcept {
    return static_cast<std::uint64_t>(milliseconds_of(seconds));
}

// Threads are numbered as they first count something; loops that started together have neighbouring numbers, so they do not
// meet in one cell.
unsigned number_of_this_thread() noexcept {
    static std::atomic<unsigned> next = 0;
    thread_local const unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
    return mine;
}

}  // namespace

metrics::metrics(unsigned threads, std::vector<std::string> backends) : backends_(std::move(backends)) {
    backends_.emplace_back("other");
    // One more than the loops, for the thread that starts and stops them.
    const unsigned wanted = std::clamp(threads, 1U, cells_max - 1) + 1;
    cells_.reserve(wanted);
    for (unsigned i = 0; i < wanted; ++i) cells_.push_back(std::make_unique<cell>(backends_.size()));
}

metrics::~metrics() {
    assert(watched_.empty() && "a watch must end before what it watches for");
}

metrics::cell& metrics::mine() const noexcept {
    return *cells_[number_of_this_thread() % cells_.size()];
}

void metrics::request(route which, std::uint16_t status, std::chrono::nanoseconds took) noexcept {
    cell& here = mine();
    const auto at = static_cast<std::size_t>(which);
    here.requests[at][slot_of(status)].add(1);
    here.request_seconds[at].observe(took);
}

void metrics::work_led() noexcept {
    mine().led.add(1);
}

void metrics::work_joined() noexcept {
    mine().joined.add(1);
}

void metrics::work_hit() noexcept {
    mine().hit.add(1);
}

void metrics::work_saved(double audio_seconds) noexcept {
    auto& here = mine();
    here.saved_calls.add(1);
    here.saved_audio_milliseconds.add(milliseconds_of_audio(audio_seconds));
}

void metrics::work_failed() noexcept {
    mine().failed.add(1);
}
void metrics::work_cancelled() noexcept {
    mine().cancelled.add(1);
}

std::size_t metrics::index_of(std::string_view backend) const noexcept {
    const auto found = std::find(backends_.begin(), backends_.end() - 1, backend);
    return static_cast<std::size_t>(found - backends_.begin());
}

void metrics::count_call(std::size_t backend, std::size_t slot, std::chrono::nanoseconds took, double audio_seconds) noexcept {
    backend_cell& here = mine().backends[backend];
    here.calls[slot].add(1);
    here.seconds.observe(took);
    here.audio_milliseconds.add(milliseconds_of_audio(audio_seconds));
}

void metrics::upstream_call(std::string_view backend, std::uint16_t http_status, std::chrono::nanoseconds took,
                            double audio_seconds) noexcept {
    const bool known = http_status >= 100 && http_status < 100 + status_slots;
    const auto slot = known ? slot_of(http_status) : status_slots + static_cast<std::size_t>(call_end::error);
    count_call(index_of(backend), slot, took, audio_seconds);
}

void metrics::upstream_call(std::string_view backend, call_end end, std::chrono::nanoseconds took, double audio_seconds) noexcept {
    count_call(index_of(backend), status_slots + static_cast<std::size_t>(end), took, audio_seconds);
}

metrics::watch metrics::watch_gauge(gauge which, std::function<double()> value) {
    const std::lock_guard lock(watched_guard_);
    watched_.push_back({which, std::move(value)});
    return {this, std::prev(watched_.end())};
}

metrics::watch& metrics::watch::operator=(watch&& other) noexcept {
    if (this != &other) {
        end();
        of_ = std::exchange(other.of_, nullptr);
        at_ = other.at_;
    }
    return *this;
}

void metrics::watch::end() noexcept {
    if (of_ == nullptr) return;
    const std::lock_guard lock(of_->watched_guard_);
    of_->watched_.erase(at_);
    of_ = nullptr;
}

std::array<double, gauge_count> metrics::gauges() const {
    std::array<double, gauge_count> sums{};
    const std::lock_guard lock(watched_guard_);
    for (const watched& one : watched_) sums[static_cast<std::size_t>(one.which)] += one.value();
    return sums;
}

totals metrics::sum() const {
    totals out;
    out.gauges = gauges();
    for (const std::string& name : backends_) out.backends.push_back({name});
    std::uint64_t saved_milliseconds = 0;
    const auto is_ok = [](std::size_t slot) { return slot >= 100 && slot < 200; };
    for (const auto& one : cells_) {
        out.work_led += one->led.read();
        out.work_joined += one->joined.read();
        out.work_hit += one->hit.read();
        out.saved_calls += one->saved_calls.read();
        out.work_failed += one->failed.read();
        out.work_cancelled += one->cancelled.read();
        saved_milliseconds += one->saved_audio_milliseconds.read();
        for (const auto& statuses : one->requests) {
            for (std::size_t slot = 0; slot < statuses.size(); ++slot) {
                const std::uint64_t some = statuses[slot].read();
                out.requests += some;
                if (is_ok(slot)) out.requests_ok += some;
            }
        }
        for (std::size_t b = 0; b < backends_.size(); ++b) {
            const backend_cell& from = one->backends[b];
            totals::of_backend& to = out.backends[b];
            for (std::size_t slot = 0; slot < call_slots; ++slot) {
                const std::uint64_t some = from.calls[slot].read();
                to.calls += some;
                if (is_ok(slot) || slot == status_slots + static_cast<std::size_t>(call_end::ok)) to.calls_ok += some;
            }
            to.audio_seconds += static_cast<double>(from.audio_milliseconds.read()) / 1000;
            to.call_seconds += static_cast<double>(from.seconds.nanoseconds.read()) / 1e9;
        }
    }
    out.saved_audio_seconds = static_cast<double>(saved_milliseconds) / 1000;
    return out;
}

}  // namespace hearonce::observe
