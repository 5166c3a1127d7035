// Places and the line for them. Next file: dispatch_run.cpp.
#include <work/in_flight.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cassert>

namespace hearonce::work {

namespace {

namespace asio = boost::asio;

// A call takes seconds, so a place is free again soon.
constexpr std::chrono::seconds full_pause{2};

error full() {
    return error(errc::overloaded, "Too many calls to the backend are under way, try again soon.").with_retry_after(full_pause);
}

}  // namespace

class in_flight::stand {
public:
    // Under the lock.
    stand(in_flight& of, std::shared_ptr<asio::steady_timer> timer) : of_(of) {
        at_ = of.waiting_.insert(of.waiting_.end(), {std::move(timer)});
    }
    stand(const stand&) = delete;
    stand& operator=(const stand&) = delete;
    // The frame may also be destroyed as it is, when its loop ends.
    ~stand() {
        const std::lock_guard lock(of_.mutex_);
        if (taken_) return;
        if (at_->has_place) {
            of_.called_.erase(at_);
            of_.pass_on();
        } else {
            of_.waiting_.erase(at_);
        }
    }

    // True: the place is the caller's.
    bool take() {
        const std::lock_guard lock(of_.mutex_);
        if (!at_->has_place) return false;
        of_.called_.erase(at_);
        return taken_ = true;
    }

private:
    in_flight& of_;
    std::list<waiter>::iterator at_;
    bool taken_ = false;
};

in_flight::~in_flight() {
    assert(calls_ == 0 && waiting_.empty() && called_.empty());
}

asio::awaitable<result<in_flight::place>> in_flight::enter(deadline limit) {
    if (calls_max_ == 0) co_return place(nullptr);
    auto executor = co_await asio::this_coro::executor;
    auto timer = std::make_shared<asio::steady_timer>(executor, limit.at());
    std::optional<stand> in_line;
    {
        const std::lock_guard lock(mutex_);
        if (calls_ < calls_max_) {
            assert(waiting_.empty());
            ++calls_;
            co_return place(this);
        }
        if (waiting_.size() >= calls_max_ * waiting_per_place) co_return full();
        in_line.emplace(*this, timer);
    }
    constexpr auto use_tuple = asio::as_tuple(asio::use_awaitable);
    [[maybe_unused]] auto [code] = co_await timer->async_wait(use_tuple);
    // What the timer says does not tell the three ends apart: the place, the cancellation, the deadline.
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) co_return error(errc::cancelled);
    // A place that comes too late is the next one's: there is no time left to call in.
    if (limit.passed(deadline::clock::now()) || !in_line->take()) co_return full();
    co_return place(this);
}

void in_flight::give_back() {
    const std::lock_guard lock(mutex_);
    pass_on();
}

void in_flight::pass_on() {
    assert(calls_ > 0);
    if (waiting_.empty()) {
        --calls_;
        return;
    }
    called_.splice(called_.end(), waiting_, waiting_.begin());
    waiter& next = called_.back();
    next.has_place = true;
    auto executor = next.timer->get_executor();
    // The timer's own share moves into the post: it dies on the thread that uses it.
    asio::post(executor, [sleeping = std::move(next.timer)] { sleeping->cancel(); });
}

std::size_t in_flight::calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
}

std::size_t in_flight::waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
}

}  // namespace hearonce::work
