// From tokens to words with their times, and from raw text to what may be shown.
//
// Holds: token_piece, words_of(), mend_segments(), text_of(), running_text, compression_ratio_of(). No whisper.cpp here. Next file: recognise.cpp.
#pragma once

#include <hearonce/transcription.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::whisper {

struct token_piece {
    std::string bytes;  // May begin or end in the middle of a character.
    double start_seconds = 0;
    double end_seconds = 0;
};

// Languages that put no space between words: each character is timed instead. Takes the two-letter code.
bool written_without_spaces(std::string_view language) noexcept;

// Groups tokens: a leading space begins a word, or each whole character does. Words are trimmed and valid UTF-8; the ones
// that are nothing but spaces are left out.
std::vector<word_time> words_of(const std::vector<token_piece>& tokens, bool by_character);

// Makes the raw texts of consecutive segments valid UTF-8: a character cut by a border goes to the later segment.
void mend_segments(std::vector<segment>& segments);

// The texts of all segments, trimmed.
std::string text_of(const std::vector<segment>& segments);

// The same text while its segments still come: what was given out is never taken back. A cut character and blanks that may
// turn out to be the last are held back until more comes.
class running_text {
public:
    // The raw text of one more segment; what may be told now, perhaps nothing.
    std::string add(std::string_view raw);

private:
    std::string held_;
    bool begun_ = false;
};

// Length of the text over its length when compressed (zlib): above 2.4 it repeats itself. 0 for no text.
double compression_ratio_of(std::string_view text);

// Puts `start` and `end` into 0..duration, in this order.
void clamp_times(double& start_seconds, double& end_seconds, double duration_seconds) noexcept;

}  // namespace hearonce::whisper
