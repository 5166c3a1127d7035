// Who is let in.
//
// Holds: refused_key(). Pure. Next file: openai_rules.hpp.
#pragma once

#include <bench/upstream/answer.hpp>
#include <bench/upstream/route.hpp>
#include <bench/upstream/settings.hpp>

#include <http/exchange.hpp>

#include <optional>

namespace hearonce::upstream {

// nullopt: let in. OpenAI's API takes `Authorization: Bearer KEY` and Azure's `api-key: KEY`, and anybody when no key is set.
// Gemini's takes x-goog-api-key and refuses who has none; a key in the query is refused too, so that a client that leaks its
// key into logs is found out.
std::optional<answer> refused_key(const http::request_head& head, const route& to, const settings& how);

}  // namespace hearonce::upstream
