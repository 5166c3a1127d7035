// What a mistyped key was meant to be. Next file: settings_layers.cpp.
#include <app/settings_keys.hpp>

#include <algorithm>
#include <vector>

namespace hearonce::app {

std::size_t steps_between(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) steps[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) steps[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = steps[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
        }
    }
    return steps[a.size()][b.size()];
}

std::optional<std::string> nearest_key(std::string_view mistyped) {
    constexpr std::size_t length_max = 128;  // The comparison is quadratic, and nobody mistypes that much.
    if (mistyped.size() > length_max) return std::nullopt;
    std::string best;
    std::size_t best_steps = std::max<std::size_t>(2, mistyped.size() / 3) + 1;
    const auto consider = [&](const std::string& candidate) {
        std::size_t steps = steps_between(mistyped, candidate);
        // Where the part was left out or the wrong one was named, the last word still says what was meant.
        const auto tail = [](std::string_view dotted) { return dotted.substr(dotted.rfind('.') + 1); };
        if (tail(mistyped) == tail(candidate)) steps = std::min<std::size_t>(steps, 2);
        if (steps < best_steps) {
            best_steps = steps;
            best = candidate;
        }
    };
    const auto dot = mistyped.find('.', std::string_view("backends.").size());
    const bool of_a_backend = mistyped.starts_with("backends.") && dot != std::string_view::npos;
    for (const key& one : keys()) consider(std::string(one.name));
    for (const backend_key& one : backend_keys())
        consider((of_a_backend ? std::string(mistyped.substr(0, dot)) : "backends.NAME") + "." + std::string(one.name));
    return best.empty() ? std::nullopt : std::optional(best);
}

}  // namespace hearonce::app
