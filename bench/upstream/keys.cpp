// Next file: openai_rules.cpp.
#include <bench/upstream/keys.hpp>

namespace hearonce::upstream {

std::optional<answer> refused_key(const http::request_head& head, const route& to, const settings& how) {
    if (!to.gemini) {
        const bool known = how.key.empty() || head.find("authorization") == "Bearer " + how.key || head.find("api-key") == how.key;
        return known ? std::nullopt : std::optional(openai_key_refusal());
    }
    if (query_has(head.query, "key"))
        return gemini_refusal(400, "INVALID_ARGUMENT", "Upstream double: a key in the query ends up in logs; use x-goog-api-key.");
    const auto key = head.find("x-goog-api-key");
    if (!key || key->empty())
        return gemini_refusal(
            403, "PERMISSION_DENIED",
            "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
            "form of API consumer identity to call this API.");
    return how.key.empty() || *key == how.key ? std::nullopt : std::optional(gemini_key_refusal());
}

}  // namespace hearonce::upstream
