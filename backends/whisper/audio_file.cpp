// memfd_create and /proc/self/fd. Next file: channel.cpp.
#include <backends/whisper/audio_file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string>

namespace hearonce::whisper {
namespace {

constexpr std::size_t pieces_per_call = 1024;  // IOV_MAX of Linux.

using pieces = std::span<const std::span<const std::byte>>;

// As few calls as there can be, since this runs on the engine's own loop: 1024 pieces with each.
bool write_all(int fd, pieces left) {
    std::array<iovec, pieces_per_call> call;
    std::size_t skip = 0;  // Bytes of the first piece that are written.
    for (;;) {
        while (!left.empty() && skip >= left.front().size()) {
            skip -= left.front().size();
            left = left.subspan(1);
        }
        if (left.empty()) return true;
        const std::size_t count = std::min(left.size(), call.size());
        for (std::size_t i = 0; i < count; ++i) {
            const auto piece = i == 0 ? left[i].subspan(skip) : left[i];
            // writev() takes what it only reads as writable.
            call[i] = {const_cast<std::byte*>(piece.data()), piece.size()};
        }
        const ssize_t n = ::writev(fd, call.data(), static_cast<int>(count));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        skip += static_cast<std::size_t>(n);
    }
}

}  // namespace

owned_descriptor descriptor_of(const stored_bytes& bytes) {
    if (const int file = bytes.file_descriptor(); file >= 0) {
        // A copy by dup() would let the helper write; it is for systems without /proc.
        owned_descriptor again(::open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC));
        if (!again) again.reset(::fcntl(file, F_DUPFD_CLOEXEC, 0));
        return again;
    }
    owned_descriptor made(::memfd_create("recording", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!made) return {};
    if (!write_all(made.get(), bytes.pieces())) return {};
    ::fcntl(made.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    return made;
}

}  // namespace hearonce::whisper
