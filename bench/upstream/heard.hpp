// The whole of what the upstream double hears: the text with the times of its words and segments. Pure.
//
// Holds: heard_word, heard_segment, heard, hear(), language_name(). Next file: openai_answer.hpp.
#pragma once

#include <hearonce/audio.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::upstream {

struct heard_word {
    std::string word;
    std::int64_t begin_ms = 0;
    std::int64_t end_ms = 0;
};

// Four words of one speaker.
struct heard_segment {
    std::string text;  // Without a leading space.
    std::int64_t begin_ms = 0;
    std::int64_t end_ms = 0;
    std::string speaker;  // "A" or "B", in turns.
};

struct heard {
    std::string text;
    std::int64_t duration_ms = 0;
    std::vector<heard_word> words;
    std::vector<heard_segment> segments;  // Their texts, joined by spaces, are the text.
};

// The same digest always gives the same times. Words follow each other without gaps; the duration is the last word's end plus
// 100 ms. Between 2.5 and 7.3 seconds.
// `note` is an extra word at the end, 200 ms long; empty: none.
heard hear(const sha256_digest& digest, std::string_view note = {});
// Nothing was said, for two seconds.
heard hear_nothing();

// "english" for "en"; what is not in the short table comes back as it is.
std::string_view language_name(std::string_view code) noexcept;

}  // namespace hearonce::upstream
