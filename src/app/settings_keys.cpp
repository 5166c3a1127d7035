// The table of keys. Next file: load_settings.cpp.
#include <app/settings_keys.hpp>

#include <app/settings_shapes.hpp>

#include <algorithm>
#include <array>
#include <type_traits>

namespace hearonce::app {
namespace codec {

template <>
struct names<auth_mode> {
    static constexpr std::array<std::pair<std::string_view, auth_mode>, 3> all{
        {{"open", auth_mode::open}, {"tokens", auth_mode::tokens}, {"own-key", auth_mode::own_key}}};
};
template <>
struct names<backend_kind> {
    static constexpr std::array<std::pair<std::string_view, backend_kind>, 3> all{
        {{"openai", backend_kind::openai}, {"gemini", backend_kind::gemini}, {"whisper", backend_kind::whisper}}};
};
template <>
struct names<log_format> {
    static constexpr std::array<std::pair<std::string_view, log_format>, 3> all{
        {{"auto", log_format::automatic}, {"text", log_format::text}, {"json", log_format::json}}};
};
template <>
struct names<log_level> {
    static constexpr std::array<std::pair<std::string_view, log_level>, 5> all{{{"trace", log_level::trace},
                                                                                {"debug", log_level::debug},
                                                                                {"info", log_level::info},
                                                                                {"warn", log_level::warn},
                                                                                {"error", log_level::error}}};
};

}  // namespace codec

namespace {

using namespace codec;

constexpr std::int64_t second_ms = 1000;
constexpr std::int64_t hour_ms = 3600 * second_ms;
constexpr std::int64_t day_ms = 24 * hour_ms;
constexpr std::uint64_t tebibyte = 1024 * gibibyte;
constexpr std::uint64_t requests_max = 1'000'000'000'000;

using time_limit = duration<1, day_ms>;  // For what must not be zero.
using pause = duration<0, hour_ms>;

// Binds a codec to the member that Path leads to: settings -> part -> value.
template <class Root, class Codec, auto... Path>
constexpr basic_key<Root> describe(std::string_view name, bool live, std::string_view about, std::string_view initial = "",
                                   kinds applies = kinds::all) {
    basic_key<Root> made{name, initial, about, live, applies};
    made.secret = std::is_same_v<Codec, optional_of<hidden>> || std::is_same_v<Codec, store>;
    made.read = [](Root& into, const value& from) {
        auto found = Codec::read(from);
        if (found) (into.*....*Path) = std::move(*found);
        return found.has_value();
    };
    made.show = [](const Root& from) { return Codec::show((from.*....*Path)); };
    made.accepts = [] { return Codec::accepts(); };
    return made;
}

template <class Codec, auto... Path>
constexpr key of(std::string_view name, bool live, std::string_view about, std::string_view initial = "") {
    return describe<settings, Codec, Path...>(name, live, about, initial);
}

template <class Codec, auto... Path>
constexpr backend_key of_backend(std::string_view name, kinds applies, std::string_view about, std::string_view initial = "") {
    return describe<backend_settings, Codec, Path...>(name, false, about, initial, applies);
}

// A key is live only where gateway::reload() takes the new value up.
constexpr bool live = true;
constexpr bool fixed = false;
using s = settings;
using srv = server_settings;

constexpr std::array key_table{
    of<list_of<endpoint, 1>, &s::server, &srv::listen>("server.listen", fixed,
                                                       "Where the gateway listens: one address and port or a list. A non-loopback address "
                                                       "with auth.mode = \"open\" needs server.open_to_everyone."),
    of<count<1, 1024>, &s::server, &srv::threads>("server.threads", fixed, "Event loops.", "the number of cores"),
    of<optional_of<path>, &s::server, &srv::tls_certificate>(
        "server.tls_certificate", fixed, "PEM file of the certificate chain; with server.tls_key. SIGHUP reads both files again.", "none"),
    of<optional_of<path>, &s::server, &srv::tls_key>("server.tls_key", fixed,
                                                     "PEM file of the certificate's key; with server.tls_certificate.", "none"),
    of<size<1, 16 * gibibyte>, &s::server, &srv::max_audio_bytes>("server.max_audio", fixed,
                                                                  "Larger audio is refused with 413; counted in bytes received."),
    of<size<1024, gibibyte>, &s::server, &srv::max_fields_bytes>("server.max_fields", fixed, "Bound of all other form fields together."),
    of<count<1, 1'000'000>, &s::server, &srv::max_connections>(
        "server.max_connections", fixed, "Connections open at one time; lowered, and said so, when the limit of open files is too low."),
    of<time_limit, &s::server, &srv::header_timeout>("server.header_timeout", fixed, "Time a request's head may take."),
    of<time_limit, &s::server, &srv::idle_timeout>("server.idle_timeout", fixed, "Time a connection may rest between requests."),
    of<time_limit, &s::server, &srv::upload_stall_timeout>(
        "server.upload_stall_timeout", fixed,
        "Time an upload may bring nothing; time in which the gateway itself does not read does not count."),
    of<list_of<origin>, &s::server, &srv::cors_origins>("server.cors_origins", fixed, "Origins of web pages that may call the gateway."),
    of<list_of<host_name>, &s::server, &srv::host_names>("server.host_names", fixed,
                                                         "Host names besides localhost that are believed on loopback in mode open."),
    of<list_of<address_range>, &s::server, &srv::trusted_proxies>("server.trusted_proxies", fixed,
                                                                  "Networks whose X-Forwarded-For is believed."),
    of<duration<0, day_ms>, &s::server, &srv::drain>("server.drain", fixed, "Time that requests begun before SIGTERM have to end."),
    of<flag, &s::server, &srv::open_to_everyone>(
        "server.open_to_everyone", fixed,
        "Allows a non-loopback address with auth.mode = \"open\": anybody who reaches it can use the backends."),

    of<size<mebibyte, 64 * tebibyte>, &s::memory, &memory_settings::audio_bytes>(
        "memory.audio", fixed, "All audio in memory at one time, over all requests; used up, every recording spills at once."),
    of<size<0, 64 * tebibyte>, &s::memory, &memory_settings::spill_above_bytes>(
        "memory.spill_above", fixed, "A longer recording goes to an unlinked file as it arrives."),
    of<folder, &s::memory, &memory_settings::spill_directory>("memory.spill_directory", fixed,
                                                              "Folder of those files; should be on a disk."),
    of<size<0, 64 * tebibyte>, &s::memory, &memory_settings::spill_bytes>("memory.spill_bytes", fixed,
                                                                          "All spilled audio at one time; beyond it 503 overloaded."),

    of<choice<auth_mode>, &s::auth, &auth_settings::mode>(
        "auth.mode", fixed,
        "open: anybody; tokens: bearer is a gateway token; own-key: bearer is the caller's own provider key, passed on and kept nowhere."),
    of<optional_of<path>, &s::auth, &auth_settings::tokens_file>("auth.tokens_file", live,
                                                                 "Lines name:sha256hex, as `hearonce token new NAME` prints them.", "none"),
    of<optional_of<path>, &s::auth, &auth_settings::secret_file>(
        "auth.secret_file", fixed, "Keys the hashes of callers' keys; needed when instances share a store.", "made at start"),
    of<flag, &s::auth, &auth_settings::own_key_local>("auth.own_key_local", fixed, "Whether whisper backends take work in mode own-key."),

    of<time_limit, &s::flight, &flight_settings::ttl>("flight.ttl", fixed, "Life of a finished success, counted from its end."),
    of<size<0, tebibyte>, &s::flight, &flight_settings::cache_bytes>("flight.cache_bytes", fixed,
                                                                     "Bound of the finished results; least recently used goes first."),
    of<duration<0, day_ms>, &s::flight, &flight_settings::abandon_grace>(
        "flight.abandon_grace", fixed, "When the last waiter has left, work goes on this long for a resend to find it."),
    of<store, &s::flight, &flight_settings::store>(
        "flight.store", fixed, "memory, or redis://[:password@]host:port/db (rediss:// for TLS): one flight over many instances."),

    of<time_limit, &s::deadline, &deadline_settings::base>("deadline.base", fixed,
                                                           "Limit of a cloud flight as a whole, before the note's length is counted."),
    of<number<0, 1000>, &s::deadline, &deadline_settings::per_audio_second>("deadline.per_audio_second", fixed,
                                                                            "Seconds added for each second of audio."),
    of<time_limit, &s::deadline, &deadline_settings::cap>("deadline.cap", fixed,
                                                          "The limit is never longer, and this long when the note's length is unknown."),

    of<count<1, 20>, &s::retry, &retry_settings::attempts>("retry.attempts", fixed, "Attempts towards one backend, the first included."),
    of<list_of<pause, 1>, &s::retry, &retry_settings::pauses>("retry.pauses", fixed, "Pauses between attempts; the last repeats."),
    of<pause, &s::retry, &retry_settings::window>("retry.window", fixed,
                                                  "Time in which attempts may begin; Retry-After is obeyed within it."),

    of<optional_of<count<0, requests_max, std::uint64_t>>, &s::quota, &quota_settings::requests_per_day>(
        "quota.requests_per_day", fixed, "Pieces of work a principal may lead a day; joins and hits are free.", "none"),
    of<optional_of<duration<0, 36500 * day_ms>>, &s::quota, &quota_settings::audio_per_day>(
        "quota.audio_per_day", fixed, "Length of audio a principal may have worked on a day.", "none"),
    of<optional_of<count<0, requests_max, std::uint64_t>>, &s::quota, &quota_settings::device_requests_per_day>(
        "quota.device_requests_per_day", fixed, "The same for each of its devices.", "none"),
    of<optional_of<duration<0, 36500 * day_ms>>, &s::quota, &quota_settings::device_audio_per_day>(
        "quota.device_audio_per_day", fixed, "The same for each of its devices.", "none"),

    of<optional_of<backend_name>, &s::default_backend>("default_backend", fixed, "Takes model names nobody claims.",
                                                       "the whisper one, if any"),
    of<list_of<route>, &s::routes>(
        "routes", fixed,
        "[[routes]] model = \"glob\", backends = [\"openai\", \"local\"]: tried in order on transient failure, inside the one deadline."),

    of<choice<log_format>, &s::log, &log_settings::format>("log.format", fixed, "text or json.", "text on a terminal, else json"),
    of<choice<log_level>, &s::log, &log_settings::level>("log.level", live, "The least severe level that is written."),
    of<flag, &s::log, &log_settings::access>("log.access", live, "One line a request."),
};

using b = backend_settings;

constexpr std::array backend_key_table{
    of_backend<choice<backend_kind>, &b::kind>(
        "kind", kinds::all, "What it speaks; may be left out where the name says it (openai, gemini, whisper, local).", "from the name"),
    of_backend<list_of<text>, &b::models>("models", kinds::all, "Names (globs) this backend claims.", "the kind's own"),
    of_backend<optional_of<text>, &b::default_model>("default_model", kinds::all, "The model when a request names none.", "the kind's own"),
    of_backend<aliases, &b::model_alias>("model_alias", kinds::all, "Public name to the upstream's."),
    of_backend<optional_of<base_url>, &b::base_url>("base_url", kinds::cloud, "Any OpenAI-compatible server for kind openai.",
                                                    "the kind's public URL"),
    of_backend<optional_of<hidden>, &b::api_key>("api_key", kinds::cloud, "The key itself; empty: none is sent.",
                                                 "OPENAI_API_KEY or GEMINI_API_KEY of the environment"),
    of_backend<optional_of<variable_name>, &b::api_key_env>("api_key_env", kinds::cloud,
                                                            "Name of the environment variable that holds the key.", "none"),
    of_backend<optional_of<path>, &b::api_key_file>("api_key_file", kinds::cloud, "File that holds the key.", "none"),
    of_backend<count<1, 65535>, &b::max_in_flight>("max_in_flight", kinds::cloud,
                                                   "Calls at one time; beyond it work queues inside its deadline."),
    of_backend<optional_of<path>, &b::ca_file>("ca_file", kinds::cloud, "PEM file of the authorities that are believed.",
                                               "the system's store"),
    of_backend<optional_of<text>, &b::model>("model", kinds::whisper, "Path of a ggml model file, or a name known to `hearonce models`.",
                                             "none"),
    of_backend<optional_of<count<1, 1024>>, &b::threads>("threads", kinds::whisper, "Threads of one inference.", "the engine's choice"),
    of_backend<optional_of<count<1, 64>>, &b::slots>("slots", kinds::whisper, "Recordings worked on at one time.", "the engine's choice"),
    of_backend<optional_of<count<0, 65535>>, &b::queue>("queue", kinds::whisper, "Recordings waiting for a slot; beyond it 503 overloaded.",
                                                        "the engine's choice"),
    of_backend<flag, &b::no_context>("no_context", kinds::whisper, "Whether each 30 s window forgets the text before it."),
    of_backend<number<0, 1000>, &b::deadline_per_audio_second>("deadline_per_audio_second", kinds::whisper,
                                                               "Seconds granted for each second of audio; 60 s at least."),
    of_backend<time_limit, &b::progress_timeout>("progress_timeout", kinds::whisper,
                                                 "Without a step for this long the engine is restarted."),
};

}  // namespace

std::span<const key> keys() noexcept {
    return key_table;
}

std::span<const backend_key> backend_keys() noexcept {
    return backend_key_table;
}

const key* find_key(std::string_view name) noexcept {
    const auto found = std::ranges::find(key_table, name, &key::name);
    return found == key_table.end() ? nullptr : &*found;
}

const backend_key* find_backend_key(std::string_view name) noexcept {
    const auto found = std::ranges::find(backend_key_table, name, &backend_key::name);
    return found == backend_key_table.end() ? nullptr : &*found;
}

bool applies_to(const backend_key& described, backend_kind kind) noexcept {
    return described.applies == kinds::all || (described.applies == kinds::whisper) == (kind == backend_kind::whisper);
}

bool valid_backend_name(std::string_view name) noexcept {
    if (name.empty() || name.size() > 64 || name.front() < 'a' || name.front() > 'z') return false;
    return std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

std::string_view name_of(auth_mode mode) noexcept {
    return choice<auth_mode>::word_of(mode);
}

std::string_view name_of(backend_kind kind) noexcept {
    return choice<backend_kind>::word_of(kind);
}

std::string_view name_of(log_level level) noexcept {
    return choice<log_level>::word_of(level);
}

}  // namespace hearonce::app
