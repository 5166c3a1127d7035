// From the operator's settings to what each part takes: pure translations, and the two secrets that come from files.
//
// Holds: auth_mode_of(), hmac_key_of(), tokens_of(), browser_rules_of(), route_rules_of(), retry_rule_of(), time_rule_of(),
// audio_store_settings_of(), server_settings_of(), whisper_of(). Used by gateway.cpp. Next file: src/server/settings.hpp.
#pragma once

#include <app/settings.hpp>
#include <backends/whisper/whisper_backend.hpp>
#include <http/auth.hpp>
#include <http/browser.hpp>
#include <http/spool.hpp>
#include <server/settings.hpp>
#include <work/dispatcher.hpp>

#include <memory>
#include <vector>

namespace hearonce::app {

http::auth_mode auth_mode_of(const settings& wanted) noexcept;

// The content of `auth.secret_file`, else 32 random bytes that live as long as the process. Throws std::runtime_error when the
// file cannot be read or is empty.
secret hmac_key_of(const settings& wanted);

// `auth.tokens_file` where there is one, whatever the mode: from elsewhere than this machine /metrics needs a token in every
// mode. An error names the file and the line.
result<http::token_table> tokens_of(const settings& wanted);

http::browser_rules browser_rules_of(const settings& wanted);
std::vector<work::route_rule> route_rules_of(const settings& wanted);
work::retry_rule retry_rule_of(const settings& wanted);
// How long work at a cloud backend may take (`deadline.*`).
time_rule time_rule_of(const settings& wanted);
http::audio_store_settings audio_store_settings_of(const settings& wanted);
server::settings server_settings_of(const settings& wanted);

// The local engine behind a backend; null for any other kind.
std::shared_ptr<whisper::whisper_backend> whisper_of(const std::shared_ptr<backend>& one);

}  // namespace hearonce::app
