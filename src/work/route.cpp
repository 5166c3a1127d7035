// Which key goes where. Next file: dispatcher.cpp.
#include <work/route.hpp>

#include <cassert>
#include <optional>
#include <utility>

namespace hearonce::work {

namespace {

// Shares the ownership of all the caller's keys, so that they end together.
std::shared_ptr<const secret> share(const std::shared_ptr<const caller_keys>& keys, const secret& one) {
    return one.empty() ? nullptr : std::shared_ptr<const secret>(keys, &one);
}

std::shared_ptr<const secret> key_for(provider whose, bool first, const std::shared_ptr<const caller_keys>& keys) {
    // The header that names the provider goes before the one that does not.
    auto named = share(keys, whose == provider::openai ? keys->openai : keys->gemini);
    return named || !first ? std::move(named) : share(keys, keys->bearer);
}

std::optional<credentials> credentials_for(const backend& one, bool first, const std::shared_ptr<const caller_keys>& keys, bool keyless) {
    const auto whose = one.provider();
    if (whose == provider::none) return keyless ? std::optional(credentials()) : std::nullopt;
    auto key = key_for(whose, first, keys);
    if (!key) return std::nullopt;
    if (whose != provider::openai) return credentials{std::move(key), {}, {}};
    return credentials{std::move(key), keys->organization, keys->project};
}

}  // namespace

result<route> callable_with(route chosen, const std::shared_ptr<const caller_keys>& keys, bool keyless) {
    assert(keys != nullptr && chosen.terms.empty());
    route left;
    left.model = std::move(chosen.model);
    for (const auto& one : chosen.backends) {
        auto terms = credentials_for(*one, one == chosen.backends.front(), keys, keyless);
        if (!terms) continue;
        left.names.emplace_back(one->name());
        left.terms.push_back(std::move(*terms));
        left.backends.push_back(one);
    }
    if (left.backends.empty()) return error(errc::invalid_api_key, "None of the keys sent is for a backend that takes this model.");
    return left;
}

}  // namespace hearonce::work
