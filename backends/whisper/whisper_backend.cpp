// The thread-safe shell: a caller's coroutine waits on its own loop while the engine works on the home loop.
// Next file: engine.cpp.
#include <backends/whisper/engine.hpp>
#include <backends/whisper/whisper_backend.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace hearonce::whisper {
namespace {

namespace asio = boost::asio;
constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

// Takes the job back when the coroutine ends before its outcome: deadline, cancellation, or a frame destroyed.
class claim {
public:
    claim(std::shared_ptr<engine> on, std::uint64_t id) : engine_(std::move(on)), id_(id) {}
    ~claim() {
        if (settled_ || engine_->stopped()) return;
        asio::post(engine_->home(), [on = engine_, id = id_] { on->leave(id); });
    }
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;
    void settle() noexcept { settled_ = true; }

private:
    std::shared_ptr<engine> engine_;
    std::uint64_t id_;
    bool settled_ = false;
};

asio::awaitable<result<transcript>> await_outcome(std::shared_ptr<engine> on, std::shared_ptr<const recording> audio,
                                                  transcription_request request, deadline limit, std::shared_ptr<delta_log> deltas) {
    auto executor = co_await asio::this_coro::executor;
    if (on->stopped()) co_return error(errc::draining);
    const auto me = std::make_shared<caller>(executor, limit);
    const std::uint64_t id = on->new_id();
    claim held(on, id);
    job work{me, std::move(audio), std::move(request), std::move(deltas)};
    asio::post(on->home(), [on, id, work = std::move(work)]() mutable { on->submit(id, std::move(work)); });
    while (!me->outcome) {
        auto [ec] = co_await me->changed.async_wait(use_result);
        if (me->outcome) break;
        auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none) co_return error(errc::cancelled);
        if (!ec) co_return error(errc::upstream_timeout, "The local engine did not get to the end in time.");
    }
    held.settle();
    co_return std::move(*me->outcome);
}

class local_engine final : public whisper_backend {
public:
    local_engine(asio::any_io_executor home, whisper_settings settings)
        : engine_(std::make_shared<engine>(std::move(home), std::move(settings))) {
        asio::post(engine_->home(), [on = engine_] { on->start(); });
    }
    ~local_engine() override { engine_->stop(); }

    std::string_view name() const noexcept override { return engine_->settings().name; }
    backend_state state() const override { return engine_->state(); }
    bool watches_itself() const noexcept override { return true; }
    std::vector<std::string> models() const override { return engine_->settings().models; }
    std::string default_model() const override { return engine_->settings().default_model; }
    whisper_counts counts() const noexcept override { return engine_->counts(); }
    int helper_pid() const noexcept override { return engine_->helper_pid(); }

    result<void> supports(const transcription_request& request) const override {
        if (request.format == response_format::diarized_json) {
            return error(errc::unsupported_value, "The local engine cannot tell speakers apart.", "response_format");
        }
        return {};
    }

    // A local run is as long as the recording makes it and may wait its turn: the rule for upstreams would cut it.
    std::chrono::milliseconds time_allowed(std::optional<std::chrono::milliseconds> audio) const override {
        return time_allowed_for(engine_->settings(), audio);
    }

    // The coroutine is lazy and may begin when this object is gone: it gets the engine and not `this`.
    asio::awaitable<result<transcript>> transcribe(std::shared_ptr<const recording> audio, transcription_request request,
                                                   attempt terms) override {
        return await_outcome(engine_, std::move(audio), std::move(request), terms.limit, std::move(terms.deltas));
    }

private:
    std::shared_ptr<engine> engine_;
};

}  // namespace

std::size_t audio_seconds_max_of(const whisper_settings& settings) {
    return std::clamp<std::size_t>(settings.audio_seconds_max, 1, audio_seconds_most);
}

std::chrono::milliseconds time_allowed_for(const whisper_settings& settings, std::optional<std::chrono::milliseconds> audio) {
    using std::chrono::milliseconds;
    const milliseconds longest = std::chrono::seconds(audio_seconds_max_of(settings));
    // The length is the caller's word: it may claim a week, or less than nothing.
    const milliseconds length = std::clamp(audio.value_or(longest), milliseconds(0), longest);
    const auto by_length = std::chrono::duration_cast<milliseconds>(length * settings.deadline_per_audio_second);
    return std::max(settings.deadline_floor, by_length) + queue_allowance;
}

std::shared_ptr<whisper_backend> create_whisper_backend(asio::any_io_executor home, whisper_settings settings) {
    return std::make_shared<local_engine>(std::move(home), std::move(settings));
}

}  // namespace hearonce::whisper
