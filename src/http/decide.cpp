// The decision, pure but for the claim of a name. Next file: transcriptions.cpp enters the flight with it.
#include <http/decide.hpp>

namespace hearonce::http {

namespace {

enter_as how_of(const caller_words& words) {
    // no-store is the stronger wish: it also starts new work, and keeps nothing.
    if (words.no_store) return enter_as::no_store;
    return words.no_cache ? enter_as::refresh : enter_as::usual;
}

result<void> check_name(services& parts, const caller_words& words, const std::string& principal, decided& made) {
    // Who brings no bytes starts no work that a key could stand for.
    if (words.idempotency_key.empty() || !made.plan.audio->bytes) return {};
    const auto caller = std::to_string(principal.size()) + ":" + principal + std::to_string(words.device_id.size()) + ":" + words.device_id;
    made.name = digest_of(keyed_digest(parts.auth.hmac_key(), caller + words.idempotency_key));
    made.plan.name = made.name;
    if (parts.names.claim(*made.name, made.key.bytes, std::chrono::steady_clock::now())) return {};
    return errc::idempotency_conflict;
}

}  // namespace

result<decided> decide(services& parts, const caller_words& words, const std::string& principal, std::shared_ptr<const caller_keys> keys,
                       received upload) {
    if (words.audio_sha256 && *words.audio_sha256 != upload.audio->sha256) return errc::audio_hash_mismatch;
    auto chosen = parts.dispatcher.route_for(upload.request.model);
    if (!chosen) return chosen.error();
    if (keys) {
        chosen = work::callable_with(std::move(*chosen), keys, parts.own_key_local);
        if (!chosen) return chosen.error();
    }
    decided made;
    made.wanted = shape_of(upload.request);
    made.stream = upload.request.stream;
    made.how = how_of(words);
    upload.request.model = chosen->model;
    auto able = work::dispatcher::able(std::move(*chosen), upload.request);
    if (!able) return able.error();
    made.key = work::work_key_of(principal, words.device_id, upload.audio->sha256, able->names, upload.request);
    made.plan.key = made.key;
    if (made.stream) made.plan.deltas = std::make_shared<delta_log>();
    made.plan.limit = deadline::after(work::dispatcher::time_allowed(*able, upload.audio->duration));
    made.plan.chosen = std::move(*able);
    made.plan.attempts_spent = words.attempts_spent;
    made.plan.audio = std::move(upload.audio);
    made.plan.request = std::move(upload.request);
    made.plan.request.caller = principal + '\n' + words.device_id;
    if (const auto named = check_name(parts, words, principal, made); !named) return named.error();
    return made;
}

void release_name(services& parts, const decided& asked) {
    if (asked.name) parts.names.release(*asked.name, asked.key.bytes);
}

}  // namespace hearonce::http
