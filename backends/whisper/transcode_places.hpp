// How many recordings are decoded at a time, over all event loops, and how much of what came of it may be in memory.
//
// Holds: transcode_places and its place. Next file: transcode.hpp.
#pragma once

#include <hearonce/deadline.hpp>
#include <hearonce/error.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

namespace hearonce::whisper {

// Thread-safe. First come, first served.
class transcode_places : public std::enable_shared_from_this<transcode_places> {
    struct seat {
        seat(const boost::asio::any_io_executor& executor, deadline limit) : timer(executor, limit.at()) {}
        boost::asio::steady_timer timer;  // Touched on its waiter's executor only.
        bool granted = false;
        bool listed = false;
    };

public:
    // A place taken or waited for; given back with its owner, which is a coroutine's frame.
    class place {
    public:
        explicit place(std::shared_ptr<transcode_places> of) : of_(std::move(of)) {}
        ~place() { leave(); }
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        // overloaded: too many wait, or it took until `limit`. cancelled: by whoever called.
        boost::asio::awaitable<std::optional<error>> take(deadline limit);
        void leave() noexcept;

    private:
        std::shared_ptr<transcode_places> of_;
        std::shared_ptr<seat> seat_;
    };

    transcode_places(std::size_t places, std::size_t waiting_max, std::uint64_t bytes_max)
        : free_(places), waiting_max_(waiting_max), bytes_max_(bytes_max) {}

    // Counts a result that is in memory, until the same number is given back.
    void add_bytes(std::uint64_t bytes);
    void give_back_bytes(std::uint64_t bytes);
    std::uint64_t bytes() const;
    std::size_t waiting() const;

private:
    bool sit_down(const std::shared_ptr<seat>& one);
    void stand_up(const std::shared_ptr<seat>& one) noexcept;
    void serve();  // Under the lock.

    mutable std::mutex mutex_;
    std::size_t free_;
    const std::size_t waiting_max_;
    const std::uint64_t bytes_max_;
    std::uint64_t bytes_ = 0;
    std::list<std::shared_ptr<seat>> waiting_;
};

}  // namespace hearonce::whisper
