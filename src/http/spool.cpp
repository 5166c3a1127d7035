// Keeps a recording as it arrives, and moves it to a file when it gets long or memory gets short.
//
// Holds: audio_store, spool. Next file: upload.cpp.
#include <http/container.hpp>
#include <http/spool.hpp>
#include <http/stored.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <system_error>

namespace hearonce::http {
namespace {

namespace asio = boost::asio;

// A recording that goes to a file is written in steps of this size: a step costs two changes of thread.
constexpr std::size_t write_step_bytes = 256 * 1024;

// Runs `job` on the threads and comes back to the coroutine's own executor. Cannot be cancelled while the job runs, because
// the job uses the caller's memory; `busy` is true for just that time. A coroutine cancelled before throws and runs nothing.
template <class Job>
asio::awaitable<void> run_on(asio::thread_pool& threads, bool& busy, Job& job) {
    auto begin = [&threads, &busy, &job](auto handler) {
        auto executor = asio::get_associated_executor(handler);
        auto back = [work = asio::make_work_guard(executor), executor, handler = std::move(handler), &job]() mutable {
            job();
            asio::post(executor, std::move(handler));
        };
        asio::post(threads, std::move(back));
        // Set behind the post, which may throw; nobody can come back before this coroutine has suspended.
        busy = true;
    };
    co_await asio::async_initiate<decltype(asio::use_awaitable), void()>(begin, asio::use_awaitable);
    busy = false;
}

void probe(recording& audio) {
    const stored_source source(*audio.bytes);
    std::span<const std::byte> head;
    std::unique_ptr<std::byte[]> memory;
    if (audio.bytes->file_descriptor() < 0) {
        // One chunk is as much as container_of() looks at.
        static_assert(audio_memory::chunk_bytes >= head_bytes_max);
        if (!audio.bytes->pieces().empty()) head = audio.bytes->pieces().front();
    } else {
        memory = std::make_unique_for_overwrite<std::byte[]>(head_bytes_max);
        head = {memory.get(), source.read_at(0, {memory.get(), head_bytes_max})};
    }
    audio.kind = container_of(head);
    audio.duration = duration_of(audio.kind, source);
}

}  // namespace

audio_store::audio_store(audio_store_settings settings)
    : settings_(std::move(settings)),
      memory_(settings_.memory_bytes_max),
      space_(settings_.spill_directory, settings_.spill_bytes_max),
      threads_(settings_.threads) {}

void audio_store::stop() {
    threads_.join();
}

result<void> audio_store::check_room(std::uint64_t announced_bytes) const {
    const bool in_memory = announced_bytes <= settings_.spill_above_bytes && memory_.used_bytes() + announced_bytes <= memory_.bytes_max();
    if (in_memory) return {};
    return space_.check_room(announced_bytes);
}

spool::spool(std::shared_ptr<audio_store> store) : store_(std::move(store)) {
    assert(store_ != nullptr);
}

spool::~spool() {
    assert(!busy_);
    store_->space_.give_back(taken_bytes_);
    // An upload that ended early leaves its file as a finished one would.
    if (file_.descriptor() >= 0) spilled_bytes(store_, std::move(file_), 0, 0);
}

bool spool::append(std::span<const std::byte> bytes) {
    assert(!busy_);
    hash_.update(bytes);
    size_bytes_ += bytes.size();
    if (size_bytes_ > store_->settings_.spill_above_bytes) spilling_ = true;
    keep(bytes);
    return flush_due();
}

void spool::keep(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        // Once something is lent, all that follows it is: the order must stay.
        if (lent_.empty() && (chunks_.empty() || last_chunk_bytes_ == audio_memory::chunk_bytes)) {
            if (audio_chunk chunk = store_->memory_.take()) {
                chunks_.push_back(std::move(chunk));
                last_chunk_bytes_ = 0;
            } else {
                spilling_ = true;
                lent_.push_back(bytes);
                return;
            }
        } else if (!lent_.empty()) {
            lent_.push_back(bytes);
            return;
        }
        const std::size_t step = std::min(bytes.size(), audio_memory::chunk_bytes - last_chunk_bytes_);
        std::memcpy(chunks_.back().get() + last_chunk_bytes_, bytes.data(), step);
        last_chunk_bytes_ += step;
        bytes = bytes.subspan(step);
    }
}

bool spool::flush_due() const noexcept {
    return spilling_ && (!lent_.empty() || chunks_.size() * audio_memory::chunk_bytes >= write_step_bytes);
}

error spool::spill_failed(int failure) const {
    if (failure != 0 && store_->settings_.on_failure) {
        store_->settings_.on_failure("cannot write a recording to " + store_->space_.directory().string() + ": " +
                                     std::generic_category().message(failure));
    }
    return error(errc::overloaded, "The gateway has no room for the recording, try again soon.").with_retry_after(overloaded_retry_after);
}

// On the store's threads. The errno on failure, else 0.
int spool::write_waiting() noexcept {
    if (file_.descriptor() < 0) {
        if (const int failure = file_.open(store_->space_.directory()); failure != 0) return failure;
    }
    try {
        boost::container::small_vector<::iovec, 64> parts;
        for (const audio_chunk& chunk : chunks_) {
            const bool last = &chunk == &chunks_.back();
            parts.push_back({chunk.get(), last ? last_chunk_bytes_ : audio_memory::chunk_bytes});
        }
        for (const auto& lent : lent_) parts.push_back({const_cast<std::byte*>(lent.data()), lent.size()});
        return file_.write({parts.data(), parts.size()}, written_bytes_);
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    }
}

asio::awaitable<result<void>> spool::flush() {
    assert(!busy_);
    const std::uint64_t waiting = size_bytes_ - written_bytes_;
    if (waiting == 0) co_return result<void>();
    if (!store_->space_.take(waiting)) co_return spill_failed(0);
    taken_bytes_ += waiting;
    int failure = 0;
    auto job = [this, &failure] { failure = write_waiting(); };
    co_await run_on(store_->threads_, busy_, job);
    chunks_.clear();
    lent_.clear();
    last_chunk_bytes_ = 0;
    if (failure != 0) co_return spill_failed(failure);
    written_bytes_ = size_bytes_;
    assert(taken_bytes_ == written_bytes_);
    co_return result<void>();
}

asio::awaitable<result<recording>> spool::finish() {
    recording audio;
    audio.sha256 = hash_.finish();
    if (!spilling_) {
        audio.bytes = std::make_shared<bytes_in_memory>(store_, std::move(chunks_), last_chunk_bytes_);
        chunks_.clear();
        probe(audio);
        co_return std::move(audio);
    }
    auto flushed = co_await flush();
    if (!flushed) co_return flushed.error();
    audio.bytes = std::make_shared<spilled_bytes>(store_, std::move(file_), size_bytes_, std::exchange(taken_bytes_, 0));
    std::exception_ptr failure;
    auto job = [&audio, &failure] {
        try {
            probe(audio);
        } catch (...) {
            failure = std::current_exception();
        }
    };
    co_await run_on(store_->threads_, busy_, job);
    if (failure) std::rethrow_exception(failure);
    co_return std::move(audio);
}

}  // namespace hearonce::http
