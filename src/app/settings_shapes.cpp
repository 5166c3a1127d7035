// Next file: settings_keys.cpp.
#include <app/settings_shapes.hpp>

#include <app/settings_keys.hpp>
#include <hearonce/ascii.hpp>
#include <net/url_port.hpp>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>

namespace hearonce::app::codec {
namespace {

namespace urls = boost::urls;

constexpr std::size_t host_name_max = 253;  // RFC 1035 section 2.3.4, without the root's dot.

bool is_host_name(std::string_view name) {
    if (name.empty() || name.size() > host_name_max || name.front() == '.' || name.front() == '-') return false;
    return std::ranges::all_of(name,
                               [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_'; });
}

std::optional<std::string> plain_text(const value& from) {
    return text::read(from);
}

}  // namespace

std::optional<endpoint::type> endpoint::read(const value& from) {
    const auto typed = plain_text(from);
    return typed ? parse_endpoint(*typed) : std::nullopt;
}

std::optional<network> address_range::read(const value& from) {
    const auto typed = plain_text(from);
    return typed ? parse_network(*typed) : std::nullopt;
}

std::optional<std::string> origin::read(const value& from) {
    auto typed = plain_text(from);
    if (!typed || *typed == "*") return typed;
    const auto url = urls::parse_uri(*typed);
    // "null" is what browsers send for a page with no origin of its own: whoever allows it allows every sandboxed frame.
    if (url.has_error() || !net::sound_port(*url) || !url->has_authority() || url->has_userinfo() || url->encoded_host().empty())
        return std::nullopt;
    if (!url->encoded_path().empty() || url->has_query() || url->has_fragment()) return std::nullopt;
    return ascii::lowered(*typed);
}

std::optional<std::string> host_name::read(const value& from) {
    const auto typed = plain_text(from);
    if (!typed) return std::nullopt;
    auto name = ascii::lowered(*typed);
    return is_host_name(name) ? std::optional(std::move(name)) : std::nullopt;
}

std::optional<std::string> base_url::read(const value& from) {
    auto typed = plain_text(from);
    if (!typed) return std::nullopt;
    const auto url = urls::parse_uri(*typed);
    if (url.has_error() || !net::sound_port(*url) || url->encoded_host().empty() || url->has_userinfo() || url->has_query() ||
        url->has_fragment())
        return std::nullopt;
    if (url->scheme_id() != urls::scheme::http && url->scheme_id() != urls::scheme::https) return std::nullopt;
    while (typed->ends_with('/')) typed->pop_back();
    return typed;
}

std::optional<std::string> variable_name::read(const value& from) {
    auto typed = plain_text(from);
    if (!typed || ascii::is_digit(typed->front())) return std::nullopt;
    const bool fine = std::ranges::all_of(*typed, [](char c) { return ascii::is_letter_or_digit(c) || c == '_'; });
    return fine ? typed : std::nullopt;
}

std::optional<std::string> backend_name::read(const value& from) {
    auto typed = plain_text(from);
    return typed && valid_backend_name(*typed) ? typed : std::nullopt;
}

std::optional<store::type> store::read(const value& from) {
    const auto typed = plain_text(from);
    if (!typed) return std::nullopt;
    if (*typed == "memory") return type();
    const auto url = urls::parse_uri(*typed);
    if (url.has_error() || url->encoded_host().empty() || url->has_query() || url->has_fragment()) return std::nullopt;
    redis_address address;
    if (url->scheme() != "redis" && url->scheme() != "rediss") return std::nullopt;
    address.tls = url->scheme() == "rediss";
    // A user name belongs to Redis's access lists, which are not spoken here; silently ignoring one would log in as another.
    if (!url->encoded_user().empty()) return std::nullopt;
    address.host = std::string(url->encoded_host());
    if (address.host.starts_with('[')) address.host = address.host.substr(1, address.host.size() - 2);
    const auto port = net::sound_port(*url);
    if (!port) return std::nullopt;
    if (*port != 0) address.port = *port;
    const urls::pct_string_view password_encoded = url->encoded_password();
    std::string password = password_encoded.decode();
    address.password = secret(password);
    OPENSSL_cleanse(password.data(), password.size());
    std::string_view database = url->encoded_path();
    if (database.starts_with('/')) database.remove_prefix(1);
    if (!database.empty()) {
        const auto [end, failure] = std::from_chars(database.data(), database.data() + database.size(), address.database);
        if (failure != std::errc() || end != database.data() + database.size() || address.database > 65535) return std::nullopt;
    }
    return type(std::move(address));
}

std::string store::show(const type& shown) {
    if (!shown) return toml_string("memory");
    std::string text = shown->tls ? "rediss://" : "redis://";
    if (!shown->password.empty()) text += ":***@";
    text += shown->host.find(':') == std::string::npos ? shown->host : "[" + shown->host + "]";
    return toml_string(text + ":" + std::to_string(shown->port) + "/" + std::to_string(shown->database));
}

std::optional<aliases::type> aliases::read(const value& from) {
    const auto* table = std::get_if<value::table>(&from.held);
    if (!table) return std::nullopt;
    type all;
    for (const auto& [name, target] : *table) {
        const auto upstream = plain_text(target);
        if (!upstream || name.empty()) return std::nullopt;
        all.emplace(name, *upstream);
    }
    return all;
}

std::string aliases::show(const type& shown) {
    std::string text;
    for (const auto& [name, target] : shown) text += (text.empty() ? "{ " : ", ") + toml_string(name) + " = " + toml_string(target);
    return text.empty() ? "{}" : text + " }";
}

std::optional<route_settings> route::read(const value& from) {
    const auto* table = std::get_if<value::table>(&from.held);
    if (!table || table->size() != 2) return std::nullopt;
    type one;
    for (const auto& [name, part] : *table) {
        if (name == "model") {
            auto glob = plain_text(part);
            if (!glob) return std::nullopt;
            one.model = std::move(*glob);
        } else if (name == "backends") {
            auto names = list_of<backend_name, 1>::read(part);
            if (!names) return std::nullopt;
            one.backends = std::move(*names);
        } else {
            return std::nullopt;
        }
    }
    return one;
}

std::string route::show(const type& shown) {
    return "{ model = " + toml_string(shown.model) + ", backends = " + list_of<backend_name, 1>::show(shown.backends) + " }";
}

}  // namespace hearonce::app::codec
