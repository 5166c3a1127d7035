// What the local engine's tests share: recordings, a folder of their own, and a loop that runs until something is so.
#pragma once

#include <backends/whisper/whisper_backend.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace hearonce::whisper::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

inline const std::filesystem::path data_folder = HEARONCE_TEST_DATA;
inline const std::filesystem::path wav_folder = data_folder / "wav";
inline const std::filesystem::path micro_model = data_folder / "ggml-micro.en.bin";

// A folder that is gone with its owner.
class folder {
public:
    folder() {
        std::string name = (std::filesystem::temp_directory_path() / "hearonce-XXXXXX").string();
        BOOST_REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~folder() { std::filesystem::remove_all(path_); }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

inline std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    BOOST_REQUIRE_MESSAGE(in.good(), file);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::filesystem::path& file, std::string_view bytes) {
    std::ofstream out(file, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    BOOST_REQUIRE(out.good());
}

// In memory, in pieces, as an upload arrives; the second of them is empty.
class bytes_in_memory final : public stored_bytes {
public:
    explicit bytes_in_memory(std::string bytes, std::size_t count = 3) : bytes_(std::move(bytes)) {
        auto left = std::as_bytes(std::span(bytes_));
        for (std::size_t i = count; i > 1; --i) {
            const std::size_t size = i + 1 == count ? 0 : left.size() / i;
            pieces_.push_back(left.first(size));
            left = left.subspan(size);
        }
        pieces_.push_back(left);
    }
    std::uint64_t size_bytes() const noexcept override { return bytes_.size(); }
    std::span<const std::span<const std::byte>> pieces() const noexcept override { return pieces_; }
    int file_descriptor() const noexcept override { return -1; }

private:
    std::string bytes_;
    std::vector<std::span<const std::byte>> pieces_;
};

// In an unlinked file whose offset is at its end.
class bytes_in_file final : public stored_bytes {
public:
    explicit bytes_in_file(const std::string& bytes) : size_(bytes.size()) {
        std::string name = (std::filesystem::temp_directory_path() / "hearonce-spill-XXXXXX").string();
        fd_ = ::mkostemp(name.data(), O_CLOEXEC);
        BOOST_REQUIRE(fd_ >= 0);
        ::unlink(name.c_str());
        BOOST_REQUIRE_EQUAL(::write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }
    ~bytes_in_file() override { ::close(fd_); }
    std::uint64_t size_bytes() const noexcept override { return size_; }
    std::span<const std::span<const std::byte>> pieces() const noexcept override { return {}; }
    int file_descriptor() const noexcept override { return fd_; }

private:
    int fd_ = -1;
    std::uint64_t size_;
};

inline std::shared_ptr<const recording> recording_of(std::string bytes) {
    auto made = std::make_shared<recording>();
    made->bytes = std::make_shared<bytes_in_memory>(std::move(bytes));
    return made;
}

inline std::shared_ptr<const recording> spilled_recording_of(const std::string& bytes) {
    auto made = std::make_shared<recording>();
    made->bytes = std::make_shared<bytes_in_file>(bytes);
    return made;
}

inline std::map<std::string, std::string> truth() {
    std::map<std::string, std::string> out;
    const boost::json::value read = boost::json::parse(bytes_of(wav_folder / "truth.json"));
    for (const auto& [name, text] : read.as_object()) out.emplace(std::string(name), std::string(text.as_string()));
    return out;
}

inline std::vector<std::string> words_in(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

// Words to change, add or leave out to make one text the other.
inline std::size_t word_errors(const std::string& wanted, const std::string& got) {
    const auto a = words_in(wanted);
    const auto b = words_in(got);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({change, row[j] + 1, row[j - 1] + 1}));
        }
    }
    return row.back();
}

// One transcription on a loop; `outcome` is there when it has ended.
struct call {
    std::optional<result<transcript>> outcome;
    std::exception_ptr thrown;
    asio::cancellation_signal cancel;
    bool over() const { return outcome || thrown; }
};

inline std::shared_ptr<call> begin(asio::io_context& loop, backend& on, std::shared_ptr<const recording> audio,
                                   transcription_request request = {}, attempt terms = deadline::after(60s)) {
    auto made = std::make_shared<call>();
    auto operation = on.transcribe(std::move(audio), std::move(request), std::move(terms));
    asio::co_spawn(
        loop, deadline_detail::optional_of(std::move(operation)),
        asio::bind_cancellation_slot(made->cancel.slot(), [made](std::exception_ptr e, std::optional<result<transcript>> outcome) {
            made->thrown = e;
            if (!e) made->outcome = std::move(outcome);
        }));
    return made;
}

// Runs the loop until `so`; fails the test after `within`.
inline void run_until(asio::io_context& loop, const std::function<bool()>& so, std::chrono::milliseconds within = 60s) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (!so()) {
        loop.restart();
        loop.run_one_for(50ms);
        BOOST_REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end, "the loop did not get there in time");
    }
}

inline const transcript& transcript_in(const call& ended) {
    BOOST_REQUIRE(ended.outcome.has_value());
    BOOST_REQUIRE_MESSAGE(ended.outcome->has_value(), ended.outcome->error().message());
    return **ended.outcome;
}

inline error error_in(const call& ended) {
    BOOST_REQUIRE(ended.outcome.has_value());
    BOOST_REQUIRE(ended.outcome->has_error());
    return ended.outcome->error();
}

}  // namespace hearonce::whisper::test
