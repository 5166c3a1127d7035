// FFmpeg's demuxers, decoders and resampler over one descriptor. Next file: recognise.cpp.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
}

#include <backends/whisper/worker/decode.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>

namespace hearonce::whisper {
namespace {

// Containers and codecs that phones, browsers and recorders write.
constexpr const char* demuxers = "wav,mp3,mov,mp4,m4a,3gp,3g2,mj2,aac,ogg,matroska,webm,flac";
constexpr const char* decoders =
    "pcm_u8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s32le,pcm_f32le,pcm_f64le,pcm_alaw,pcm_mulaw,adpcm_ms,adpcm_ima_wav,gsm_ms,"
    "mp1,mp1float,mp2,mp2float,mp3,mp3float,aac,aac_fixed,alac,opus,vorbis,flac,amrnb,amrwb,libopencore_amrnb,libopencore_amrwb";
constexpr std::size_t buffer_bytes = 64UL << 10;
constexpr int sample_rate_min = 4000;
constexpr int sample_rate_max = 768000;
constexpr int channels_max = 64;

template <auto Free>
struct freed {
    template <class T>
    void operator()(T* what) const {
        Free(&what);
    }
};

// What FFmpeg reads from: a descriptor whose offset is left alone.
struct source {
    int descriptor = -1;
    std::int64_t at = 0;
    std::int64_t size = 0;
    std::int64_t readable = 0;  // Bytes that may still be read: ends a demuxer that goes round in circles.
    const std::function<bool()>* stop = nullptr;
    bool stopped = false;
};

int read_source(void* opaque, std::uint8_t* to, int wanted) {
    auto& from = *static_cast<source*>(opaque);
    if ((*from.stop)()) from.stopped = true;
    if (from.stopped || from.readable <= 0) return AVERROR_EXIT;
    ssize_t got = 0;
    do {
        got = ::pread(from.descriptor, to, static_cast<std::size_t>(wanted), from.at);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return AVERROR(EIO);
    if (got == 0) return AVERROR_EOF;
    from.at += got;
    from.readable -= got;
    return static_cast<int>(got);
}

std::int64_t seek_source(void* opaque, std::int64_t offset, int whence) {
    auto& from = *static_cast<source*>(opaque);
    if (whence & AVSEEK_SIZE) return from.size;
    switch (whence & ~AVSEEK_FORCE) {
        case SEEK_SET: break;
        case SEEK_CUR: offset += from.at; break;
        case SEEK_END: offset += from.size; break;
        default: return AVERROR(EINVAL);
    }
    if (offset < 0 || offset > from.size) return AVERROR(EINVAL);
    from.at = offset;
    return offset;
}

// Nothing a file names is ever opened.
int open_nothing(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
    return AVERROR(EPERM);
}

struct free_io {
    void operator()(AVIOContext* io) const {
        av_freep(&io->buffer);
        avio_context_free(&io);
    }
};
struct free_format {
    void operator()(AVFormatContext* format) const { avformat_close_input(&format); }
};
using io_pointer = std::unique_ptr<AVIOContext, free_io>;
using format_pointer = std::unique_ptr<AVFormatContext, free_format>;
using codec_pointer = std::unique_ptr<AVCodecContext, freed<avcodec_free_context>>;
using packet_pointer = std::unique_ptr<AVPacket, freed<av_packet_free>>;
using frame_pointer = std::unique_ptr<AVFrame, freed<av_frame_free>>;
using resampler_pointer = std::unique_ptr<SwrContext, freed<swr_free>>;

io_pointer open_io(source& from) {
    auto* buffer = static_cast<std::uint8_t*>(av_malloc(buffer_bytes));
    if (buffer == nullptr) throw std::bad_alloc();
    AVIOContext* io = avio_alloc_context(buffer, static_cast<int>(buffer_bytes), 0, &from, read_source, nullptr, seek_source);
    if (io == nullptr) {
        av_free(buffer);
        throw std::bad_alloc();
    }
    return io_pointer(io);
}

format_pointer open_format(AVIOContext* io) {
    AVFormatContext* format = avformat_alloc_context();
    if (format == nullptr) throw std::bad_alloc();
    format->pb = io;
    format->flags |= AVFMT_FLAG_CUSTOM_IO;
    format->io_open = open_nothing;
    AVDictionary* settings = nullptr;
    av_dict_set(&settings, "format_whitelist", demuxers, 0);
    av_dict_set(&settings, "codec_whitelist", decoders, 0);
    av_dict_set(&settings, "protocol_whitelist", "", 0);
    av_dict_set(&settings, "max_streams", "16", 0);
    const int rc = avformat_open_input(&format, nullptr, nullptr, &settings);  // Frees `format` when it fails.
    av_dict_free(&settings);
    return rc < 0 ? nullptr : format_pointer(format);
}

codec_pointer open_codec(const AVStream& stream) {
    const AVCodec* codec = avcodec_find_decoder(stream.codecpar->codec_id);
    if (codec == nullptr || av_match_list(codec->name, decoders, ',') == 0) return nullptr;
    codec_pointer context(avcodec_alloc_context3(codec));
    if (!context || avcodec_parameters_to_context(context.get(), stream.codecpar) < 0) return nullptr;
    context->thread_count = 1;
    context->pkt_timebase = stream.time_base;
    context->max_samples = 1 << 22;
    if (avcodec_open2(context.get(), codec, nullptr) < 0) return nullptr;
    return context;
}

// Resamples frames, whatever they are, and gathers them.
class gatherer {
public:
    explicit gatherer(std::size_t samples_max) : samples_max_(samples_max) {}

    // False: the frame cannot be audio anybody recorded.
    bool add(const AVFrame& frame) {
        if (frame.sample_rate < sample_rate_min || frame.sample_rate > sample_rate_max) return false;
        if (frame.ch_layout.nb_channels < 1 || frame.ch_layout.nb_channels > channels_max || frame.nb_samples < 0) return false;
        if (!fits(frame) && !restart(frame)) return false;
        return convert(const_cast<const std::uint8_t**>(frame.extended_data), frame.nb_samples);
    }

    void finish() {
        if (resampler_) convert(nullptr, 0);
    }

    bool full() const noexcept { return samples_.size() > samples_max_; }
    std::vector<float>& samples() noexcept { return samples_; }

private:
    bool fits(const AVFrame& frame) const {
        return resampler_ && frame.sample_rate == rate_ && frame.format == format_ && frame.ch_layout.nb_channels == channels_;
    }

    // Streams may change their shape on the way (chained ogg, HE-AAC).
    bool restart(const AVFrame& frame) {
        finish();
        AVChannelLayout in{};
        if (frame.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
            av_channel_layout_default(&in, frame.ch_layout.nb_channels);
        else if (av_channel_layout_copy(&in, &frame.ch_layout) < 0)
            return false;
        AVChannelLayout out{};
        av_channel_layout_default(&out, 1);
        SwrContext* made = nullptr;
        const int rc = swr_alloc_set_opts2(&made, &out, AV_SAMPLE_FMT_FLT, samples_per_second, &in,
                                           static_cast<AVSampleFormat>(frame.format), frame.sample_rate, 0, nullptr);
        av_channel_layout_uninit(&in);
        resampler_.reset(made);
        if (rc < 0 || swr_init(made) < 0) {
            resampler_.reset();
            return false;
        }
        rate_ = frame.sample_rate;
        format_ = frame.format;
        channels_ = frame.ch_layout.nb_channels;
        return true;
    }

    bool convert(const std::uint8_t** data, int count) {
        const int room = swr_get_out_samples(resampler_.get(), count);
        if (room < 0) return false;
        const std::size_t before = samples_.size();
        samples_.resize(before + static_cast<std::size_t>(room));
        auto* to = reinterpret_cast<std::uint8_t*>(samples_.data() + before);
        const int got = swr_convert(resampler_.get(), &to, room, data, count);
        samples_.resize(before + static_cast<std::size_t>(std::max(got, 0)));
        // Floats in a file may be anything; a recogniser given NaN or 1e30 falls silent.
        for (std::size_t i = before; i < samples_.size(); ++i) {
            samples_[i] = std::isfinite(samples_[i]) ? std::clamp(samples_[i], -1.0F, 1.0F) : 0.0F;
        }
        return got >= 0;
    }

    std::size_t samples_max_;
    std::vector<float> samples_;
    resampler_pointer resampler_;
    int rate_ = 0;
    int format_ = -1;
    int channels_ = 0;
};

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
