// The credential's way to a principal. Next file: transcriptions.cpp.
#include <hearonce/ascii.hpp>
#include <http/auth.hpp>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace hearonce::http {

namespace {

sha256_digest sha256_of(std::string_view text) {
    sha256_digest digest{};
    unsigned size = 0;
    const int done =
        ::EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size, ::EVP_sha256(), nullptr);
    if (done != 1 || size != digest.size()) std::abort();
    return digest;
}

// A head is not larger than this, so no credential is.
constexpr std::size_t credentials_bytes_max = 64 * 1024;

constexpr std::array<std::string_view, 3> credential_headers{"authorization", "api-key", "x-goog-api-key"};

}  // namespace

result<token_table> token_table::parse(std::string_view lines) {
    token_table made;
    for (std::size_t number = 1; !lines.empty(); ++number) {
        const auto end = lines.find('\n');
        const auto line = ascii::trimmed(lines.substr(0, end));
        lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 1);
        if (line.empty() || line.front() == '#') continue;
        const auto colon = line.rfind(':');
        const auto digest = colon == std::string_view::npos ? std::nullopt : digest_of(line.substr(colon + 1));
        if (!digest || colon == 0) return error(errc::invalid_parameter, "line " + std::to_string(number) + " is not name:sha256hex");
        made.names_.emplace(hex_of(*digest), std::string(line.substr(0, colon)));
    }
    return made;
}

const std::string* token_table::name_of(std::string_view token) const {
    // Looked up by its hash: what a search's time tells about the hash says nothing about the token.
    const auto found = names_.find(hex_of(sha256_of(token)));
    return found == names_.end() ? nullptr : &found->second;
}

std::string keyed_digest(const secret& key, std::string_view text) {
    sha256_digest digest{};
    unsigned size = 0;
    const auto hidden = key.reveal();
    const auto* made =
        ::HMAC(::EVP_sha256(), hidden.data(), static_cast<int>(hidden.size()), reinterpret_cast<const unsigned char*>(text.data()),
               text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size);
    if (made == nullptr || size != digest.size()) std::abort();
    return hex_of(digest);
}

std::string_view bearer_of(const request_head& head) noexcept {
    constexpr std::string_view scheme = "bearer";
    const auto value = head.find("authorization");
    if (!value || value->size() <= scheme.size()) return {};
    if (!ascii::equal_in_any_case(value->substr(0, scheme.size()), scheme) || (*value)[scheme.size()] != ' ') return {};
    return ascii::without_blanks(value->substr(scheme.size()));
}

std::shared_ptr<const caller_keys> caller_keys_of(const request_head& head) {
    auto keys = std::make_shared<caller_keys>();
    keys->bearer = secret(bearer_of(head));
    keys->openai = secret(head.find("api-key").value_or(""));
    keys->gemini = secret(head.find("x-goog-api-key").value_or(""));
    keys->organization = head.find("openai-organization").value_or("");
    keys->project = head.find("openai-project").value_or("");
    return keys;
}

void wipe_credentials(request_head& head) noexcept {
    for (auto& one : head.headers) {
        const bool holds_key =
            std::ranges::any_of(credential_headers, [&one](std::string_view name) { return ascii::equal_in_any_case(one.name, name); });
        if (holds_key) ::OPENSSL_cleanse(one.value.data(), one.value.size());
    }
}

authenticator::authenticator(auth_mode mode, secret hmac_key) : mode_(mode), hmac_key_(std::move(hmac_key)) {}

void authenticator::replace_tokens(token_table tokens) {
    auto fresh = std::make_shared<const token_table>(std::move(tokens));
    const std::lock_guard lock(mutex_);
    tokens_.swap(fresh);
}

std::string authenticator::token_holder(const request_head& head) const {
    return holder_of(bearer_of(head));
}

std::string authenticator::holder_of(std::string_view credential) const {
    if (credential.empty()) return {};
    std::shared_ptr<const token_table> tokens;
    {
        const std::lock_guard lock(mutex_);
        tokens = tokens_;
    }
    const auto* name = tokens->name_of(credential);
    return name == nullptr ? std::string() : "token:" + *name;
}

result<std::string> authenticator::principal_of(const request_head& head) const {
    if (mode_ == auth_mode::open) return std::string();
    const auto bearer = bearer_of(head);
    if (mode_ == auth_mode::tokens) {
        if (bearer.empty()) return error(errc::invalid_api_key, "This gateway needs a token: send Authorization: Bearer TOKEN.");
        auto holder = token_holder(head);
        if (holder.empty()) return error(errc::invalid_api_key);
        return holder;
    }
    // Every credential the caller sent belongs to who it is: another key is another caller, whichever provider it is for.
    std::string credentials;
    credentials.reserve(credentials_bytes_max);  // Growing would leave copies of the keys behind.
    for (const auto& [label, value] :
         {std::pair(std::string_view("bearer"), bearer), std::pair(std::string_view("api-key"), head.find("api-key").value_or("")),
          std::pair(std::string_view("x-goog-api-key"), head.find("x-goog-api-key").value_or(""))}) {
        if (!holder_of(value).empty()) {
            ::OPENSSL_cleanse(credentials.data(), credentials.size());
            return error(errc::invalid_api_key, "This is a token of the gateway's: send your own provider key.");
        }
        if (!value.empty()) credentials.append(label).append(1, '\0').append(value).append(1, '\0');
    }
    if (credentials.empty()) return error(errc::invalid_api_key, "Bring your own key: send Authorization: Bearer KEY.");
    for (const auto name : {"openai-organization", "openai-project"}) {
        credentials.append(name).append(1, '\0').append(head.find(name).value_or("")).append(1, '\0');
    }
    auto principal = "key:" + keyed_digest(hmac_key_, credentials);
    ::OPENSSL_cleanse(credentials.data(), credentials.size());
    return principal;
}

}  // namespace hearonce::http
