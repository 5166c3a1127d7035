// Bytes received and not yet consumed. A connection that only waits holds no more memory than those bytes: the large block it
// reads into goes back to the loop's pool before each wait.
//
// Holds: block_pool, input. One loop only. Next file: transport.hpp.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearonce::server {

inline constexpr std::size_t block_bytes = 64 * 1024;

// Blocks for reading, reused by the connections of one loop.
class block_pool {
public:
    using block = std::unique_ptr<char[]>;

    block take() {
        if (free_.empty()) return std::make_unique_for_overwrite<char[]>(block_bytes);
        auto one = std::move(free_.back());
        free_.pop_back();
        return one;
    }
    void give_back(block one) {
        // Enough for what one loop reads between two waits; a burst's other blocks go back to the system.
        if (free_.size() < kept_max) free_.push_back(std::move(one));
    }

private:
    static constexpr std::size_t kept_max = 16;
    std::vector<block> free_;
};

class input {
public:
    explicit input(block_pool& pool) : pool_(&pool) {}
    ~input() { drop_block(); }
    input(const input&) = delete;
    input& operator=(const input&) = delete;

    // What is there, in order. Valid until prepare(), park() or clear().
    std::string_view bytes() const noexcept {
        return block_ ? std::string_view(block_.get() + begin_, end_ - begin_) : std::string_view(parked_).substr(begin_, end_ - begin_);
    }
    bool empty() const noexcept { return begin_ == end_; }
    std::size_t size() const noexcept { return end_ - begin_; }

    void consume(std::size_t count) noexcept {
        assert(count <= size());
        begin_ += count;
    }

    // Room for more after what is there; empty only when a whole block of unconsumed bytes is there.
    std::span<char> prepare() {
        if (!block_) {
            block_ = pool_->take();
            std::memcpy(block_.get(), parked_.data() + begin_, size());
            end_ -= std::exchange(begin_, 0);
            std::string().swap(parked_);
        } else if (begin_ == end_) {
            begin_ = end_ = 0;
        } else if (end_ > block_bytes / 2 && begin_ > 0) {
            std::memmove(block_.get(), block_.get() + begin_, size());
            end_ -= std::exchange(begin_, 0);
        }
        return {block_.get() + end_, block_bytes - end_};
    }
    void commit(std::size_t count) noexcept {
        assert(block_ && end_ + count <= block_bytes);
        end_ += count;
    }

    // Gives the block back and keeps only what is not consumed.
    void park() {
        if (!block_) return;
        parked_.assign(block_.get() + begin_, size());
        end_ -= std::exchange(begin_, 0);
        drop_block();
    }
    void clear() noexcept { begin_ = end_ = 0; }

private:
    void drop_block() {
        if (block_) pool_->give_back(std::move(block_));
    }

    block_pool* pool_;
    block_pool::block block_;  // Null while parked.
    std::string parked_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace hearonce::server
