// Lets somebody wait until the writing thread has written everything it was given before.
//
// Holds: draining_sink. Used by log.cpp alone.
#pragma once

#include <spdlog/async_logger.h>
#include <spdlog/sinks/sink.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace hearonce::observe {

// Passes everything on and counts the flushes that reach it, in order with the lines.
class draining_sink final : public spdlog::sinks::sink {
public:
    explicit draining_sink(std::shared_ptr<spdlog::sinks::sink> inner) : inner_(std::move(inner)) {}

    void log(const spdlog::details::log_msg& line) override { inner_->log(line); }
    void flush() override {
        inner_->flush();
        const std::lock_guard lock(guard_);
        ++flushed_;
        reached_.notify_all();
    }
    void set_pattern(const std::string& pattern) override { inner_->set_pattern(pattern); }
    void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override { inner_->set_formatter(std::move(formatter)); }

    // One caller at a time. Asks again now and then: a full queue may have thrown the request out with the oldest lines.
    void drain(spdlog::async_logger& logger, std::chrono::milliseconds patience) {
        constexpr std::chrono::milliseconds ask_again{100};
        std::unique_lock lock(guard_);
        const std::uint64_t before = flushed_;
        for (auto waited = std::chrono::milliseconds(0); waited < patience; waited += ask_again) {
            lock.unlock();
            logger.flush();
            lock.lock();
            if (reached_.wait_for(lock, ask_again, [&] { return flushed_ != before; })) return;
        }
    }

private:
    std::shared_ptr<spdlog::sinks::sink> inner_;
    std::mutex guard_;
    std::condition_variable reached_;
    std::uint64_t flushed_ = 0;
};

}  // namespace hearonce::observe
