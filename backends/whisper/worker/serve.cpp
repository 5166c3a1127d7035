// One thread reads the socket, `slots` threads run jobs; a job's thread writes its steps and its end itself.
// Next file: decode.cpp.
#include <backends/whisper/protocol.hpp>
#include <backends/whisper/worker/decode.hpp>
#include <backends/whisper/worker/line.hpp>
#include <backends/whisper/worker/memory.hpp>
#include <backends/whisper/worker/recognise.hpp>
#include <backends/whisper/worker/sandbox.hpp>
#include <backends/whisper/worker/serve.hpp>

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace hearonce::whisper {
namespace {

using clock = std::chrono::steady_clock;
constexpr auto step_pause = std::chrono::milliseconds(100);

struct job {
    start_job wishes;
    std::unique_ptr<descriptor> audio;
    std::atomic<bool> cancelled = false;
};

// The jobs that wait and run here, shared by the threads.
class workshop {
public:
    workshop(model with, const options& settings, line& gateway) : with_(std::move(with)), settings_(settings), gateway_(gateway) {}

    void begin() {
        for (int i = 0; i < settings_.slots; ++i) std::thread([this] { work(); }).detach();  // Threads end with the process.
    }

    void add(start_job wishes, std::unique_ptr<descriptor> audio) {
        auto made = std::make_shared<job>();
        made->wishes = std::move(wishes);
        made->audio = std::move(audio);
        const std::lock_guard lock(guard_);
        known_[made->wishes.id] = made;
        waiting_.push_back(std::move(made));
        arrived_.notify_one();
    }

    void cancel(std::uint64_t id) {
        const std::lock_guard lock(guard_);
        const auto found = known_.find(id);
        if (found != known_.end()) found->second->cancelled = true;
    }

private:
    [[noreturn]] void work() {
        for (;;) {
            std::unique_lock lock(guard_);
            arrived_.wait(lock, [this] { return !waiting_.empty(); });
            const std::shared_ptr<job> mine = std::move(waiting_.front());
            waiting_.pop_front();
            lock.unlock();
            const message end = run(*mine);
            lock.lock();
            known_.erase(mine->wishes.id);
            lock.unlock();
            gateway_.send(end);
        }
    }

    message run(job& mine) {
        const std::uint64_t id = mine.wishes.id;
        std::atomic<clock::rep> told = 0;
        const auto step = [&](std::size_t samples, bool quiet) {
            const clock::rep now = clock::now().time_since_epoch().count();
            clock::rep last = told.load();
            if (!quiet && now - last < clock::duration(step_pause).count()) return;
            if (!told.compare_exchange_strong(last, now)) return;  // Another thread has just told.
            gateway_.send(job_step{id, static_cast<std::int64_t>(samples * 1000 / samples_per_second), quiet});
        };
        const auto heard = [&](std::string text) { gateway_.send(job_heard{id, std::move(text)}); };
        result<transcript> end = [&]() -> result<transcript> {
            try {
                return run_job(with_, mine.audio->get(), mine.wishes, settings_, mine.cancelled, step, heard);
            } catch (const std::exception&) {
                return error(errc::upstream_error, "The local engine is out of memory.");
            }
        }();
        mine.audio.reset();
        if (end) return job_done{id, std::move(*end)};
        if (end.error().code() == errc::cancelled) return job_cancelled{id};
        return job_failed{id, end.error().code(), std::string(end.error().message()), std::string(end.error().param())};
    }

    model with_;
    const options settings_;
    line& gateway_;
    std::mutex guard_;
    std::condition_variable arrived_;
    std::deque<std::shared_ptr<job>> waiting_;
    std::map<std::uint64_t, std::shared_ptr<job>> known_;
};

[[noreturn]] void cannot_work(line& gateway, std::string why) {
    gateway.send(helper_failed{std::move(why)});
    ::_exit(1);
}

// Reads until the end of the socket. Exits without unwinding: threads may be deep in the library.
[[noreturn]] void take_jobs(line& gateway, workshop& shop) {
    frame_reader frames;
    std::string bytes;
    std::deque<std::unique_ptr<descriptor>> descriptors;
    while (gateway.receive(bytes, descriptors)) {
        frames.feed(bytes);
        std::string_view payload;
        frame_reader::state next = frames.next(payload);
        for (; next == frame_reader::state::frame; next = frames.next(payload)) {
            std::optional<message> what = decode(payload);
            if (!what) ::_exit(3);
            if (auto* start = std::get_if<start_job>(&*what); start != nullptr && !descriptors.empty()) {
                shop.add(std::move(*start), std::move(descriptors.front()));
                descriptors.pop_front();
            } else if (const auto* cancel = std::get_if<cancel_job>(&*what)) {
                shop.cancel(cancel->id);
            } else {
                ::_exit(3);
            }
        }
        if (next == frame_reader::state::broken) ::_exit(3);
    }
    ::_exit(0);
}

}  // namespace

result<transcript> run_job(const model& with, int descriptor, const start_job& wishes, const options& settings,
                           const std::atomic<bool>& cancelled, const step_teller& step, const text_teller& heard) {
    const std::function<bool()> stop = [&] {
        step(0, false);
        return cancelled.load(std::memory_order_relaxed);
    };
    const std::size_t samples_max = static_cast<std::size_t>(settings.audio_seconds_max) * samples_per_second;
    auto samples = decode(descriptor, samples_max, stop);
    if (!samples) return samples.error();
    const std::function<void()> further = [&step, count = samples->size()] { step(count, false); };
    const std::function<void()> quiet = [&step, count = samples->size()] { step(count, true); };
    return recognise(with, *samples, wishes, {settings.threads, settings.no_context}, cancelled, further, quiet, heard);
}

void serve(const options& wanted) {
    die_with_parent();
    die_first();
    line gateway(wanted.serve_fd);
    auto loaded = load_model(wanted.model);
    if (!loaded) cannot_work(gateway, std::string(loaded.error().message()));
    const bool multilingual = loaded->multilingual;
    limit_memory(wanted);
    if (const std::string why = enter_sandbox(); !why.empty()) cannot_work(gateway, "The sandbox cannot be entered: " + why + ".");
    workshop shop(std::move(*loaded), wanted, gateway);
    shop.begin();
    gateway.send(helper_ready{library_version(), multilingual});
    take_jobs(gateway, shop);
}

}  // namespace hearonce::whisper
