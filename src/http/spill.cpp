// Makes, fills and closes the unlinked files.
//
// Holds: spill_space, spill_file. Next file: spool.cpp.
#include <http/spill.hpp>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace hearonce::http {
namespace {

error no_room() {
    return error(errc::overloaded, "The gateway has no room for the recording, try again soon.").with_retry_after(overloaded_retry_after);
}

}  // namespace

spill_space::spill_space(std::filesystem::path directory, std::uint64_t bytes_max)
    : directory_(std::move(directory)), bytes_max_(bytes_max) {}

result<void> spill_space::check_room(std::uint64_t bytes) const {
    const std::uint64_t used = used_bytes();
    if (bytes > bytes_max_ - std::min(used, bytes_max_)) return no_room();
    struct ::statvfs disk{};
    // A folder that cannot be looked at is found out when the file is made.
    if (::statvfs(directory_.c_str(), &disk) == 0 && bytes / std::max<std::uint64_t>(disk.f_frsize, 1) >= disk.f_bavail) return no_room();
    return {};
}

bool spill_space::take(std::uint64_t bytes) noexcept {
    std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
        if (bytes > bytes_max_ - used) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
}

void spill_space::give_back(std::uint64_t bytes) noexcept {
    [[maybe_unused]] const std::uint64_t before = used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    assert(before >= bytes);
}

std::optional<std::string> spill_space::complaint() const {
    spill_file probe;
    if (const int failure = probe.open(directory_); failure != 0)
        return "memory.spill_directory " + directory_.string() + " cannot hold files: " + std::generic_category().message(failure);
    struct ::statfs system{};
    if (::fstatfs(probe.descriptor(), &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC))
        return "memory.spill_directory " + directory_.string() + " is kept in memory (tmpfs): long recordings will not leave it";
    return std::nullopt;
}

spill_file::~spill_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

spill_file::spill_file(spill_file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

spill_file& spill_file::operator=(spill_file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

int spill_file::open(const std::filesystem::path& directory) noexcept {
    assert(descriptor_ < 0);
    descriptor_ = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor_ >= 0) return 0;
    const int refused = errno;
    // These say that the file system (or an old kernel) has no unnamed files; anything else fails by name as well.
    if (refused != EOPNOTSUPP && refused != EISDIR && refused != EINVAL) return refused;
    try {
        std::string name = (directory / "hearonce-XXXXXX").string();
        descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
        if (descriptor_ < 0) return errno;
        ::unlink(name.c_str());
        return 0;
    } catch (const std::exception&) {
        return ENOMEM;
    }
}

int spill_file::write(std::span<::iovec> parts, std::uint64_t offset) noexcept {
    assert(descriptor_ >= 0);
    while (!parts.empty()) {
        if (parts.front().iov_len == 0) {
            parts = parts.subspan(1);
            continue;
        }
        const int count = static_cast<int>(std::min<std::size_t>(parts.size(), IOV_MAX));
        const ssize_t wrote = ::pwritev(descriptor_, parts.data(), count, static_cast<off_t>(offset));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return errno;
        if (wrote == 0) return EIO;
        offset += static_cast<std::uint64_t>(wrote);
        for (auto left = static_cast<std::size_t>(wrote); left > 0;) {
            ::iovec& part = parts.front();
            const std::size_t step = std::min(left, part.iov_len);
            part.iov_base = static_cast<std::byte*>(part.iov_base) + step;
            part.iov_len -= step;
            left -= step;
            if (part.iov_len == 0) parts = parts.subspan(1);
        }
    }
    return 0;
}

}  // namespace hearonce::http
