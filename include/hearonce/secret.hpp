// A password, token or key that cannot be printed by accident.
//
// Holds: secret. Includes nothing of the project.
#pragma once

#include <openssl/crypto.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>

namespace hearonce {

// Prints as ***, compares in constant time, is wiped when destroyed or overwritten. Lives on the heap, so that moving it
// leaves no bytes behind (a short std::string would). A value; not shared by threads while it is written.
class secret {
public:
    secret() = default;
    explicit secret(std::string_view text) : bytes_(text.empty() ? nullptr : new char[text.size()]), size_(text.size()) {
        std::copy(text.begin(), text.end(), bytes_.get());
    }
    secret(const secret& other) : secret(other.reveal()) {}
    secret(secret&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
    secret& operator=(secret other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~secret() {
        if (bytes_) OPENSSL_cleanse(bytes_.get(), size_);
    }

    bool empty() const noexcept { return size_ == 0; }
    std::size_t size_bytes() const noexcept { return size_; }
    // The text itself, valid as long as this object. Every call is a place to look at when secrets leak: hand it to the
    // wire or to a hash and to nothing else.
    std::string_view reveal() const noexcept { return {bytes_.get(), size_}; }

    // Takes the same time wherever the texts differ; only their lengths can be told apart.
    friend bool operator==(const secret& a, const secret& b) noexcept {
        return a.size_ == b.size_ && (a.size_ == 0 || CRYPTO_memcmp(a.bytes_.get(), b.bytes_.get(), a.size_) == 0);
    }
    friend std::ostream& operator<<(std::ostream& out, const secret& hidden) { return out << (hidden.empty() ? "" : "***"); }

private:
    std::unique_ptr<char[]> bytes_;
    std::size_t size_ = 0;
};

}  // namespace hearonce
