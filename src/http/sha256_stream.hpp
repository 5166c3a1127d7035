// SHA-256 of bytes that arrive piece by piece.
//
// Holds: sha256_stream. Next file: spool.hpp.
#pragma once

#include <hearonce/audio.hpp>

#include <openssl/evp.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace hearonce::http {

// OpenSSL's implementation, which uses the processor's SHA instructions where there are any.
class sha256_stream {
public:
    sha256_stream() : context_(EVP_MD_CTX_new()) {
        // Fetched once: EVP_sha256() would look the algorithm up under a lock for every upload.
        static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
        if (context_ == nullptr || EVP_DigestInit_ex2(context_.get(), algorithm, nullptr) != 1) throw std::bad_alloc();
    }

    void update(std::span<const std::byte> bytes) noexcept { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }

    // Call once; nothing may be added after it.
    sha256_digest finish() noexcept {
        sha256_digest digest{};
        EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
        return digest;
    }

private:
    struct free_context {
        void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD_CTX, free_context> context_;
};

}  // namespace hearonce::http
