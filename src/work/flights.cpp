// One flight from its start to its end. Next file: dispatcher.cpp.
#include <observe/log.hpp>
#include <work/flights.hpp>

#include <boost/system/system_error.hpp>

#include <string>

namespace hearonce::work {

namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::steady_clock;

// What was thrown, as the waiters may know it.
error error_of(const std::exception_ptr& thrown) {
    std::string text = "unknown";
    try {
        std::rethrow_exception(thrown);
    } catch (const boost::system::system_error& why) {
        if (why.code() == boost::asio::error::operation_aborted) return errc::cancelled;
        text = why.what();
    } catch (const std::exception& why) {
        text = why.what();
    } catch (...) {
        text = "not an exception";
    }
    observe::say(observe::log_level::error, "work failed with an exception", {{"what", text}});
    return errc::internal_error;
}

// Whoever reads along learns that there is no more, however the flight ends.
class telling {
public:
    explicit telling(std::shared_ptr<delta_log> log) : log_(std::move(log)) {}
    telling(const telling&) = delete;
    telling& operator=(const telling&) = delete;
    ~telling() {
        if (log_) log_->close();
    }

private:
    std::shared_ptr<delta_log> log_;
};

}  // namespace

flights::settings flight_table_settings(std::chrono::milliseconds ttl, std::chrono::milliseconds abandon_grace,
                                        std::size_t cache_bytes_max) {
    flights::settings how;
    how.ttl = ttl;
    how.abandon_grace = abandon_grace;
    how.cache_bytes_max = cache_bytes_max;
    // Entries are small: the bound in bytes is the one that counts.
    how.entries_max = std::max<std::size_t>(how.entries_max, cache_bytes_max / 512);
    how.waiters_max = 16384;
    how.keep = [](const flight_end& end) -> std::optional<std::size_t> {
        if (!end.heard || (end.heard->text.empty() && end.heard->had_audio)) return std::nullopt;
        return end.heard->size_bytes();
    };
    return how;
}

boost::asio::awaitable<flight_end> fly(flight_plan plan, [[maybe_unused]] gate::pass inside, const dispatcher& asked,
                                       idempotency_table& names, observe::metrics& counted) {
    const auto began = steady_clock::now();
    const telling until_the_end(plan.deltas);
    flight_end end;
    std::exception_ptr thrown;
    try {
        auto attempts = co_await asked.run(std::move(plan.chosen), std::move(plan.audio), std::move(plan.request), plan.limit,
                                           std::move(plan.deltas), plan.attempts_spent);
        end.heard = std::move(attempts.heard);
        end.backend = std::move(attempts.backend);
        end.retried = attempts.calls > 1;
    } catch (...) {
        thrown = std::current_exception();
    }
    if (thrown) end.heard = error_of(thrown);
    end.upstream = duration_cast<microseconds>(steady_clock::now() - began);
    if (end.heard) co_return end;
    if (end.heard.error().code() == errc::cancelled) {
        counted.work_cancelled();
    } else {
        counted.work_failed();
    }
    if (plan.name) names.release(*plan.name, plan.key.bytes);
    co_return end;
}

}  // namespace hearonce::work
