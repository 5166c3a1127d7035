// A backend whose every run is held at a gate until the test opens it, and whose text tells which bytes and settings it saw.
#pragma once

#include <hearonce/backend.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace hearonce::test {

class scripted_backend final : public backend {
public:
    explicit scripted_backend(std::string name = "scripted") : name_(std::move(name)) {}

    // What each run ends with; called once a run, with the run's number from 0. Default: a text made of digest and settings.
    std::function<result<transcript>(std::size_t run, const recording& audio, const transcription_request& request)> ends = said;

    static result<transcript> said(std::size_t, const recording& audio, const transcription_request& request) {
        transcript made;
        made.text = hex_of(audio.sha256).substr(0, 16) + " " + request.language + " " + request.prompt;
        made.language = "english";
        made.duration_seconds = 1.5;
        return made;
    }

    // Set before the first run.
    hearonce::provider whose = hearonce::provider::none;
    unsigned calls_max = 0;

    // What a run was called with; the texts are copies, so that a test can look for them elsewhere.
    struct called_with {
        bool has_key = false;
        std::string key;
        std::string organization;
        std::string project;
        friend bool operator==(const called_with&, const called_with&) = default;
    };
    std::vector<called_with> calls() const {
        const std::lock_guard lock(mutex_);
        return calls_;
    }

    // Runs wait at the gate from now on; open() lets all of them and all later ones go.
    void close_gate() {
        const std::lock_guard lock(mutex_);
        open_ = false;
    }
    void open_gate() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        for (auto* timer : held_) boost::asio::post(timer->get_executor(), [this, timer] { wake(timer); });
    }

    // Tells a piece of the run that began last, to whoever reads along; false when nobody does.
    bool tell(std::string text) {
        const std::lock_guard lock(mutex_);
        if (!deltas_) return false;
        deltas_->append({std::move(text)});
        return true;
    }

    std::size_t runs() const {
        const std::lock_guard lock(mutex_);
        return runs_;
    }
    std::size_t cancelled() const {
        const std::lock_guard lock(mutex_);
        return cancelled_;
    }
    // Blocks until `count` runs have begun (or ended by cancellation); false after 20 s.
    bool wait_for_runs(std::size_t count) const {
        return wait([&] { return runs_ >= count; });
    }
    bool wait_for_cancelled(std::size_t count) const {
        return wait([&] { return cancelled_ >= count; });
    }
    // How many runs are held at the gate now.
    bool wait_for_held(std::size_t count) const {
        return wait([&] { return held_.size() == count; });
    }

    std::string_view name() const noexcept override { return name_; }
    backend_state state() const override { return {true, {}}; }
    hearonce::provider provider() const noexcept override { return whose; }
    unsigned in_flight_max() const noexcept override { return calls_max; }
    std::vector<std::string> models() const override { return {name_}; }
    std::string default_model() const override { return name_; }
    result<void> supports(const transcription_request& request) const override {
        if (request.format == response_format::diarized_json) return error(errc::unsupported_value, "No speakers here.", "response_format");
        return {};
    }

    boost::asio::awaitable<result<transcript>> transcribe(std::shared_ptr<const recording> audio, transcription_request request,
                                                          attempt terms) override {
        const deadline limit = terms.limit;
        auto executor = co_await boost::asio::this_coro::executor;
        boost::asio::steady_timer timer(executor, limit.at());
        const auto run = enter(&timer, std::move(terms));
        if (is_held(&timer)) {
            const auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
            auto [ec] = co_await timer.async_wait(token);
            (void)ec;
        }
        const auto state = co_await boost::asio::this_coro::cancellation_state;
        const bool was_cancelled = state.cancelled() != boost::asio::cancellation_type::none;
        leave(&timer, was_cancelled);
        if (was_cancelled) co_return error(errc::cancelled);
        if (limit.passed(deadline::clock::now())) co_return error(errc::upstream_timeout);
        co_return ends(run, *audio, request);
    }

private:
    std::size_t enter(boost::asio::steady_timer* timer, attempt terms) {
        const std::lock_guard lock(mutex_);
        calls_.push_back(
            {terms.key != nullptr, terms.key ? std::string(terms.key->reveal()) : std::string(), terms.organization, terms.project});
        deltas_ = std::move(terms.deltas);
        if (!open_) held_.push_back(timer);
        changed_.notify_all();
        return runs_++;
    }
    bool is_held(boost::asio::steady_timer* timer) const {
        const std::lock_guard lock(mutex_);
        return !open_ && std::find(held_.begin(), held_.end(), timer) != held_.end();
    }
    void wake(boost::asio::steady_timer* timer) {
        const std::lock_guard lock(mutex_);
        if (std::find(held_.begin(), held_.end(), timer) != held_.end()) timer->cancel();
    }
    void leave(boost::asio::steady_timer* timer, bool was_cancelled) {
        const std::lock_guard lock(mutex_);
        held_.remove(timer);
        if (was_cancelled) ++cancelled_;
        changed_.notify_all();
    }
    template <class Condition>
    bool wait(Condition condition) const {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20), condition);
    }

    std::string name_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::list<boost::asio::steady_timer*> held_;
    std::shared_ptr<delta_log> deltas_;
    std::vector<called_with> calls_;
    bool open_ = true;
    std::size_t runs_ = 0;
    std::size_t cancelled_ = 0;
};

}  // namespace hearonce::test
