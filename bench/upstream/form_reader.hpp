// Takes a multipart form apart while it arrives: files are hashed and dropped, fields are kept.
//
// Holds: received_file, form_reader. No I/O. Next file: openai_rules.hpp.
#pragma once

#include <hearonce/audio.hpp>
#include <hearonce/error.hpp>
#include <hearonce/transcription.hpp>
#include <http/multipart.hpp>
#include <http/sha256_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::upstream {

struct received_file {
    std::string field;
    std::string name;
    std::string type;
    std::uint64_t bytes = 0;
    sha256_digest sha256{};
};

class form_reader {
public:
    static constexpr std::size_t fields_bytes_max = 1024 * 1024;

    explicit form_reader(std::string_view boundary) : parser_(boundary) {}

    // errc::invalid_multipart, also for more than fields_bytes_max of fields.
    result<void> feed(std::span<const std::byte> bytes);
    result<void> finish() const { return parser_.finish(); }

    // In the order in which they came, complete ones only.
    const std::vector<form_field>& fields() const noexcept { return fields_; }
    const std::vector<received_file>& files() const noexcept { return files_; }
    // The first of this name; nullptr when there is none.
    const std::string* field(std::string_view name) const noexcept;

private:
    void begin_part();
    void end_part();

    http::multipart_parser parser_;
    std::vector<form_field> fields_;
    std::vector<received_file> files_;
    form_field field_;
    received_file file_;
    std::optional<http::sha256_stream> hash_;  // While a file's part is read.
    std::size_t fields_bytes_ = 0;
};

}  // namespace hearonce::upstream
