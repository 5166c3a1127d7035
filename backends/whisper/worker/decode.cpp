// From a descriptor to samples: open, find the audio, run it through. Next file: recognise.cpp.
#include <backends/whisper/worker/decode.hpp>
#include <backends/whisper/worker/gather.hpp>
#include <backends/whisper/worker/media.hpp>

#include <sys/stat.h>

#include <new>
#include <string>

namespace hearonce::whisper {
namespace {

// Runs the stream through the decoder. False when something in it could not be decoded.
bool gather(AVFormatContext& format, int stream, AVCodecContext& codec, source& from, gatherer& out) {
    const packet_pointer packet(av_packet_alloc());
    const frame_pointer frame(av_frame_alloc());
    if (!packet || !frame) throw std::bad_alloc();
    bool clean = true;
    for (bool ended = false; !ended && !from.stopped && !out.full();) {
        ended = av_read_frame(&format, packet.get()) < 0;
        if (!ended && packet->stream_index == stream && avcodec_send_packet(&codec, packet.get()) < 0) clean = false;
        av_packet_unref(packet.get());
        if (ended) avcodec_send_packet(&codec, nullptr);
        while (!out.full() && avcodec_receive_frame(&codec, frame.get()) >= 0) {
            if (!out.add(*frame)) clean = false;
            av_frame_unref(frame.get());
            if ((*from.stop)()) from.stopped = true;
        }
    }
    if (!out.full()) out.finish();
    return clean;
}

error too_large(std::size_t samples_max) {
    return {errc::audio_too_large, "The audio is longer than " + std::to_string(samples_max / samples_per_second) + " seconds."};
}

}  // namespace

result<std::vector<float>> decode(int descriptor, std::size_t samples_max, const std::function<bool()>& stop) {
    struct stat about{};
    if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return error(errc::unsupported_audio);
    if (about.st_size == 0) return error(errc::empty_audio);
    av_log_set_level(AV_LOG_QUIET);

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

    gatherer out(samples_max);
    const bool clean = gather(*format, stream, *codec, from, out);
    if (from.stopped) return error(errc::cancelled);
    if (out.full()) return too_large(samples_max);
    if (out.samples().empty()) return error(clean ? errc::empty_audio : errc::unsupported_audio);
    if (out.samples().size() < samples_min) return error(errc::audio_too_short);
    return std::move(out.samples());
}

}  // namespace hearonce::whisper
