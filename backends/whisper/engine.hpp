// The local engine as the home loop sees it: one helper at most, the jobs for it, and the timer that watches both.
//
// Holds: caller, engine. Decisions are in supervisor.hpp and job_table.hpp; this carries them out. Next file: process.hpp.
#pragma once

#include <backends/whisper/channel.hpp>
#include <backends/whisper/job_table.hpp>
#include <backends/whisper/process.hpp>
#include <backends/whisper/supervisor.hpp>
#include <backends/whisper/whisper_backend.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace hearonce::whisper {

// One coroutine that waits for a transcript. Lives on the caller's executor; the engine only posts to it.
struct caller {
    caller(boost::asio::any_io_executor on, deadline limit) : executor(on), changed(on, limit.at()) {}

    boost::asio::any_io_executor executor;
    boost::asio::steady_timer changed;          // Cancelled when there is an outcome; expires at the caller's limit.
    std::optional<result<transcript>> outcome;  // Touched on `executor` only.
};

struct job {
    std::weak_ptr<caller> who;
    std::shared_ptr<const recording> audio;
    transcription_request request;
    std::shared_ptr<delta_log> deltas{};  // Where pieces go; null: nobody reads along.
    std::size_t told_bytes = 0;
};

class engine : public std::enable_shared_from_this<engine> {
public:
    engine(boost::asio::any_io_executor home, whisper_settings settings);

    // From any thread.
    std::uint64_t new_id() noexcept { return ++last_id_; }
    bool stopped() const noexcept { return stopped_; }
    whisper_counts counts() const noexcept { return {waiting_, running_, restarts_}; }
    int helper_pid() const noexcept { return pid_; }
    backend_state state() const;
    const whisper_settings& settings() const noexcept { return settings_; }
    const boost::asio::any_io_executor& home() const noexcept { return home_; }

    // On home.
    void start();
    void submit(std::uint64_t id, job work);
    void leave(std::uint64_t id);
    // On home or when home does not run. Blocks for half a second at most.
    void stop();

private:
    using clock = std::chrono::steady_clock;

    std::string missing() const;
    void carry_out(const supervisor_action& action);
    void spawn();
    void watch_process();
    void process_ended();
    void hear(message what);
    bool take_in(message& what);
    bool tell(std::uint64_t id, std::string text);
    bool end(std::uint64_t id, result<transcript> outcome);
    void pump();
    void run(std::uint64_t id);
    void finish(std::uint64_t id, result<transcript> outcome);
    void drop(const std::vector<std::uint64_t>& ids, const error& why);
    void on_time();
    void settle();
    void publish();
    void say(const std::string& line) const;
    error trouble() const;

    boost::asio::any_io_executor home_;
    const whisper_settings settings_;
    supervisor supervisor_;
    job_table table_;
    std::map<std::uint64_t, job> jobs_;  // Those somebody waits for; a cancelled one keeps its slot in the table alone.

    std::optional<helper_process> process_;
    std::optional<boost::asio::posix::stream_descriptor> ended_;  // Borrows process_'s descriptor.
    std::shared_ptr<channel> channel_;
    std::optional<boost::asio::steady_timer> timer_;  // Gone after stop(), like all that is bound to home.
    std::optional<clock::time_point> armed_;

    std::atomic<std::uint64_t> last_id_ = 0;
    std::atomic<bool> stopped_ = false;
    std::atomic<std::size_t> waiting_ = 0;
    std::atomic<std::size_t> running_ = 0;
    std::atomic<std::uint64_t> restarts_ = 0;
    std::atomic<int> pid_ = 0;
    mutable std::mutex guard_;  // state_ only.
    backend_state state_;
};

}  // namespace hearonce::whisper
