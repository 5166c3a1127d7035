// Base64 by a table of pairs, and the cutting into batches. Next file: src/net/sending.cpp.
#include <backends/gemini/base64_body.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace hearonce::gemini {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Two characters for each twelve bits: half the look-ups of a table of single ones.
constexpr auto pairs = [] {
    std::array<std::array<char, 2>, 4096> made{};
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = {alphabet[i >> 6], alphabet[i & 63]};
    return made;
}();

constexpr std::uint32_t value_of(std::byte one) noexcept {
    return std::to_integer<std::uint32_t>(one);
}

// Of one or two bytes.
char* padded_group(std::span<const std::byte> bytes, char* to) noexcept {
    const std::uint32_t bits = value_of(bytes[0]) << 16 | (bytes.size() > 1 ? value_of(bytes[1]) << 8 : 0);
    to[0] = alphabet[bits >> 18];
    to[1] = alphabet[bits >> 12 & 63];
    to[2] = bytes.size() > 1 ? alphabet[bits >> 6 & 63] : '=';
    to[3] = '=';
    return to + 4;
}

}  // namespace

char* base64_of(std::span<const std::byte> bytes, char* to) noexcept {
    for (; bytes.size() >= 3; bytes = bytes.subspan(3), to += 4) {
        const std::uint32_t bits = value_of(bytes[0]) << 16 | value_of(bytes[1]) << 8 | value_of(bytes[2]);
        std::memcpy(to, pairs[bits >> 12].data(), 2);
        std::memcpy(to + 2, pairs[bits & 4095].data(), 2);
    }
    return bytes.empty() ? to : padded_group(bytes, to);
}

base64_body::base64_body(std::string prefix, std::shared_ptr<const stored_bytes> recording, std::string suffix)
    : prefix_(std::move(prefix)), reader_(std::move(recording)), suffix_(std::move(suffix)) {
    // A small recording needs no more room than it has; the carry may complete one group more, and padding another.
    const std::uint64_t all = base64_size(reader_.size_bytes());
    encoded_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(all, base64_size(batch_bytes)) + 8));
}

net::body_batch base64_body::next() {
    batch_.clear();
    encoded_bytes_ = 0;
    if (!std::exchange(prefix_given_, true) && !prefix_.empty()) batch_.push_back(boost::asio::buffer(prefix_));
    bool audio_ended = ended_;
    while (!audio_ended && encoded_.size() - encoded_bytes_ >= 8) {
        if (row_.empty()) {
            const net::body_step step = fetch();
            // What is there goes first; the reader says the same again.
            const bool nothing_yet = encoded_bytes_ == 0 && batch_.empty();
            if (step != net::body_step::given && nothing_yet) return {step, {}};
            if (step != net::body_step::given) break;
            audio_ended = row_.empty();
        }
        encode_row();
    }
    if (audio_ended && !ended_) end_audio();
    const bool last = std::exchange(ended_, audio_ended) != audio_ended;
    if (encoded_bytes_ > 0) batch_.push_back(boost::asio::buffer(encoded_.data(), encoded_bytes_));
    if (last && !suffix_.empty()) batch_.push_back(boost::asio::buffer(suffix_));
    return {net::body_step::given, batch_};
}

net::body_step base64_body::fetch() {
    const net::body_batch more = reader_.next();
    row_ = more.buffers;
    skip_bytes_ = 0;
    return more.step;
}

// As much of the first buffer as there is room for.
void base64_body::encode_row() {
    if (row_.empty()) return;
    const auto front = row_.front();
    std::span left(static_cast<const std::byte*>(front.data()) + skip_bytes_, front.size() - skip_bytes_);
    const std::size_t before = left.size();
    while (carry_bytes_ > 0 && carry_bytes_ < 3 && !left.empty()) {
        carry_[carry_bytes_++] = left.front();
        left = left.subspan(1);
    }
    char* to = encoded_.data() + encoded_bytes_;
    if (carry_bytes_ == 3) {
        to = base64_of(carry_, to);
        carry_bytes_ = 0;
    }
    if (carry_bytes_ == 0) {
        const auto room = static_cast<std::size_t>(encoded_.data() + encoded_.size() - to);
        const auto whole = left.first(std::min(left.size() / 3, room / 4) * 3);
        to = base64_of(whole, to);
        left = left.subspan(whole.size());
        for (; left.size() < 3 && !left.empty(); left = left.subspan(1)) carry_[carry_bytes_++] = left.front();
    }
    encoded_bytes_ = static_cast<std::size_t>(to - encoded_.data());
    assert(encoded_bytes_ <= encoded_.size());
    skip_bytes_ += before - left.size();
    if (skip_bytes_ == front.size()) {
        row_ = row_.subspan(1);
        skip_bytes_ = 0;
    }
}

void base64_body::end_audio() {
    const std::span rest(carry_.data(), std::exchange(carry_bytes_, 0));
    if (!rest.empty()) encoded_bytes_ = static_cast<std::size_t>(padded_group(rest, encoded_.data() + encoded_bytes_) - encoded_.data());
    assert(encoded_bytes_ <= encoded_.size());
}

void base64_body::rewind() {
    reader_.rewind();
    row_ = {};
    skip_bytes_ = 0;
    carry_bytes_ = 0;
    prefix_given_ = false;
    ended_ = false;
}

}  // namespace hearonce::gemini
