// From a descriptor to samples: open, find the audio, run it through. Next file: recognise.cpp.
#include <backends/whisper/worker/decode.hpp>
#include <backends/whisper/worker/gather.hpp>
#include <backends/whisper/worker/media.hpp>
#include <backends/whisper/worker/wav_claim.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <string>

namespace hearonce::whisper {
namespace {

// Samples handed on at a time, where they are.
constexpr std::size_t piece_samples = 4UL * samples_per_second;

using piece_taker = std::function<bool(const std::vector<float>&)>;

// Where the samples go: all of them stay, or they are handed on. `refused`: whoever takes them wants no more.
struct outlet {
    gatherer out;
    const piece_taker* take = nullptr;
    bool refused = false;

    bool full() const noexcept { return refused || out.full(); }
    void hand_on(std::size_t at_least) {
        if (take == nullptr || refused || out.samples().size() < at_least) return;
        refused = !(*take)(out.samples());
        out.drop();
    }
};

// Runs the stream through the decoder. False when something in it could not be decoded.
bool gather(AVFormatContext& format, int stream, AVCodecContext& codec, source& from, outlet& to) {
    const packet_pointer packet(av_packet_alloc());
    const frame_pointer frame(av_frame_alloc());
    if (!packet || !frame) throw std::bad_alloc();
    bool clean = true;
    for (bool ended = false; !ended && !from.stopped && !to.full();) {
        ended = av_read_frame(&format, packet.get()) < 0;
        if (!ended && packet->stream_index == stream && avcodec_send_packet(&codec, packet.get()) < 0) clean = false;
        av_packet_unref(packet.get());
        if (ended) avcodec_send_packet(&codec, nullptr);
        while (!to.full() && avcodec_receive_frame(&codec, frame.get()) >= 0) {
            if (!to.out.add(*frame)) clean = false;
            to.hand_on(piece_samples);
            av_frame_unref(frame.get());
            if ((*from.stop)()) from.stopped = true;
        }
    }
    if (!to.full()) to.out.finish();
    if (!to.full()) to.hand_on(1);
    return clean;
}

// In seconds, by the container's word; 0: it does not say, or is known to be wrong.
double length_of(const AVFormatContext& format, const std::optional<wav_claim>& claim) {
    if (format.duration <= 0 || (claim && !claim->holds())) return 0;
    return static_cast<double>(format.duration) / AV_TIME_BASE;
}

// Samples to make room for: by the container's word, and not more than a file of this size holds of the leanest speech.
std::size_t likely_samples(double length_seconds, std::int64_t file_bytes) {
    constexpr double bytes_per_second_min = 400;
    constexpr double padding_seconds = 1;  // Of encoders and the resampler.
    const double seconds = std::min(length_seconds + padding_seconds, static_cast<double>(file_bytes) / bytes_per_second_min);
    return static_cast<std::size_t>(seconds * samples_per_second);
}

error too_large(std::size_t samples_max, double length_seconds) {
    const std::size_t limit = samples_max / samples_per_second;
    const bool known = length_seconds * samples_per_second > static_cast<double>(samples_max);
    const std::string length =
        known ? "about " + std::to_string(std::llround(std::ceil(length_seconds))) : "more than " + std::to_string(limit);
    return {errc::audio_too_large, "The audio is " + length + " seconds long; the limit is " + std::to_string(limit) + " seconds."};
}

error claims_too_much(const wav_claim& claim) {
    return {errc::unsupported_audio, "The WAV header claims " + std::to_string(claim.bytes) + " bytes of audio, but the file holds " +
                                         std::to_string(claim.held_bytes) + "."};
}

// All of the work; the samples that were not handed on are in `to`.
result<std::size_t> run(int descriptor, std::size_t samples_max, const std::function<bool()>& stop, outlet& to) {
    struct stat about{};
    if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return error(errc::unsupported_audio);
    if (about.st_size == 0) return error(errc::empty_audio);
    const std::optional<wav_claim> claim = wav_claim_of(descriptor, about.st_size);
    if (claim && claim->lies()) return claims_too_much(*claim);
    av_log_set_level(AV_LOG_QUIET);
    // A few bytes of a container can claim an index of gigabytes; this much holds the index of more than a day of speech.
    av_max_alloc(std::size_t{128} << 20);

    source from{descriptor, 0, about.st_size, about.st_size * 4 + (64LL << 20), &stop, false};
    const io_pointer io = open_io(from);
    const format_pointer format = open_format(io.get());
    if (from.stopped) return error(errc::cancelled);
    if (!format) return error(errc::unsupported_audio);
    for (unsigned i = 0; i < format->nb_streams; ++i) {
        if (format->streams[i]->codecpar->codec_type != AVMEDIA_TYPE_AUDIO) format->streams[i]->discard = AVDISCARD_ALL;
    }
    // Some containers are without the parameters until the first packets are looked at; a failure shows below.
    avformat_find_stream_info(format.get(), nullptr);
    const int stream = av_find_best_stream(format.get(), AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0);
    if (from.stopped) return error(errc::cancelled);
    if (stream < 0) return error(errc::unsupported_audio);
    for (unsigned i = 0; i < format->nb_streams; ++i) {
        format->streams[i]->discard = static_cast<int>(i) == stream ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    }
    const codec_pointer codec = open_codec(*format->streams[stream]);
    if (!codec) return error(errc::unsupported_audio);

    const double length_seconds = length_of(*format, claim);
    if (to.take == nullptr) to.out.reserve(likely_samples(length_seconds, about.st_size));
    const bool clean = gather(*format, stream, *codec, from, to);
    if (from.stopped) return error(errc::cancelled);
    if (to.refused) return error(errc::audio_too_large);
    if (to.out.full()) return too_large(samples_max, length_seconds);
    if (to.out.total() == 0) return error(clean ? errc::empty_audio : errc::unsupported_audio);
    if (to.out.total() < samples_min) return error(errc::audio_too_short);
    return to.out.total();
}

}  // namespace

result<std::vector<float>> decode(int descriptor, std::size_t samples_max, const std::function<bool()>& stop) {
    outlet to{gatherer(samples_max)};
    const auto count = run(descriptor, samples_max, stop, to);
    if (!count) return count.error();
    return std::move(to.out.samples());
}

result<std::size_t> decode_in_pieces(int descriptor, std::size_t samples_max, const std::function<bool()>& stop, const piece_taker& take) {
    outlet to{gatherer(samples_max), &take};
    return run(descriptor, samples_max, stop, to);
}

}  // namespace hearonce::whisper
