// Everything an operator can set, typed and with its defaults. Plain values: what a key is called, how it is read and what
// it means stands once, in settings_keys.cpp; what must hold between keys stands in settings_check.cpp.
//
// Holds: settings and its parts. Next file: load_settings.hpp (where the values come from), then gateway.hpp.
#pragma once

#include <hearonce/secret.hpp>
#include <http/client_address.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hearonce::app {

using std::chrono::milliseconds;

inline constexpr std::uint64_t kibibyte = 1024;
inline constexpr std::uint64_t mebibyte = 1024 * kibibyte;
inline constexpr std::uint64_t gibibyte = 1024 * mebibyte;

using http::network;

struct server_settings {
    std::vector<boost::asio::ip::tcp::endpoint> listen{{boost::asio::ip::address_v4::loopback(), 8080}};  // Never empty; port 0: any.
    unsigned threads = 1;                                  // Event loops; loaded as the number of cores.
    std::optional<std::filesystem::path> tls_certificate;  // PEM; both or neither.
    std::optional<std::filesystem::path> tls_key;
    std::uint64_t max_audio_bytes = 25 * mebibyte;
    std::uint64_t max_fields_bytes = mebibyte;  // All form fields but the file, together.
    unsigned max_connections = 16384;
    milliseconds header_timeout = std::chrono::seconds(10);
    milliseconds idle_timeout = std::chrono::seconds(60);
    milliseconds upload_stall_timeout = std::chrono::seconds(30);
    std::vector<std::string> cors_origins;  // `https://app.example`, lower case, no path; or `*`.
    std::vector<std::string> host_names;    // Lower case, without port.
    std::vector<network> trusted_proxies;
    milliseconds drain = std::chrono::seconds(120);
    bool open_to_everyone = false;
    friend bool operator==(const server_settings&, const server_settings&) = default;
};

struct memory_settings {
    std::uint64_t audio_bytes = 256 * mebibyte;  // All audio in memory at one time.
    std::uint64_t spill_above_bytes = mebibyte;  // A longer recording goes to a file as it arrives.
    std::filesystem::path spill_directory = "/var/tmp";
    std::uint64_t spill_bytes = 8 * gibibyte;  // All spilled audio at one time.
    friend bool operator==(const memory_settings&, const memory_settings&) = default;
};

enum class auth_mode : std::uint8_t { open, tokens, own_key };

struct auth_settings {
    auth_mode mode = auth_mode::open;
    std::optional<std::filesystem::path> tokens_file;  // Present in mode tokens.
    std::optional<std::filesystem::path> secret_file;  // Absent: a secret is made at start.
    bool own_key_local = false;
    friend bool operator==(const auth_settings&, const auth_settings&) = default;
};

// Where finished and running work is remembered.
struct redis_address {
    bool tls = false;
    std::string host;
    std::uint16_t port = 6379;
    unsigned database = 0;
    secret password;
    friend bool operator==(const redis_address&, const redis_address&) = default;
};

struct flight_settings {
    milliseconds ttl = std::chrono::minutes(10);
    std::uint64_t cache_bytes = 64 * mebibyte;
    milliseconds abandon_grace = std::chrono::seconds(90);
    std::optional<redis_address> store;  // Absent: this process's memory.
    friend bool operator==(const flight_settings&, const flight_settings&) = default;
};

struct deadline_settings {
    milliseconds base = std::chrono::seconds(30);
    double per_audio_second = 0.5;  // Seconds granted for each second of audio.
    milliseconds cap = std::chrono::seconds(120);
    friend bool operator==(const deadline_settings&, const deadline_settings&) = default;
};

struct retry_settings {
    unsigned attempts = 3;                                                    // The first included.
    std::vector<milliseconds> pauses{milliseconds(500), milliseconds(2000)};  // The last one repeats; never empty.
    milliseconds window = std::chrono::seconds(20);
    friend bool operator==(const retry_settings&, const retry_settings&) = default;
};

// Absent: no limit.
struct quota_settings {
    std::optional<std::uint64_t> requests_per_day;
    std::optional<milliseconds> audio_per_day;
    std::optional<std::uint64_t> device_requests_per_day;
    std::optional<milliseconds> device_audio_per_day;
    friend bool operator==(const quota_settings&, const quota_settings&) = default;
};

enum class backend_kind : std::uint8_t { openai, gemini, whisper };

struct backend_settings {
    std::string name;  // `[a-z][a-z0-9]*`
    backend_kind kind = backend_kind::whisper;
    std::vector<std::string> models;                 // Globs of fnmatch(3) form; empty: the kind's own.
    std::optional<std::string> default_model;        // Absent: the kind's own.
    std::map<std::string, std::string> model_alias;  // Public name to the upstream's.

    // Kinds openai and gemini.
    std::optional<std::string> base_url;     // Absent: the kind's public URL. No slash at its end.
    std::optional<secret> api_key;           // As configured; at most one of these three is present. An
    std::optional<std::string> api_key_env;  // empty api_key says that no key is to be sent.
    std::optional<std::filesystem::path> api_key_file;
    secret credential;  // What those come to; empty: no key is sent.
    unsigned max_in_flight = 256;
    std::optional<std::filesystem::path> ca_file;  // Absent: the system's store.

    // Kind whisper.
    std::optional<std::string> model;  // As configured: a path or a name.
    std::filesystem::path model_path;  // The ggml file it stands for; exists when loaded.
    std::optional<unsigned> threads;   // Of inference; absent: the engine decides.
    std::optional<unsigned> slots;     // Recordings worked on at one time; absent: the engine decides.
    std::optional<unsigned> queue;     // Recordings waiting for a slot; absent: the engine decides.
    bool no_context = false;
    double deadline_per_audio_second = 4;
    milliseconds progress_timeout = std::chrono::seconds(20);
    friend bool operator==(const backend_settings&, const backend_settings&) = default;
};

// Backends tried in order for the models the glob matches.
struct route_settings {
    std::string model;
    std::vector<std::string> backends;
    friend bool operator==(const route_settings&, const route_settings&) = default;
};

enum class log_format : std::uint8_t { automatic, text, json };  // automatic: text on a terminal, else json.
enum class log_level : std::uint8_t { trace, debug, info, warn, error };

struct log_settings {
    log_format format = log_format::automatic;
    log_level level = log_level::info;
    bool access = true;
    friend bool operator==(const log_settings&, const log_settings&) = default;
};

struct settings {
    server_settings server;
    memory_settings memory;
    auth_settings auth;
    flight_settings flight;
    deadline_settings deadline;
    retry_settings retry;
    quota_settings quota;
    std::vector<backend_settings> backends;      // Ordered by name; names are unique.
    std::optional<std::string> default_backend;  // Names one of them; absent: names nobody claims are refused.
    std::vector<route_settings> routes;
    log_settings log;

    // nullptr when there is none of this name.
    const backend_settings* backend(std::string_view name) const noexcept;
    friend bool operator==(const settings&, const settings&) = default;
};

}  // namespace hearonce::app
