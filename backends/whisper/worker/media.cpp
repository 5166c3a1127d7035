// The callbacks FFmpeg reads through and the lists it is held to. Next file: gather.cpp.
#include <backends/whisper/worker/media.hpp>

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/opt.h>
}

#include <unistd.h>

#include <cerrno>
#include <new>

namespace hearonce::whisper {
namespace {

// Containers and codecs that phones, browsers and recorders write.
constexpr const char* demuxers = "wav,mp3,mov,mp4,m4a,3gp,3g2,mj2,aac,ogg,matroska,webm,flac";
constexpr const char* decoders =
    "pcm_u8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s32le,pcm_f32le,pcm_f64le,pcm_alaw,pcm_mulaw,adpcm_ms,adpcm_ima_wav,gsm_ms,"
    "mp1,mp1float,mp2,mp2float,mp3,mp3float,aac,aac_fixed,alac,opus,vorbis,flac,amrnb,amrwb,libopencore_amrnb,libopencore_amrwb";
constexpr std::size_t buffer_bytes = 64UL << 10;

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

}  // namespace

void free_io::operator()(AVIOContext* io) const noexcept {
    av_freep(&io->buffer);
    avio_context_free(&io);
}

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

}  // namespace hearonce::whisper
