// Next file: receiving.cpp.
#include <net/sending.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cassert>
#include <exception>
#include <vector>

namespace hearonce::net {
namespace {

namespace asio = boost::asio;
constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

// What still has to be written, in order; cheap to copy, as every operation copies its buffers.
class row {
public:
    void add(asio::const_buffer one) { buffers_.push_back(one); }
    void add(std::span<const asio::const_buffer> more) { buffers_.insert(buffers_.end(), more.begin(), more.end()); }
    bool empty() const noexcept { return at_ == buffers_.size(); }
    std::span<const asio::const_buffer> left() const noexcept { return std::span(buffers_).subspan(at_); }
    void written(std::size_t bytes) {
        while (at_ < buffers_.size() && bytes >= buffers_[at_].size()) bytes -= buffers_[at_++].size();
        if (at_ < buffers_.size()) buffers_[at_] += bytes;
        if (!empty()) return;
        buffers_.clear();
        at_ = 0;
    }

private:
    std::vector<asio::const_buffer> buffers_;
    std::size_t at_ = 0;
};

// std::span has no place among Asio's buffer sequences of every version.
class view {
public:
    explicit view(const row& all) : buffers_(all.left()) {}
    const asio::const_buffer* begin() const noexcept { return buffers_.data(); }
    const asio::const_buffer* end() const noexcept { return buffers_.data() + buffers_.size(); }

private:
    std::span<const asio::const_buffer> buffers_;
};

void give_up(conversation& talk, std::string why) {
    talk.body_failure = std::move(why);
    talk.close();
}

// Puts the next batch of the body into `next` and counts it off `left`; false: the call was given up.
bool take(conversation& talk, const body_batch& batch, row& next, std::uint64_t& left) {
    if (batch.step == body_step::failed) {
        const std::string why = talk.request.body->failure();
        give_up(talk, why.empty() ? "the body could not be read" : why);
        return false;
    }
    std::size_t bytes = 0;
    for (const auto& one : batch.buffers) bytes += one.size();
    if (bytes == 0 || bytes > left) {
        give_up(talk, "the body is not as long as it was said to be");
        return false;
    }
    next.add(batch.buffers);
    left -= bytes;
    return true;
}

asio::awaitable<void> send_all(std::shared_ptr<conversation> talk) {
    const auto link = talk->link;
    row next;
    next.add(asio::buffer(talk->head));
    std::uint64_t left = talk->request.body ? talk->request.body->size_bytes() : 0;
    while (left > 0 || !next.empty()) {
        talk->watch->allow(talk->limits.stall);
        if (left > 0) {
            const body_batch batch = talk->request.body->next();
            if (batch.step == body_step::wait) {
                co_await talk->request.body->read_more();
                // The call may have ended meanwhile.
                if (talk->link != link) co_return;
                continue;
            }
            if (!take(*talk, batch, next, left)) co_return;
        }
        while (!next.empty()) {
            talk->watch->allow(talk->limits.stall);
            const view all(next);
            auto [cut, bytes] = co_await link->async_write_some(all, use_result);
            // Whether the peer said something before it stopped listening is the receiver's to find out.
            if (cut) co_return;
            next.written(bytes);
        }
    }
    if (talk->link != link) co_return;
    talk->all_sent = true;
    if (talk->stage == call_stage::sending) talk->stage = call_stage::waiting;
    talk->watch->allow(talk->limits.silence);
}

}  // namespace

void start_sending(std::shared_ptr<conversation> talk) {
    assert(talk->sender_ended && talk->link);
    talk->stage = call_stage::sending;
    talk->sender_ended = false;
    asio::co_spawn(talk->link->get_executor(), send_all(talk), [talk](std::exception_ptr thrown) {
        talk->sender_ended = true;
        talk->sent.cancel();
        if (thrown) give_up(*talk, "the body could not be read");
    });
}

asio::awaitable<bool> sending_ended(std::shared_ptr<conversation> talk) {
    if (talk->sender_ended) co_return true;
    talk->sent.expires_at(talk->limits.all.at());
    co_await talk->sent.async_wait(use_result);
    co_return talk->sender_ended;
}

}  // namespace hearonce::net
