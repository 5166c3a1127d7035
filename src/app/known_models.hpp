// The speech models that whisper.cpp publishes, by the names of its own download script.
//
// Holds: known_model, known_models(), find_known_model(), nearest_model(), is_model_name(). Next file: models.hpp (the ones
// that are here).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hearonce::app {

struct known_model {
    std::string_view name;           // "base.en"; the file is ggml-base.en.bin.
    std::uint32_t size_mebibytes;    // As published; 0: not published.
    std::uint32_t memory_mebibytes;  // About what a transcription needs, as published for the unquantised ones; 0: not published.
    bool english_only;
    std::string_view sha1;  // Lower-case hex; empty: not published.
};
std::span<const known_model> known_models() noexcept;
// nullptr when there is none of this name.
const known_model* find_known_model(std::string_view name) noexcept;
// The published name that is nearest to a mistyped one; empty when none is near.
std::string_view nearest_model(std::string_view mistyped);

// Letters, digits, dot, dash and underscore, beginning with a letter or digit, at most 64: what becomes a file's name.
bool is_model_name(std::string_view name) noexcept;

}  // namespace hearonce::app
