// A helper for tests that does what the text of its "model" file says, one word after the other.
#include <backends/whisper/protocol.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace {

using namespace hearonce::whisper;
constexpr int socket_fd = 3;

void say(const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
        const ssize_t n = ::send(socket_fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) std::_Exit(0);
        sent += static_cast<std::size_t>(n);
    }
}

// The next message; descriptors that come along are dropped by a plain read. Ends with the socket.
message listen() {
    static frame_reader frames;
    std::string_view payload;
    while (frames.next(payload) != frame_reader::state::frame) {
        std::array<char, 4096> room;
        const ssize_t n = ::read(socket_fd, room.data(), room.size());
        if (n <= 0) std::_Exit(0);
        frames.feed({room.data(), static_cast<std::size_t>(n)});
    }
    return decode(payload).value();
}

job_done long_result(std::uint64_t id) {
    job_done out{id, {}};
    out.result.duration_seconds = 1e9;
    return out;
}

}  // namespace

int main(int, char** argv) {
    while (argv[1] != nullptr) ++argv;
    std::ifstream script(argv[0]);
    std::string word;
    std::uint64_t id = 0;
    start_job work;
    while (script >> word) {
        if (word == "ready")
            say(encode(helper_ready{"scripted", true}));
        else if (word == "broken")
            say(encode(helper_failed{"scripted trouble"}));
        else if (word == "job")
            id = (work = std::get<start_job>(listen())).id;
        else if (word == "cancel")
            id = std::get<cancel_job>(listen()).id;
        else if (word == "step")
            say(encode(job_step{id, 1000}));
        else if (word == "quiet")
            say(encode(job_step{id, 1000, true}));
        else if (word == "week")
            say(encode(job_step{id, 604'800'000}));
        else if (word == "age")
            say(encode(job_step{id, std::numeric_limits<std::int64_t>::min()}));
        else if (word == "bounded" && (work.prompt.size() > 8192 || work.prompt.empty() || work.language.size() > 64))
            std::_Exit(6);
        else if (word == "bounded")
            continue;
        else if (word == "next")
            ++id;  // The job after the one that runs.
        else if (word == "heard")
            say(encode(job_heard{id, work.tell ? " told" : "unasked"}));
        else if (word == "heard-too-much")
            for (int i = 0; i < 17; ++i) say(encode(job_heard{id, std::string(1 << 20, 'x')}));
        else if (word == "heard-other")
            say(encode(job_heard{id + 1000, "x"}));
        else if (word == "done")
            say(encode(job_done{id, {}}));
        else if (word == "done-other")
            say(encode(job_done{id + 1000, {}}));
        else if (word == "long-done")
            say(encode(long_result(id)));
        else if (word == "start")
            say(encode(work));
        else if (word == "cancel-me")
            say(encode(cancel_job{id}));
        else if (word == "failed")
            say(encode(job_failed{id, hearonce::errc::invalid_api_key, "scripted", ""}));
        else if (word == "cancelled")
            say(encode(job_cancelled{id}));
        else if (word == "nonsense")
            say(std::string("\0\0\0\2{]", 6));
        else if (word == "oversized")
            say("\xFF\xFF\xFF\xFF");
        else if (word == "half")
            say(encode(job_done{id, {}}).substr(0, 9));
        else if (word == "close")
            ::close(socket_fd);
        else if (word == "hang")
            ::pause();
        else if (word == "crash")
            std::abort();
        else if (word == "exit")
            std::_Exit(5);
        else
            std::_Exit(64);
    }
    for (;;) listen();
}
