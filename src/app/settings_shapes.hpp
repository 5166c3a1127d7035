// The codecs of values that have a shape of their own: addresses, origins, URLs, names, routes. See settings_codec.hpp for
// what a codec holds. Next file: settings_keys.cpp.
#pragma once

#include <app/settings_codec.hpp>

namespace hearonce::app::codec {

struct endpoint {
    using type = boost::asio::ip::tcp::endpoint;
    static std::optional<type> read(const value& from);
    static std::string show(const type& shown) { return toml_string(show_endpoint(shown)); }
    static std::string accepts() { return "an address and a port such as \"127.0.0.1:8080\", \"[::1]:8080\" or \"localhost:8080\""; }
};

struct address_range {
    using type = network;
    static std::optional<type> read(const value& from);
    static std::string show(const type& shown) { return toml_string(show_network(shown)); }
    static std::string accepts() { return "a network such as \"10.0.0.0/8\" or \"fd00::/8\""; }
};

// A browser's Origin: scheme and host, a port if it is not the scheme's own, no path. `*` stands for every one.
struct origin : text {
    static std::optional<std::string> read(const value& from);
    static std::string accepts() { return "an origin such as \"https://app.example\" (no path), or \"*\""; }
};

struct host_name : text {
    static std::optional<std::string> read(const value& from);
    static std::string accepts() { return "a host name such as \"stt.example\" (no port)"; }
};

// An http or https URL without credentials, query or fragment; the slashes at its end are cut off.
struct base_url : text {
    static std::optional<std::string> read(const value& from);
    static std::string accepts() { return "a URL such as \"https://api.example/v1\" (http or https, no user, query or fragment)"; }
};

struct variable_name : text {
    static std::optional<std::string> read(const value& from);
    static std::string accepts() { return "the name of an environment variable"; }
};

struct backend_name : text {
    static std::optional<std::string> read(const value& from);
    static std::string accepts() { return "the name of a backend, [a-z][a-z0-9]*"; }
};

// `memory`, or a redis URL whose password is shown as ***.
struct store {
    using type = std::optional<redis_address>;
    static std::optional<type> read(const value& from);
    static std::string show(const type& shown);
    static std::string accepts() { return "memory, or redis://[:password@]host[:port][/db] (rediss:// for TLS)"; }
};

// { "public-name" = "upstream-name", ... }
struct aliases {
    using type = std::map<std::string, std::string>;
    static std::optional<type> read(const value& from);
    static std::string show(const type& shown);
    static std::string accepts() { return "a table of names such as { \"whisper-1\" = \"large-v3\" }"; }
};

struct route {
    using type = route_settings;
    static std::optional<type> read(const value& from);
    static std::string show(const type& shown);
    static std::string accepts() { return "a route such as { model = \"whisper-*\", backends = [\"openai\", \"local\"] }"; }
};

}  // namespace hearonce::app::codec
