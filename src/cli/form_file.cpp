// Next file: send.cpp.
#include <cli/form_file.hpp>

#include <hearonce/ascii.hpp>

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hearonce::cli {
namespace {

constexpr std::size_t piece_bytes = 256 * 1024;

class descriptor {
public:
    explicit descriptor(const std::filesystem::path& file) : number_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    bool open() const noexcept { return number_ >= 0; }
    bool regular() const noexcept {
        struct stat info{};
        return ::fstat(number_, &info) == 0 && S_ISREG(info.st_mode);
    }
    void rewind() noexcept { ::lseek(number_, 0, SEEK_SET); }
    // Bytes read; 0 at the end, -1 on an error.
    ssize_t read(std::span<std::byte> into) noexcept {
        for (;;) {
            const auto got = ::read(number_, into.data(), into.size());
            if (got >= 0 || errno != EINTR) return got;
        }
    }

private:
    int number_;
};

class form_file final : public net::body_source {
public:
    form_file(form_frame frame, std::filesystem::path file, std::uint64_t file_bytes,
              std::function<void(std::uint64_t, std::uint64_t)> progress)
        : frame_(std::move(frame)),
          path_(std::move(file)),
          source_(path_),
          left_(file_bytes),
          size_(frame_.head.size() + file_bytes + frame_.tail.size()),
          progress_(std::move(progress)),
          buffer_(piece_bytes) {}

    std::uint64_t size_bytes() const noexcept override { return size_; }

    // Reads on the loop's own thread: the program does nothing else meanwhile.
    net::body_batch next() override {
        const auto piece = piece_of_step();
        net::body_batch batch;
        if (!piece) batch.step = net::body_step::failed;
        if (!piece || piece->empty()) return batch;
        given_ += piece->size();
        if (progress_) progress_(given_, size_);
        buffer_given_ = boost::asio::const_buffer(piece->data(), piece->size());
        batch.buffers = std::span(&buffer_given_, 1);
        return batch;
    }

    void rewind() override {
        source_.rewind();
        left_ = size_ - frame_.head.size() - frame_.tail.size();
        given_ = 0;
        step_ = 0;
    }

    std::string failure() const override { return failure_; }

private:
    std::optional<std::span<const std::byte>> piece_of_step() {
        if (step_ == 0) {
            step_ = left_ > 0 ? 1 : 2;
            return std::as_bytes(std::span(frame_.head));
        }
        if (step_ == 1) return piece_of_file();
        if (step_++ == 2) return std::as_bytes(std::span(frame_.tail));
        return std::span<const std::byte>();
    }

    std::optional<std::span<const std::byte>> piece_of_file() {
        const auto wanted = std::span(buffer_).first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, buffer_.size())));
        const auto got = source_.open() ? source_.read(wanted) : -1;
        if (got <= 0) {
            failure_ = path_.string() + (got == 0 ? std::string(": became shorter while it was sent")
                                                  : std::string(": cannot be read: ") + std::strerror(errno));
            return std::nullopt;
        }
        left_ -= static_cast<std::uint64_t>(got);
        if (left_ == 0) step_ = 2;
        return wanted.first(static_cast<std::size_t>(got));
    }

    form_frame frame_;
    std::filesystem::path path_;
    descriptor source_;
    std::uint64_t left_;
    std::uint64_t size_;
    std::uint64_t given_ = 0;
    int step_ = 0;
    std::function<void(std::uint64_t, std::uint64_t)> progress_;
    std::vector<std::byte> buffer_;
    boost::asio::const_buffer buffer_given_;
    std::string failure_;
};

}  // namespace

boost::system::result<measured_file, file_failure> measure(const std::filesystem::path& file) {
    const auto fail = [&file](std::string_view why) { return file_failure{file.string() + ": " + std::string(why)}; };
    descriptor source(file);
    if (!source.open()) return fail(std::string("cannot be read: ") + std::strerror(errno));
    // A pipe could be read only once, and the hash goes ahead of the bytes.
    if (!source.regular()) return fail("is not a regular file");
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    if (!hash || EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) != 1) return fail("SHA-256 is not available");
    measured_file measured;
    std::vector<std::byte> buffer(piece_bytes);
    for (;;) {
        const auto got = source.read(buffer);
        if (got < 0) return fail(std::string("cannot be read: ") + std::strerror(errno));
        if (got == 0) break;
        measured.size_bytes += static_cast<std::uint64_t>(got);
        if (EVP_DigestUpdate(hash.get(), buffer.data(), static_cast<std::size_t>(got)) != 1) return fail("SHA-256 failed");
    }
    std::array<unsigned char, 32> digest{};
    if (EVP_DigestFinal_ex(hash.get(), digest.data(), nullptr) != 1) return fail("SHA-256 failed");
    measured.sha256 = ascii::hex_of(std::as_bytes(std::span(digest)));
    return measured;
}

std::shared_ptr<net::body_source> create_form_file(form_frame frame, std::filesystem::path file, std::uint64_t file_bytes,
                                                   std::function<void(std::uint64_t, std::uint64_t)> progress) {
    return std::make_shared<form_file>(std::move(frame), std::move(file), file_bytes, std::move(progress));
}

}  // namespace hearonce::cli
