// Reading files without stopping the event loop.
//
// Holds: file_reading, file_bytes, read_file(). Next file: stored_reader.hpp.
#pragma once

#include <hearonce/audio.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace hearonce::net {

// The one thread of an event loop that waits for its disk; started by the first read and joined when the loop is destroyed.
// One is enough: a body asks for its next bytes only when the last ones were sent.
class file_reading final : public boost::asio::execution_context::service {
public:
    static boost::asio::execution_context::id id;
    explicit file_reading(boost::asio::execution_context& loop) : boost::asio::execution_context::service(loop) {}
    boost::asio::thread_pool& thread();

private:
    void shutdown() noexcept override;
    std::optional<boost::asio::thread_pool> thread_;
};

// Where a file's bytes are read into; shared with the thread that reads, as nobody can take a read back.
using file_bytes = std::shared_ptr<std::vector<std::byte>>;

struct file_read {
    std::size_t bytes = 0;  // Less than asked only at the end of the file.
    int failure = 0;        // errno; 0: none. ECANCELED: whoever waited was cancelled, and `into` is still being written to.
};

// Fills `into` from `offset` of the file of `from` (pread, so that its offset stays shared), which is held until then.
boost::asio::awaitable<file_read> read_file(std::shared_ptr<const stored_bytes> from, std::uint64_t offset, file_bytes into);

}  // namespace hearonce::net
