// FFmpeg's encoder with the few bytes around its frames written here. Next file: to_flac.cpp.
#include <backends/whisper/worker/decode.hpp>
#include <backends/whisper/worker/flac.hpp>

extern "C" {
#include <libavutil/channel_layout.h>
}

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <new>

namespace hearonce::whisper {
namespace {

constexpr std::size_t info_bytes = 34;  // RFC 9639 section 8.2
constexpr std::size_t head_bytes = 4 + 4 + info_bytes;
constexpr std::size_t write_bytes = 256UL << 10;

bool write_all(int descriptor, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
}

std::int16_t sixteen_bits(float sample) noexcept {
    return static_cast<std::int16_t>(std::lrint(std::clamp(sample * 32768.0F, -32768.0F, 32767.0F)));
}

}  // namespace

flac_file::flac_file(int descriptor) : descriptor_(descriptor) {
    good_ = open();
}

bool flac_file::open() {
    const AVCodec* encoder = avcodec_find_encoder(AV_CODEC_ID_FLAC);
    if (encoder == nullptr) return false;
    codec_.reset(avcodec_alloc_context3(encoder));
    frame_.reset(av_frame_alloc());
    packet_.reset(av_packet_alloc());
    if (!codec_ || !frame_ || !packet_) throw std::bad_alloc();
    av_channel_layout_default(&codec_->ch_layout, 1);
    codec_->sample_rate = samples_per_second;
    codec_->sample_fmt = AV_SAMPLE_FMT_S16;
    codec_->bits_per_raw_sample = 16;
    codec_->time_base = {1, samples_per_second};
    codec_->thread_count = 1;
    if (avcodec_open2(codec_.get(), encoder, nullptr) < 0 || codec_->frame_size <= 0) return false;
    if (codec_->extradata == nullptr || codec_->extradata_size != static_cast<int>(info_bytes)) return false;
    info_.assign(codec_->extradata, codec_->extradata + info_bytes);
    return write_head();
}

bool flac_file::add(std::span<const float> samples) {
    const auto frame = static_cast<std::size_t>(good_ ? codec_->frame_size : 1);
    while (good_ && !samples.empty()) {
        const auto part = samples.first(std::min(samples.size(), frame - waiting_.size()));
        std::ranges::transform(part, std::back_inserter(waiting_), sixteen_bits);
        samples = samples.subspan(part.size());
        if (waiting_.size() == frame) good_ = encode(frame);
    }
    return good_;
}

bool flac_file::encode(std::size_t count) {
    frame_->nb_samples = static_cast<int>(count);
    frame_->format = AV_SAMPLE_FMT_S16;
    frame_->sample_rate = samples_per_second;
    av_channel_layout_default(&frame_->ch_layout, 1);
    if (av_frame_get_buffer(frame_.get(), 0) < 0) return false;
    std::memcpy(frame_->data[0], waiting_.data(), count * sizeof(std::int16_t));
    frame_->pts = samples_;
    samples_ += static_cast<std::int64_t>(count);
    waiting_.clear();
    const bool sent = avcodec_send_frame(codec_.get(), frame_.get()) >= 0;
    av_frame_unref(frame_.get());
    return sent && take_packets();
}

bool flac_file::take_packets() {
    while (avcodec_receive_packet(codec_.get(), packet_.get()) >= 0) {
        encoded_.insert(encoded_.end(), packet_->data, packet_->data + packet_->size);
        std::size_t size = 0;
        // The last packet is empty and brings the head as it has to be.
        const std::uint8_t* info = av_packet_get_side_data(packet_.get(), AV_PKT_DATA_NEW_EXTRADATA, &size);
        if (info != nullptr && size == info_bytes) info_.assign(info, info + size);
        av_packet_unref(packet_.get());
    }
    return encoded_.size() < write_bytes || write_out();
}

bool flac_file::write_out() {
    const bool written = write_all(descriptor_, encoded_);
    encoded_.clear();
    return written;
}

bool flac_file::write_head() {
    // "fLaC", and one block of metadata, which is the last.
    std::array<std::uint8_t, head_bytes> head{'f', 'L', 'a', 'C', 0x80, 0, 0, info_bytes};
    std::ranges::copy(info_, head.begin() + 8);
    return write_all(descriptor_, head);
}

bool flac_file::finish() {
    if (good_ && !waiting_.empty()) good_ = encode(waiting_.size());
    if (!good_) return false;
    good_ = false;
    avcodec_send_frame(codec_.get(), nullptr);
    return take_packets() && write_out() && ::lseek(descriptor_, 0, SEEK_SET) == 0 && write_head();
}

}  // namespace hearonce::whisper
