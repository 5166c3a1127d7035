// Settings, part by part. Next file: gateway.cpp.
#include <app/part_settings.hpp>
#include <app/private_file.hpp>
#include <observe/log.hpp>

#include <openssl/rand.h>

#include <array>
#include <stdexcept>

namespace hearonce::app {

http::auth_mode auth_mode_of(const settings& wanted) noexcept {
    switch (wanted.auth.mode) {
        case auth_mode::tokens: return http::auth_mode::tokens;
        case auth_mode::own_key: return http::auth_mode::own_key;
        case auth_mode::open: break;
    }
    return http::auth_mode::open;
}

secret hmac_key_of(const settings& wanted) {
    if (wanted.auth.secret_file) {
        auto text = read_private_file(*wanted.auth.secret_file);
        if (!text || text->empty()) {
            throw std::runtime_error("auth.secret_file: cannot read " + wanted.auth.secret_file->string() + ", or it is empty");
        }
        secret key(*text);
        ::OPENSSL_cleanse(text->data(), text->size());
        return key;
    }
    std::array<unsigned char, 32> bytes{};
    if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) throw std::runtime_error("no random numbers to be had");
    secret key(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    ::OPENSSL_cleanse(bytes.data(), bytes.size());
    return key;
}

result<http::token_table> tokens_of(const settings& wanted) {
    if (!wanted.auth.tokens_file) return http::token_table();
    const auto path = wanted.auth.tokens_file->string();
    const auto text = read_private_file(*wanted.auth.tokens_file);
    if (!text) return error(errc::invalid_parameter, "auth.tokens_file: cannot read " + path);
    auto tokens = http::token_table::parse(*text);
    if (!tokens) return error(errc::invalid_parameter, "auth.tokens_file: " + path + ": " + std::string(tokens.error().message()));
    return tokens;
}

http::browser_rules browser_rules_of(const settings& wanted) {
    http::browser_rules rules;
    rules.open = wanted.auth.mode == auth_mode::open;
    rules.cors_origins = wanted.server.cors_origins;
    rules.host_names = wanted.server.host_names;
    return rules;
}

std::vector<work::route_rule> route_rules_of(const settings& wanted) {
    std::vector<work::route_rule> rules;
    for (const auto& one : wanted.routes) rules.push_back({one.model, one.backends});
    return rules;
}

work::retry_rule retry_rule_of(const settings& wanted) {
    return {wanted.retry.attempts, wanted.retry.pauses, wanted.retry.window};
}

time_rule time_rule_of(const settings& wanted) {
    time_rule rule;
    rule.base = wanted.deadline.base;
    rule.per_audio_second = wanted.deadline.per_audio_second;
    rule.cap = wanted.deadline.cap;
    return rule;
}

http::audio_store_settings audio_store_settings_of(const settings& wanted) {
    http::audio_store_settings how;
    how.memory_bytes_max = wanted.memory.audio_bytes;
    how.spill_above_bytes = wanted.memory.spill_above_bytes;
    how.spill_directory = wanted.memory.spill_directory;
    how.spill_bytes_max = wanted.memory.spill_bytes;
    how.on_failure = [](const std::string& why) { observe::say(observe::log_level::error, "cannot spill a recording", {{"why", why}}); };
    return how;
}

server::settings server_settings_of(const settings& wanted) {
    server::settings how;
    how.listen = wanted.server.listen;
    if (wanted.server.tls_certificate) how.tls_certificate_file = wanted.server.tls_certificate->string();
    if (wanted.server.tls_key) how.tls_key_file = wanted.server.tls_key->string();
    how.connections_max = wanted.server.max_connections;
    how.header_timeout = wanted.server.header_timeout;
    how.idle_timeout = wanted.server.idle_timeout;
    how.upload_stall_timeout = wanted.server.upload_stall_timeout;
    return how;
}

std::shared_ptr<whisper::whisper_backend> whisper_of(const std::shared_ptr<backend>& one) {
    return std::dynamic_pointer_cast<whisper::whisper_backend>(one);
}

}  // namespace hearonce::app
