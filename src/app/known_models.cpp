// Next file: models.cpp.
#include <app/known_models.hpp>

#include <app/settings_keys.hpp>
#include <hearonce/ascii.hpp>

#include <algorithm>
#include <array>

namespace hearonce::app {
namespace {

// Names: models/download-ggml-model.sh. Sizes and SHA-1: models/README.md. Memory: README.md, "Memory usage".
constexpr std::array<known_model, 33> published{{
    {"tiny", 75, 273, false, "bd577a113a864445d4c299885e0cb97d4ba92b5f"},
    {"tiny-q5_1", 0, 0, false, ""},
    {"tiny-q8_0", 0, 0, false, ""},
    {"tiny.en", 75, 273, true, "c78c86eb1a8faa21b369bcd33207cc90d64ae9df"},
    {"tiny.en-q5_1", 0, 0, true, ""},
    {"tiny.en-q8_0", 0, 0, true, ""},
    {"base", 142, 388, false, "465707469ff3a37a2b9b8d8f89f2f99de7299dac"},
    {"base-q5_1", 0, 0, false, ""},
    {"base-q8_0", 0, 0, false, ""},
    {"base.en", 142, 388, true, "137c40403d78fd54d454da0f9bd998f78703390c"},
    {"base.en-q5_1", 0, 0, true, ""},
    {"base.en-q8_0", 0, 0, true, ""},
    {"small", 466, 852, false, "55356645c2b361a969dfd0ef2c5a50d530afd8d5"},
    {"small-q5_1", 0, 0, false, ""},
    {"small-q8_0", 0, 0, false, ""},
    {"small.en", 466, 852, true, "db8a495a91d927739e50b3fc1cc4c6b8f6c2d022"},
    {"small.en-q5_1", 0, 0, true, ""},
    {"small.en-q8_0", 0, 0, true, ""},
    {"small.en-tdrz", 0, 0, true, ""},
    {"medium", 1536, 2150, false, "fd9727b6e1217c2f614f9b698455c4ffd82463b4"},
    {"medium-q5_0", 0, 0, false, ""},
    {"medium-q8_0", 0, 0, false, ""},
    {"medium.en", 0, 2150, true, ""},
    {"medium.en-q5_0", 0, 0, true, ""},
    {"medium.en-q8_0", 0, 0, true, ""},
    {"large-v1", 0, 3990, false, ""},
    {"large-v2", 0, 3990, false, ""},
    {"large-v2-q5_0", 0, 0, false, ""},
    {"large-v2-q8_0", 0, 0, false, ""},
    {"large-v3", 2970, 3990, false, "ad82bf6a9043ceed055076d0fd39f5f186ff8062"},
    {"large-v3-q5_0", 1126, 0, false, "e6e2ed78495d403bef4b7cff42ef4aaadcfea8de"},
    {"large-v3-turbo", 1536, 0, false, "4af2b29d7ec73d781377bfd1758ca957a807e941"},
    {"large-v3-turbo-q5_0", 547, 0, false, "e050f7970618a659205450ad97eb95a18d69c9ee"},
}};

constexpr std::size_t name_bytes_max = 64;

}  // namespace

std::span<const known_model> known_models() noexcept {
    return published;
}

const known_model* find_known_model(std::string_view name) noexcept {
    const auto found = std::ranges::find(published, name, &known_model::name);
    return found == published.end() ? nullptr : &*found;
}

std::string_view nearest_model(std::string_view mistyped) {
    std::string_view nearest;
    // One letter in three may be wrong: further away it is another word.
    std::size_t fewest = std::max<std::size_t>(1, mistyped.size() / 3) + 1;
    for (const known_model& one : published) {
        const std::size_t steps = steps_between(mistyped, one.name);
        if (steps >= fewest) continue;
        fewest = steps;
        nearest = one.name;
    }
    return nearest;
}

bool is_model_name(std::string_view name) noexcept {
    if (name.empty() || name.size() > name_bytes_max || !ascii::is_letter_or_digit(name.front())) return false;
    return std::ranges::all_of(name, [](char c) { return ascii::is_letter_or_digit(c) || c == '.' || c == '-' || c == '_'; });
}

}  // namespace hearonce::app
