// Files that only their owner reads, written so that a reader sees the old text or the new one, never half of it.
//
// Holds: file_problem, read_private_file(), write_private_file(), folder_lock. Next file: tokens_file.hpp.
#pragma once

#include <boost/system/result.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace hearonce::app {

// One line that names the file.
struct file_problem {
    file_problem() = default;  // Boost.System asks for it.
    file_problem(const std::filesystem::path& file, std::string_view what) : text(file.string() + ": " + std::string(what)) {}
    std::string text;
};

boost::system::result<std::string, file_problem> read_private_file(const std::filesystem::path& file);
// Missing folders are made (0700). Mode 0600 for a new file; owner and mode of an old one are kept. A symbolic link is followed, not replaced.
boost::system::result<void, file_problem> write_private_file(const std::filesystem::path& file, std::string_view text);

// Keeps other processes that use it for the same folder out for as long as it lives.
class folder_lock {
public:
    explicit folder_lock(const std::filesystem::path& folder);
    ~folder_lock();
    folder_lock(const folder_lock&) = delete;
    folder_lock& operator=(const folder_lock&) = delete;

private:
    int descriptor_;
};

}  // namespace hearonce::app
