// Frames of any shape in, one stream of 16 kHz mono floats out.
//
// Holds: gatherer. Next file: decode.cpp.
#pragma once

#include <backends/whisper/worker/media.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hearonce::whisper {

class gatherer {
public:
    explicit gatherer(std::size_t samples_max) : samples_max_(samples_max) {}

    // False: the frame cannot be audio anybody recorded.
    bool add(const AVFrame& frame);
    // Takes what the resampler still holds.
    void finish();
    // Makes room for so many at once, as far as they may be taken: a buffer that grows holds everything twice.
    void reserve(std::size_t samples) { samples_.reserve(std::min(samples, samples_max_)); }
    bool full() const noexcept { return total() > samples_max_; }
    // Those not dropped yet. All finite and within -1..1.
    std::vector<float>& samples() noexcept { return samples_; }
    // They are used elsewhere by now.
    void drop() noexcept {
        dropped_ += samples_.size();
        samples_.clear();
    }
    std::size_t total() const noexcept { return dropped_ + samples_.size(); }

private:
    bool fits(const AVFrame& frame) const;
    bool restart(const AVFrame& frame);
    bool convert(const std::uint8_t** data, int count);

    std::size_t samples_max_;
    std::size_t dropped_ = 0;
    std::vector<float> samples_;
    resampler_pointer resampler_;
    int rate_ = 0;
    int format_ = -1;
    int channels_ = 0;
};

}  // namespace hearonce::whisper
