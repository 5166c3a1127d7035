// libswresample behind gatherer. Next file: decode.cpp.
#include <backends/whisper/worker/decode.hpp>
#include <backends/whisper/worker/gather.hpp>

extern "C" {
#include <libavutil/channel_layout.h>
}

#include <algorithm>
#include <cmath>

namespace hearonce::whisper {
namespace {

constexpr int sample_rate_min = 4000;
constexpr int sample_rate_max = 768000;
constexpr int channels_max = 64;

}  // namespace

bool gatherer::add(const AVFrame& frame) {
    if (frame.sample_rate < sample_rate_min || frame.sample_rate > sample_rate_max) return false;
    if (frame.ch_layout.nb_channels < 1 || frame.ch_layout.nb_channels > channels_max || frame.nb_samples < 0) return false;
    if (!fits(frame) && !restart(frame)) return false;
    return convert(const_cast<const std::uint8_t**>(frame.extended_data), frame.nb_samples);
}

void gatherer::finish() {
    if (resampler_) convert(nullptr, 0);
}

bool gatherer::fits(const AVFrame& frame) const {
    return resampler_ && frame.sample_rate == rate_ && frame.format == format_ && frame.ch_layout.nb_channels == channels_;
}

// Streams may change their shape on the way (chained ogg, HE-AAC).
bool gatherer::restart(const AVFrame& frame) {
    finish();
    AVChannelLayout in{};
    if (frame.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&in, frame.ch_layout.nb_channels);
    else if (av_channel_layout_copy(&in, &frame.ch_layout) < 0)
        return false;
    AVChannelLayout out{};
    av_channel_layout_default(&out, 1);
    SwrContext* made = nullptr;
    const int rc = swr_alloc_set_opts2(&made, &out, AV_SAMPLE_FMT_FLT, samples_per_second, &in, static_cast<AVSampleFormat>(frame.format),
                                       frame.sample_rate, 0, nullptr);
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

bool gatherer::convert(const std::uint8_t** data, int count) {
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

}  // namespace hearonce::whisper
