// Next file: tokens_file.cpp.
#include <app/private_file.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hearonce::app {
namespace {

namespace fs = std::filesystem;

// With the reason the last call failed for.
file_problem problem_of(const fs::path& file, std::string_view what) {
    const std::string why = std::strerror(errno);
    return {file, std::string(what) + ": " + why};
}

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const auto wrote = ::write(descriptor, text.data(), text.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return ::fsync(descriptor) == 0;
}

// What an operator gave the old file is kept; where that is not allowed the new file stays the writer's own.
void keep_owner(int descriptor, const fs::path& old) {
    struct stat info{};
    if (::stat(old.c_str(), &info) != 0) return;
    if (::fchown(descriptor, info.st_uid, info.st_gid) == 0) ::fchmod(descriptor, info.st_mode & 07777);
}

}  // namespace

boost::system::result<std::string, file_problem> read_private_file(const fs::path& file) {
    std::error_code ec;
    if (fs::is_directory(file, ec)) return file_problem(file, "is a folder, not a file");
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return problem_of(file, "cannot be read");
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

boost::system::result<void, file_problem> write_private_file(const fs::path& named, std::string_view text) {
    std::error_code ec;
    // Made absolute first: the canonical form of a bare name that is not there yet has no folder.
    const fs::path whole = fs::absolute(named, ec);
    if (ec) return file_problem(named, ec.message());
    const fs::path file = fs::weakly_canonical(whole, ec);
    if (ec) return file_problem(named, ec.message());
    const bool made = fs::create_directories(file.parent_path(), ec);
    if (ec) return file_problem(file.parent_path(), "cannot be made: " + ec.message());
    if (made) fs::permissions(file.parent_path(), fs::perms::owner_all, ec);
    std::string temporary = (file.parent_path() / ("." + file.filename().string() + ".XXXXXX")).string();
    const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);  // Mode 0600 from its first moment on.
    if (descriptor < 0) return problem_of(file, "cannot be written");
    keep_owner(descriptor, file);
    const bool written = write_all(descriptor, text);
    std::optional<file_problem> failed;
    if (!written) failed = problem_of(file, "cannot be written");
    ::close(descriptor);
    if (written && ::rename(temporary.c_str(), file.c_str()) != 0) failed = problem_of(file, "cannot be replaced");
    if (!failed) return {};
    ::unlink(temporary.c_str());
    return *failed;
}

folder_lock::folder_lock(const fs::path& folder)
    : descriptor_(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // Where a file system knows no locks, writing is still whole, only two writers at one time could lose one's line.
    while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
}

folder_lock::~folder_lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace hearonce::app
