// Next files: decode.cpp, flac.cpp.
#include <backends/whisper/worker/decode.hpp>
#include <backends/whisper/worker/flac.hpp>
#include <backends/whisper/worker/line.hpp>
#include <backends/whisper/worker/memory.hpp>
#include <backends/whisper/worker/sandbox.hpp>
#include <backends/whisper/worker/to_flac.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace hearonce::whisper {
namespace {

constexpr std::size_t descriptors_of_job = 2;

// What is written is bounded by the kernel: a recording that takes over this process gets no further.
void limit_output(long bytes_max) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{static_cast<rlim_t>(bytes_max), static_cast<rlim_t>(bytes_max)};
    static_cast<void>(::setrlimit(RLIMIT_FSIZE, &most));
}

struct order {
    std::uint64_t id = 0;
    std::deque<std::unique_ptr<descriptor>> files;  // The recording, the result.
};

std::optional<order> take_order(line& gateway) {
    order taken;
    frame_reader frames;
    std::string bytes;
    std::string_view payload;
    while (gateway.receive(bytes, taken.files)) {
        frames.feed(bytes);
        const frame_reader::state next = frames.next(payload);
        if (next == frame_reader::state::more) continue;
        const auto what = next == frame_reader::state::frame ? decode(payload) : std::nullopt;
        const auto* start = what ? std::get_if<start_job>(&*what) : nullptr;
        if (start == nullptr || taken.files.size() != descriptors_of_job) return std::nullopt;
        taken.id = start->id;
        return taken;
    }
    return std::nullopt;
}

message done(std::uint64_t id, std::size_t samples) {
    job_done end;
    end.id = id;
    end.result.duration_seconds = static_cast<double>(samples) / samples_per_second;
    return end;
}

message failed(std::uint64_t id, const error& why) {
    return job_failed{id, why.code(), std::string(why.message()), {}};
}

message run(const order& job, const options& wanted) {
    flac_file out(job.files.back()->get());
    if (!out.good()) return failed(job.id, error(errc::upstream_error, "The helper cannot write FLAC."));
    const std::size_t samples_max = static_cast<std::size_t>(wanted.audio_seconds_max) * samples_per_second;
    const auto take = [&out](const std::vector<float>& samples) { return out.add(samples); };
    const auto count = decode_in_pieces(job.files.front()->get(), samples_max, [] { return false; }, take);
    if (out.good() && !count) return failed(job.id, count.error());
    if (count && out.finish()) return done(job.id, *count);
    return failed(job.id, error(errc::audio_too_large,
                                "The audio is too long: decoded it is more than " + std::to_string(wanted.flac_bytes_max) + " bytes."));
}

}  // namespace

void transcode_once(const options& wanted) {
    die_with_parent();
    die_first();
    line gateway(wanted.serve_fd);
    // The samples pass through, so that the length of a recording takes no memory.
    options room = wanted;
    room.audio_seconds_max = 60;
    room.threads = 1;
    room.slots = 1;
    limit_memory(room);
    limit_output(wanted.flac_bytes_max);
    const std::string why = enter_sandbox();
    if (why.empty())
        gateway.send(helper_ready{});
    else
        gateway.send(helper_failed{"The sandbox cannot be entered: " + why + "."});
    auto job = why.empty() ? take_order(gateway) : std::nullopt;
    if (!job) ::_exit(1);
    try {
        gateway.send(run(*job, wanted));
    } catch (const std::exception&) {
        gateway.send(failed(job->id, error(errc::unsupported_audio, "The audio file needs too much memory to be decoded.")));
    }
    ::_exit(0);
}

}  // namespace hearonce::whisper
