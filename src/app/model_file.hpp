// A model while it is fetched: the part on disk that a later try goes on with, and its way to a finished file.
//
// Holds: model_part, file_digest(), remove_model(). Next file: none of the app's; cli/models_pull.cpp drives it.
#pragma once

#include <app/model_source.hpp>
#include <app/private_file.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace hearonce::app {

// ggml-NAME.bin.part and, beside it, ggml-NAME.bin.part.etag. Held by one process at a time. Left where it is when destroyed,
// unless it became the model.
class model_part {
public:
    // Makes `folder` if it is missing. Check problem() before anything else.
    model_part(const std::filesystem::path& folder, std::string_view name);
    ~model_part();
    model_part(const model_part&) = delete;
    model_part& operator=(const model_part&) = delete;

    // Why there is nothing to work with, in one line: no access, or another process is fetching this model. Empty: all is well.
    const std::string& problem() const noexcept { return problem_; }
    const part_on_disk& state() const noexcept { return state_; }
    const std::filesystem::path& file() const noexcept { return file_; }
    const std::filesystem::path& part() const noexcept { return part_; }

    // Each gives an empty text, or in one line what went wrong.
    std::string begin_again(const std::string& etag);
    std::string append(std::string_view bytes);
    // Down to the disk, then renamed: the name never stands for half a model.
    std::string finish();
    void discard();

private:
    std::string failed(const char* what) const;

    std::filesystem::path file_;
    std::filesystem::path part_;
    std::filesystem::path etag_file_;
    part_on_disk state_;
    std::string problem_;
    int descriptor_ = -1;
};

// Lower-case hex of a file's digest, `algorithm` as OpenSSL names it ("SHA1", "SHA256"); empty when it cannot be read or when
// `go_on`, called now and then with the bytes read, says no.
std::string file_digest(const std::filesystem::path& file, const char* algorithm, const std::function<bool(std::uint64_t)>& go_on);

// Bytes freed by removing the model NAME and what a broken download of it left in `folder`; 0: there was none. An error names
// the file.
boost::system::result<std::uint64_t, file_problem> remove_model(const std::filesystem::path& folder, std::string_view name);

}  // namespace hearonce::app
