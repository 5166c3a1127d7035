// Finds the members of a valid object in its text. Next file: answer.cpp.
#include <backends/openai/json_reading.hpp>

#include <algorithm>
#include <cassert>

namespace hearonce::openai {
namespace {

bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Walks over text that is known to be valid JSON; still never past its end.
class walker {
public:
    explicit walker(std::string_view text) : text_(text) {}

    char here() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
    void step() noexcept { at_ = std::min(at_ + 1, text_.size()); }
    void skip_blanks() noexcept {
        while (is_blank(here())) step();
    }
    // From one quote to behind the other.
    std::string_view string() noexcept {
        const std::size_t begin = at_;
        for (step(); here() != '"' && at_ < text_.size(); step()) {
            if (here() == '\\') step();
        }
        step();
        return text_.substr(begin, at_ - begin);
    }
    // A value without the blanks between its tokens.
    std::string value() {
        std::string out;
        std::size_t depth = 0;
        while (at_ < text_.size()) {
            const char c = here();
            if (depth == 0 && (c == ',' || c == '}')) break;
            if (c == '"') {
                out += string();
                continue;
            }
            if (c == '{' || c == '[') ++depth;
            if (c == '}' || c == ']') --depth;
            if (!is_blank(c)) out += c;
            step();
        }
        return out;
    }

private:
    std::string_view text_;
    std::size_t at_ = 0;
};

bool is_kept(std::string_view quoted_name, std::string_view value) noexcept {
    if (quoted_name == R"("usage")") return value.starts_with('{');
    return (quoted_name == R"("logprobs")" || quoted_name == R"("languages")") && value.starts_with('[');
}

}  // namespace

std::vector<json_member> kept_members(std::string_view valid_object) {
    std::vector<json_member> kept;
    walker walk(valid_object);
    walk.skip_blanks();
    assert(walk.here() == '{');
    walk.step();
    for (;;) {
        walk.skip_blanks();
        if (walk.here() == ',') {
            walk.step();
            continue;
        }
        if (walk.here() != '"') return kept;
        const std::string_view name = walk.string();
        walk.skip_blanks();
        walk.step();  // The colon.
        std::string value = walk.value();
        if (!is_kept(name, value)) continue;
        const std::string_view plain = name.substr(1, name.size() - 2);
        // Of a name that stands twice the last counts, as it does for parsers.
        std::erase_if(kept, [plain](const json_member& one) { return one.name == plain; });
        kept.push_back({std::string(plain), std::move(value)});
    }
}

}  // namespace hearonce::openai
