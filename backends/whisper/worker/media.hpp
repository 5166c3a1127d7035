// FFmpeg over one descriptor: what is read is bounded, what may be opened is listed, what a file names is never followed.
//
// Holds: source, open_io(), open_format(), open_codec() and the owners of what they give. Next file: gather.hpp.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswresample/swresample.h>
}

#include <cstdint>
#include <functional>
#include <memory>

namespace hearonce::whisper {

template <auto Free>
struct freed {
    template <class T>
    void operator()(T* what) const {
        Free(&what);
    }
};
struct free_io {
    void operator()(AVIOContext* io) const noexcept;
};
using io_pointer = std::unique_ptr<AVIOContext, free_io>;
using format_pointer = std::unique_ptr<AVFormatContext, freed<avformat_close_input>>;
using codec_pointer = std::unique_ptr<AVCodecContext, freed<avcodec_free_context>>;
using packet_pointer = std::unique_ptr<AVPacket, freed<av_packet_free>>;
using frame_pointer = std::unique_ptr<AVFrame, freed<av_frame_free>>;
using resampler_pointer = std::unique_ptr<SwrContext, freed<swr_free>>;

// What FFmpeg reads from: a descriptor whose own offset is left alone.
struct source {
    int descriptor = -1;
    std::int64_t at = 0;
    std::int64_t size = 0;
    std::int64_t readable = 0;  // Bytes that may still be read: ends a demuxer that goes round in circles.
    const std::function<bool()>* stop = nullptr;
    bool stopped = false;
};

// `from` must outlive what is opened on it. Out of memory: std::bad_alloc.
io_pointer open_io(source& from);
// Null: not one of the containers we know, or damaged.
format_pointer open_format(AVIOContext* io);
// Null: not one of the codecs we know, or damaged.
codec_pointer open_codec(const AVStream& stream);

}  // namespace hearonce::whisper
