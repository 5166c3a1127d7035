// Who the caller is to the gateway, from the credential it sent.
//
// Holds: auth_mode, token_table, keyed_digest(), bearer_of(), caller_keys_of(), wipe_credentials(), authenticator. The principal it yields is part of the work key; in `open`
// mode it is left to identity.hpp (device or address). Next file: transcriptions.hpp.
#pragma once

#include <hearonce/audio.hpp>
#include <hearonce/backend.hpp>
#include <hearonce/error.hpp>
#include <hearonce/secret.hpp>
#include <http/exchange.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace hearonce::http {

enum class auth_mode : std::uint8_t { open, tokens, own_key };

// The gateway's own tokens by the SHA-256 of each, so that neither the file nor memory holds a token. Immutable.
class token_table {
public:
    // Lines `name:sha256hex`; blank lines and lines that begin with '#' are skipped. An error names the line.
    static result<token_table> parse(std::string_view lines);

    // The token's name; nullptr for an unknown one.
    const std::string* name_of(std::string_view token) const;
    std::size_t size() const noexcept { return names_.size(); }

private:
    std::unordered_map<std::string, std::string> names_;  // Lower-case hex of the SHA-256 → name.
};

// HMAC-SHA256 under the gateway's secret, lower-case hex: how a secret becomes a principal, and a device a log label.
std::string keyed_digest(const secret& key, std::string_view text);

// The bearer credential of `Authorization: Bearer X` (RFC 6750 section 2.1; the scheme in any case); empty when absent.
std::string_view bearer_of(const request_head& head) noexcept;

// The provider keys the caller sent, for `own-key`.
std::shared_ptr<const caller_keys> caller_keys_of(const request_head& head);

// Overwrites the values of the headers that hold credentials, for when the request is over. Copies that stay until their
// memory is used again: in the connection's input buffer, in the parser that read it, in the head of the request to the
// provider, and in what the TLS library and the kernel keep of the transport.
void wipe_credentials(request_head& head) noexcept;

// Decides from the headers alone. Thread-safe; tokens may be replaced while requests run.
class authenticator {
public:
    authenticator(auth_mode mode, secret hmac_key);

    void replace_tokens(token_table tokens);
    auth_mode mode() const noexcept { return mode_; }
    const secret& hmac_key() const noexcept { return hmac_key_; }

    // The principal of an authenticated mode; empty in `open` mode, which reads no credential.
    // errc::invalid_api_key: none was sent, or it is not known, or under `own-key` it is a token of the gateway's, which
    // would go to a provider otherwise.
    result<std::string> principal_of(const request_head& head) const;

    // "token:NAME" of the gateway's own token the caller sent as bearer, whatever the mode; empty: none.
    std::string token_holder(const request_head& head) const;

private:
    std::string holder_of(std::string_view credential) const;

    auth_mode mode_;
    secret hmac_key_;
    mutable std::mutex mutex_;  // Guards the pointer alone; the table it points to never changes.
    std::shared_ptr<const token_table> tokens_ = std::make_shared<token_table>();
};

}  // namespace hearonce::http
