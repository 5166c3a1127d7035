// A recording on disk as the body of an upload: never in memory as a whole.
//
// Holds: measure(), create_form_file(). Next file: send.hpp.
#pragma once

#include <cli/send_request.hpp>
#include <net/body_source.hpp>

#include <boost/system/result.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hearonce::cli {

struct file_failure {
    std::string text;  // One line, the file named.
};

struct measured_file {
    std::uint64_t size_bytes = 0;
    std::string sha256;  // Lower-case hex.
};
// Reads the file once from end to end.
boost::system::result<measured_file, file_failure> measure(const std::filesystem::path& file);

// Head, file, tail. The file is read while it is sent; one that changed its length since it was measured fails the call.
// `progress` is told the bytes given so far and in all, at each piece.
std::shared_ptr<net::body_source> create_form_file(form_frame frame, std::filesystem::path file, std::uint64_t file_bytes,
                                                   std::function<void(std::uint64_t, std::uint64_t)> progress);

}  // namespace hearonce::cli
