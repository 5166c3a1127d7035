// Times out of a digest. Next file: openai_answer.cpp.
#include <bench/upstream/heard.hpp>

#include <bench/upstream/text_of.hpp>

#include <array>
#include <utility>

namespace hearonce::upstream {

namespace {

constexpr std::size_t words_in_segment = 4;

}  // namespace

heard hear(const sha256_digest& digest, std::string_view note) {
    heard all;
    all.text = text_of(digest);
    std::int64_t now_ms = 0;
    for (std::size_t index = 0; index < words_in_text; ++index) {
        const std::int64_t length_ms = 200 + 10 * (std::to_integer<std::int64_t>(digest[words_in_text + index]) % 41);
        all.words.push_back({std::string(word_of(digest, index)), now_ms, now_ms + length_ms});
        if (index % words_in_segment == 0) {
            all.segments.push_back({{}, now_ms, 0, all.segments.size() % 2 == 0 ? "A" : "B"});
        } else {
            all.segments.back().text += ' ';
        }
        now_ms += length_ms;
        all.segments.back().text += all.words.back().word;
        all.segments.back().end_ms = now_ms;
    }
    if (!note.empty()) {
        all.text.append(" ").append(note);
        all.words.push_back({std::string(note), now_ms, now_ms + 200});
        now_ms += 200;
        all.segments.back().text.append(" ").append(note);
        all.segments.back().end_ms = now_ms;
    }
    all.duration_ms = now_ms + 100;
    return all;
}

heard hear_nothing() {
    heard nothing;
    nothing.duration_ms = 2000;
    return nothing;
}

std::string_view language_name(std::string_view code) noexcept {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 16> names = {{{"ar", "arabic"},
                                                                                      {"de", "german"},
                                                                                      {"en", "english"},
                                                                                      {"es", "spanish"},
                                                                                      {"fr", "french"},
                                                                                      {"hi", "hindi"},
                                                                                      {"it", "italian"},
                                                                                      {"ja", "japanese"},
                                                                                      {"ko", "korean"},
                                                                                      {"nl", "dutch"},
                                                                                      {"pl", "polish"},
                                                                                      {"pt", "portuguese"},
                                                                                      {"ru", "russian"},
                                                                                      {"sv", "swedish"},
                                                                                      {"tr", "turkish"},
                                                                                      {"zh", "chinese"}}};
    for (const auto& [short_name, name] : names) {
        if (short_name == code) return name;
    }
    return code;
}

}  // namespace hearonce::upstream
