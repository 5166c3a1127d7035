// memfd_create and /proc/self/fd. Next file: channel.cpp.
#include <backends/whisper/audio_file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace hearonce::whisper {
namespace {

bool write_all(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
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
    for (const auto& piece : bytes.pieces()) {
        if (!write_all(made.get(), piece)) return {};
    }
    ::fcntl(made.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    return made;
}

}  // namespace hearonce::whisper
