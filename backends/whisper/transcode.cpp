// One process a recording: started, given two descriptors, listened to until it ends. Next file: worker/to_flac.cpp.
#include <backends/whisper/audio_file.hpp>
#include <backends/whisper/process.hpp>
#include <backends/whisper/protocol.hpp>
#include <backends/whisper/transcode.hpp>
#include <backends/whisper/transcode_places.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hearonce::whisper {
namespace {

namespace asio = boost::asio;

// The result: a sealed file that nobody can change any more.
class flac_bytes final : public stored_bytes {
public:
    flac_bytes(owned_descriptor file, std::uint64_t size, std::shared_ptr<transcode_places> counted)
        : file_(std::move(file)), size_(size), counted_(std::move(counted)) {
        counted_->add_bytes(size_);
    }
    ~flac_bytes() override {
        file_.reset();
        counted_->give_back_bytes(size_);
    }
    std::uint64_t size_bytes() const noexcept override { return size_; }
    std::span<const std::span<const std::byte>> pieces() const noexcept override { return {}; }
    int file_descriptor() const noexcept override { return file_.get(); }

private:
    owned_descriptor file_;
    std::uint64_t size_;
    std::shared_ptr<transcode_places> counted_;
};

// Its whole life in one order: the process is killed and reaped when this goes, before the descriptors are closed.
struct job {
    owned_descriptor recording;
    owned_descriptor result;
    std::optional<asio::local::stream_protocol::socket> socket;
    std::optional<helper_process> process;
    bool ready = false;
    std::string why_not;
};

// Both descriptors with the first byte of one frame. The socket is new and empty: it takes all at once or is broken.
bool send_order(int socket, int recording, int result) {
    const std::string frame = encode(start_job{1, {}, {}, 0, false, false});
    iovec piece{const_cast<char*>(frame.data()), frame.size()};
    const std::array<int, 2> files{recording, result};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof files)> control{};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof files);
    std::memcpy(CMSG_DATA(rights), files.data(), sizeof files);
    ssize_t n = 0;
    do {
        n = ::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    return n == static_cast<ssize_t>(frame.size());
}

std::vector<std::string> arguments_of(const transcode_settings& settings) {
    return {"--to-flac",
            "--serve-fd",
            std::to_string(helper_process::socket_number),
            "--audio-seconds-max",
            std::to_string(settings.audio_seconds_max),
            "--flac-bytes-max",
            std::to_string(settings.flac_bytes_max)};
}

// False: why_not says what could not be had.
bool begin(job& work, const transcode_settings& settings, const stored_bytes& bytes, const asio::any_io_executor& executor) {
    work.recording = descriptor_of(bytes);
    work.result.reset(::memfd_create("decoded", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!work.recording || !work.result) {
        work.why_not = std::string("no descriptor or memory for a recording: ") + std::strerror(errno);
        return false;
    }
    auto started = helper_process::start(settings.helper, arguments_of(settings), work.why_not);
    if (!started) return false;
    work.process.emplace(std::move(started->process));
    work.socket.emplace(executor, asio::local::stream_protocol(), started->socket.release());
    const bool sent = send_order(work.socket->native_handle(), work.recording.get(), work.result.get());
    // Its own copy is on the way; nobody needs ours.
    work.recording.reset();
    return sent;
}

// The helper's last word, or nothing when it has gone without one.
asio::awaitable<std::optional<message>> last_word(std::shared_ptr<job> work) {
    frame_reader frames;
    std::array<char, 4096> room;
    for (;;) {
        auto [ec, count] = co_await work->socket->async_read_some(asio::buffer(room), asio::as_tuple(asio::use_awaitable));
        if (ec) co_return std::nullopt;
        frames.feed({room.data(), count});
        std::string_view payload;
        frame_reader::state next = frames.next(payload);
        for (; next == frame_reader::state::frame; next = frames.next(payload)) {
            auto what = decode(payload);
            if (!what) co_return std::nullopt;
            if (!std::holds_alternative<helper_ready>(*what)) co_return what;
            work->ready = true;
        }
        if (next == frame_reader::state::broken) co_return std::nullopt;
    }
}

error helper_broken() {
    return error(errc::upstream_error, "The gateway cannot decode this kind of audio file at the moment.").with_remedy(remedy::elsewhere);
}

bool is_flac(int file) {
    std::array<char, 4> head{};
    return ::pread(file, head.data(), head.size(), 0) == static_cast<ssize_t>(head.size()) && std::memcmp(head.data(), "fLaC", 4) == 0;
}

class process_transcoder final : public transcoder, public std::enable_shared_from_this<process_transcoder> {
public:
    explicit process_transcoder(transcode_settings settings)
        : settings_(std::move(settings)),
          places_(std::make_shared<transcode_places>(settings_.jobs_max, settings_.waiting_max, settings_.all_bytes_max)) {}

    std::uint64_t bytes_in_use() const override { return places_->bytes(); }
    // The coroutine is lazy and may begin when whoever called is gone: it holds this object.
    asio::awaitable<result<transcoded>> to_flac(std::shared_ptr<const recording> audio, deadline limit) override {
        return run(shared_from_this(), std::move(audio), limit);
    }

private:
    static asio::awaitable<result<transcoded>> run(std::shared_ptr<process_transcoder> self, std::shared_ptr<const recording> audio,
                                                   deadline limit) {
        transcode_places::place mine(self->places_);
        auto refused = co_await mine.take(limit);
        if (refused) co_return std::move(*refused);
        auto executor = co_await asio::this_coro::executor;
        const auto work = std::make_shared<job>();
        if (!begin(*work, self->settings_, *audio->bytes, executor)) {
            self->say("hearonce-whisper cannot be started to decode a recording: " + work->why_not);
            co_return helper_broken();
        }
        audio.reset();
        const deadline until = std::min(limit, deadline::after(self->settings_.time_max));
        auto heard = co_await with_deadline(last_word(work), until);
        work->process.reset();
        auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none) co_return error(errc::cancelled);
        if (!heard) co_return error(errc::upstream_timeout, "The recording could not be decoded in time.");
        co_return self->end_of(*work, *heard);
    }

    result<transcoded> end_of(job& work, const std::optional<message>& word) {
        if (word) {
            if (const auto* failed = std::get_if<job_failed>(&*word)) return error_of(*failed);
            if (const auto* done = std::get_if<job_done>(&*word)) return result_of(work, done->result.duration_seconds);
            const auto* broken = std::get_if<helper_failed>(&*word);
            say("hearonce-whisper cannot decode recordings: " + (broken != nullptr ? broken->reason : "it spoke nonsense"));
            return helper_broken();
        }
        if (work.ready) {
            // What ended it is this recording; it would end it again.
            say("hearonce-whisper ended while it decoded a recording");
            return error(errc::unsupported_audio);
        }
        say("hearonce-whisper ended before it could decode a recording");
        return helper_broken();
    }

    result<transcoded> error_of(const job_failed& said) {
        switch (said.code) {
            case errc::unsupported_audio:
            case errc::empty_audio:
            case errc::audio_too_short:
            case errc::audio_too_large: return error(said.code, said.message);
            default: break;
        }
        say("hearonce-whisper cannot decode recordings: " + said.message);
        return helper_broken();
    }

    // The process has ended, so sealing cannot fail for a mapping of its own; what it wrote is believed to be bytes, no more.
    result<transcoded> result_of(job& work, double seconds) {
        struct stat about{};
        const bool sealed = ::fcntl(work.result.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0 &&
                            ::fstat(work.result.get(), &about) == 0;
        const auto size = static_cast<std::uint64_t>(std::max<off_t>(about.st_size, 0));
        if (!sealed || size > settings_.flac_bytes_max || !is_flac(work.result.get())) {
            say("hearonce-whisper left no FLAC file behind");
            return helper_broken();
        }
        transcoded made;
        made.bytes = std::make_shared<flac_bytes>(std::move(work.result), size, places_);
        made.seconds = seconds;
        return made;
    }

    void say(const std::string& line) const {
        if (settings_.log) settings_.log(line);
    }

    transcode_settings settings_;
    std::shared_ptr<transcode_places> places_;
};

}  // namespace

std::shared_ptr<transcoder> create_transcoder(transcode_settings settings) {
    return std::make_shared<process_transcoder>(std::move(settings));
}

}  // namespace hearonce::whisper
