// What the upstream double hears in a recording: a pure function of the SHA-256 of its bytes, shared with every test that
// wants to know what must come back.
//
// Holds: word_list, words_in_text, word_of(), text_of(). Next file: heard.hpp.
#pragma once

#include <hearonce/audio.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace hearonce::upstream {

// Plain English words, all different, 64 so that six bits of a byte choose one. Never reorder: the texts would change.
inline constexpr std::array<std::string_view, 64> word_list = {
    "amber",  "anchor", "apple",  "arrow",   "autumn",  "basket", "beacon", "birch",  "bottle",  "breeze", "bridge", "butter", "candle",
    "canyon", "carpet", "castle", "cedar",   "cherry",  "circle", "cloud",  "cobalt", "copper",  "coral",  "cotton", "cradle", "dawn",
    "desert", "dragon", "ember",  "falcon",  "feather", "fiddle", "forest", "garden", "ginger",  "harbor", "hazel",  "island", "jacket",
    "jungle", "kettle", "ladder", "lantern", "lemon",   "marble", "meadow", "mirror", "needle",  "oak",    "ocean",  "olive",  "orchid",
    "paper",  "pepper", "pillow", "river",   "saddle",  "silver", "spruce", "summer", "thunder", "valley", "velvet", "walnut"};

inline constexpr std::size_t words_in_text = 12;

// The word at `index` (below words_in_text) of the text for this digest.
constexpr std::string_view word_of(const sha256_digest& digest, std::size_t index) noexcept {
    return word_list[std::to_integer<std::size_t>(digest[index]) % word_list.size()];
}

// Twelve words with one space between them: 72 bits of the digest, so two recordings of one test never share a text.
inline std::string text_of(const sha256_digest& digest) {
    std::string text(word_of(digest, 0));
    for (std::size_t index = 1; index < words_in_text; ++index) text.append(" ").append(word_of(digest, index));
    return text;
}

}  // namespace hearonce::upstream
