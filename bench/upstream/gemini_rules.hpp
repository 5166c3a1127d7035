// What Gemini's generateContent takes and refuses. Pure.
//
// Holds: gemini_asked, gemini_checked, check_gemini(), gemini_model_known(). Next file: gemini_answer.hpp.
#pragma once

#include <bench/upstream/answer.hpp>
#include <bench/upstream/form_reader.hpp>
#include <bench/upstream/route.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::upstream {

// The whole request body, base64 included.
inline constexpr std::uint64_t gemini_body_bytes_max = 100ULL * 1024 * 1024;

struct gemini_asked {
    std::string model;
    std::string prompt;                 // The text parts, joined by line feeds.
    std::string config;                 // generationConfig as JSON; empty: none.
    std::optional<received_file> file;  // Of the first inlineData, decoded.

    bool transcriber = false;  // gemini-3.5-transcribe. What follows is for it alone:
    bool word_times = false;
    bool diarized = false;
    std::string language = "en";  // Of its languageCodes, the first.

    bool json = false;   // responseMimeType is application/json.
    std::string schema;  // responseSchema or responseJsonSchema as JSON; empty: none.
};

struct gemini_checked {
    std::optional<answer> refusal;
    gemini_asked asked;  // As far as it could be read, also of what is refused.
};

// `any_model`: a model nobody knows is taken for one of the general ones.
gemini_checked check_gemini(std::string_view body, const route& to, bool any_model);

// Ids without "models/" before them.
std::span<const std::string_view> gemini_models_known() noexcept;
bool gemini_model_known(std::string_view id) noexcept;

// The bytes behind base64 of either alphabet (RFC 4648 sections 4 and 5), padded or not, as size and hash; nullopt: it is none.
struct decoded {
    std::uint64_t bytes = 0;
    sha256_digest sha256{};
};
std::optional<decoded> decode_base64(std::string_view text);

}  // namespace hearonce::upstream
