// Next file: cli/models_pull.cpp.
#include <app/model_file.hpp>

#include <hearonce/ascii.hpp>

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hearonce::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t etag_bytes_max = 1024;
constexpr std::size_t digest_piece_bytes = 1024 * 1024;

std::string first_line_of(const fs::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line.size() <= etag_bytes_max ? line : std::string();
}

}  // namespace

model_part::model_part(const fs::path& folder, std::string_view name) {
    file_ = folder / ("ggml-" + std::string(name) + ".bin");
    part_ = file_;
    part_ += ".part";
    etag_file_ = part_;
    etag_file_ += ".etag";
    std::error_code ec;
    fs::create_directories(folder, ec);
    if (ec) {
        problem_ = folder.string() + ": cannot be made: " + ec.message();
        return;
    }
    descriptor_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (descriptor_ < 0) {
        problem_ = failed("cannot be opened");
    } else if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        problem_ = part_.string() + ": another process is fetching this model";
    } else {
        state_.bytes = static_cast<std::uint64_t>(std::max<off_t>(0, ::lseek(descriptor_, 0, SEEK_END)));
        state_.etag = first_line_of(etag_file_);
        // Whoever held the lock before may have finished meanwhile: the name then is another file's, or nobody's.
        struct stat held{};
        struct stat named{};
        const bool same = ::fstat(descriptor_, &held) == 0 && ::stat(part_.c_str(), &named) == 0 && held.st_ino == named.st_ino;
        if (!same) problem_ = part_.string() + ": another process has just fetched this model";
    }
}

model_part::~model_part() {
    if (descriptor_ < 0) return;
    // Nothing came: nothing is left behind.
    if (problem_.empty() && state_.bytes == 0) discard();
    ::close(descriptor_);
}

std::string model_part::failed(const char* what) const {
    return part_.string() + ": " + what + ": " + std::strerror(errno);
}

std::string model_part::begin_again(const std::string& etag) {
    if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0) return failed("cannot be emptied");
    state_ = {0, etag};
    std::ofstream stream(etag_file_, std::ios::trunc);
    stream << etag << '\n';
    stream.close();
    return stream ? std::string() : etag_file_.string() + ": cannot be written";
}

std::string model_part::append(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failed("cannot be written");
        state_.bytes += static_cast<std::uint64_t>(written);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

std::string model_part::finish() {
    if (::fsync(descriptor_) != 0) return failed("cannot be written");
    if (::rename(part_.c_str(), file_.c_str()) != 0) return failed("cannot be renamed");
    const int folder = ::open(file_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        ::fsync(folder);
        ::close(folder);
    }
    std::error_code ignored;
    fs::remove(etag_file_, ignored);
    ::close(std::exchange(descriptor_, -1));
    return {};
}

void model_part::discard() {
    std::error_code ignored;
    fs::remove(part_, ignored);
    fs::remove(etag_file_, ignored);
}

std::string file_digest(const fs::path& file, const char* algorithm, const std::function<bool(std::uint64_t)>& go_on) {
    std::ifstream stream(file, std::ios::binary);
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    if (!stream || !state || EVP_DigestInit_ex(state.get(), EVP_get_digestbyname(algorithm), nullptr) != 1) return {};
    std::string piece(digest_piece_bytes, '\0');
    std::uint64_t done = 0;
    while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())), stream.gcount() > 0) {
        const auto got = static_cast<std::size_t>(stream.gcount());
        done += got;
        if (EVP_DigestUpdate(state.get(), piece.data(), got) != 1 || !go_on(done)) return {};
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    if (!stream.eof() || EVP_DigestFinal_ex(state.get(), bytes.data(), &size) != 1) return {};
    return ascii::hex_of(std::as_bytes(std::span(bytes).first(size)));
}

boost::system::result<std::uint64_t, file_problem> remove_model(const fs::path& folder, std::string_view name) {
    const fs::path file = folder / ("ggml-" + std::string(name) + ".bin");
    std::uint64_t freed = 0;
    for (const char* const tail : {"", ".part", ".part.etag"}) {
        fs::path each = file;
        each += tail;
        std::error_code ec;
        const auto size = fs::file_size(each, ec);
        if (ec) continue;
        if (!fs::remove(each, ec) || ec) return file_problem(each, "cannot be removed: " + ec.message());
        freed += size;
    }
    return freed;
}

}  // namespace hearonce::app
