// Any bytes as a recording: nothing is read outside, and the work is bounded.
//
// Every probe looks at the bytes, whatever they begin with.
#include <http/container.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace hearonce;
using namespace hearonce::http;

namespace {

class bytes_of_input final : public byte_source {
public:
    bytes_of_input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    std::uint64_t size_bytes() const noexcept override { return size_; }
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const noexcept override {
        if (++reads_ > 10000) std::abort();
        if (offset >= size_) return 0;
        const std::size_t length = std::min(into.size(), size_ - static_cast<std::size_t>(offset));
        std::memcpy(into.data(), data_ + offset, length);
        return length;
    }

private:
    const std::uint8_t* data_;
    std::size_t size_;
    mutable int reads_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    container_of({reinterpret_cast<const std::byte*>(data), size});
    for (const container kind : {container::wav, container::mp3, container::mp4, container::aac, container::ogg, container::webm,
                                 container::flac, container::unknown}) {
        const auto length = duration_of(kind, bytes_of_input(data, size));
        if (length && (length->count() < 0 || *length > std::chrono::hours(24 * 31))) std::abort();
    }
    return 0;
}
