// Grouping, mending, measuring text. Next file: recognise.cpp.
#include <backends/whisper/utf8.hpp>
#include <backends/whisper/worker/words.hpp>
#include <hearonce/ascii.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hearonce::whisper {
namespace {

constexpr std::string_view blank = ascii::white_space;

void close_word(token_piece& open, std::vector<word_time>& words) {
    const std::string text = valid_utf8(ascii::trimmed(open.bytes));
    if (!text.empty()) words.push_back({text, open.start_seconds, open.end_seconds});
    open = {};
}

}  // namespace

bool written_without_spaces(std::string_view language) noexcept {
    constexpr std::array<std::string_view, 7> list = {"zh", "ja", "th", "lo", "my", "km", "yue"};
    return std::find(list.begin(), list.end(), language) != list.end();
}

std::vector<word_time> words_of(const std::vector<token_piece>& tokens, bool by_character) {
    std::vector<word_time> words;
    token_piece open;
    for (const token_piece& token : tokens) {
        if (token.bytes.empty()) continue;
        const bool whole = utf8_whole(open.bytes) == open.bytes.size();
        // A cut character is never a border, whatever comes next.
        const bool begins = token.bytes.front() == ' ' || (by_character && whole);
        if (begins && !open.bytes.empty()) close_word(open, words);
        if (open.bytes.empty()) open.start_seconds = token.start_seconds;
        open.bytes += token.bytes;
        open.end_seconds = std::max(token.end_seconds, open.start_seconds);
    }
    close_word(open, words);
    return words;
}

void mend_segments(std::vector<segment>& segments) {
    std::string carried;
    for (segment& each : segments) {
        std::string raw = std::exchange(carried, {}) + each.text;
        if (&each != &segments.back()) {
            carried = raw.substr(utf8_whole(raw));
            raw.resize(raw.size() - carried.size());
        }
        each.text = valid_utf8(raw);
    }
}

std::string text_of(const std::vector<segment>& segments) {
    std::string text;
    for (const segment& each : segments) text += each.text;
    return std::string(ascii::trimmed(text));
}

std::string running_text::add(std::string_view raw) {
    // Such segments are left out of the transcript.
    if (utf8_whole(held_) == held_.size() && raw.find_first_not_of(' ') == std::string_view::npos) return {};
    held_ += raw;
    std::size_t from = 0;
    if (!begun_) from = std::min(held_.find_first_not_of(blank), held_.size());
    const std::string_view whole(held_.data(), utf8_whole(held_));
    const std::size_t last = whole.find_last_not_of(blank);
    if (last == std::string_view::npos || last < from) return {};
    std::string fresh = valid_utf8(whole.substr(from, last + 1 - from));
    held_.erase(0, last + 1);
    begun_ = true;
    return fresh;
}

double compression_ratio_of(std::string_view text) {
    if (text.empty()) return 0;
    uLongf size = compressBound(static_cast<uLong>(text.size()));
    std::vector<Bytef> packed(size);
    if (compress(packed.data(), &size, reinterpret_cast<const Bytef*>(text.data()), static_cast<uLong>(text.size())) != Z_OK) return 0;
    return static_cast<double>(text.size()) / static_cast<double>(size);
}

void clamp_times(double& start_seconds, double& end_seconds, double duration_seconds) noexcept {
    start_seconds = std::clamp(start_seconds, 0.0, duration_seconds);
    end_seconds = std::clamp(end_seconds, start_seconds, duration_seconds);
}

}  // namespace hearonce::whisper
