// Runs one coroutine to its end, and uploads through the same calls as the endpoint.
//
// Holds: await(), upload_pieces(), content_of(), spill_folder, sha256_of(). Used by the tests of this folder.
#pragma once

#include <http/stored.hpp>
#include <http/upload.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <openssl/sha.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace hearonce::test {

template <class T>
boost::asio::awaitable<std::optional<T>> optional_result(boost::asio::awaitable<T> operation) {
    auto value = co_await std::move(operation);
    co_return std::optional<T>(std::move(value));
}

// Runs `operation` on a loop of its own until it has ended and nothing is left to do.
template <class T>
T await(boost::asio::awaitable<T> operation) {
    boost::asio::io_context loop(1);
    std::optional<T> out;
    std::exception_ptr failure;
    auto ended = [&](std::exception_ptr thrown, std::optional<T> value) {
        failure = thrown;
        out = std::move(value);
    };
    boost::asio::co_spawn(loop, optional_result<T>(std::move(operation)), ended);
    loop.run();
    if (failure) std::rethrow_exception(failure);
    return std::move(out).value();
}

// As the endpoint does it; each piece is copied first and wiped after, so that nothing can be used for longer than promised.
inline boost::asio::awaitable<result<http::received_upload>> feed_all(http::upload& upload, std::vector<std::string_view> pieces) {
    for (const std::string_view piece : pieces) {
        std::string buffer(piece);
        auto fed = upload.feed(std::as_bytes(std::span(buffer)));
        if (!fed) co_return fed.error();
        if (*fed) {
            auto flushed = co_await upload.flush();
            if (!flushed) co_return flushed.error();
        }
        buffer.assign(buffer.size(), '!');
    }
    auto received = co_await upload.finish();
    co_return received;
}

inline std::vector<std::string_view> pieces_of(std::string_view text, std::size_t size) {
    std::vector<std::string_view> pieces;
    for (std::size_t at = 0; at < text.size(); at += size) pieces.push_back(text.substr(at, size));
    return pieces;
}

inline result<http::received_upload> upload_pieces(std::shared_ptr<http::audio_store> store, std::string_view boundary,
                                                   std::string_view body, std::size_t piece_size = 65536, http::upload_limits limits = {},
                                                   task asked = task::transcribe) {
    http::upload upload(boundary, asked, limits, std::move(store));
    return await(feed_all(upload, pieces_of(body, piece_size)));
}

inline std::string content_of(const stored_bytes& bytes) {
    std::string out(bytes.size_bytes(), '\0');
    const std::size_t read = http::stored_source(bytes).read_at(0, std::as_writable_bytes(std::span(out)));
    out.resize(read);
    return out;
}

inline sha256_digest sha256_of(std::string_view text) {
    sha256_digest digest;
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), reinterpret_cast<unsigned char*>(digest.data()));
    return digest;
}

// Bytes that repeat nowhere near, so that anything out of order is seen.
inline std::string noise(std::size_t size, unsigned seed = 1) {
    std::string out(size, '\0');
    std::uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
    for (char& each : out) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        each = static_cast<char>(state >> 56);
    }
    return out;
}

// A folder of its own for spill files, gone at the end.
class spill_folder {
public:
    spill_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "hearonce-spill-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~spill_folder() { std::filesystem::remove_all(path_); }
    spill_folder(const spill_folder&) = delete;
    spill_folder& operator=(const spill_folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    bool empty() const { return std::filesystem::is_empty(path_); }

private:
    std::filesystem::path path_;
};

}  // namespace hearonce::test
