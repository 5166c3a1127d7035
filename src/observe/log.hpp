// The program's log: what happened, and one line for each request, in text for people or in JSON lines for machines.
//
// Holds: log_options, open_log(), close_log(), say(), access_line, say_access(). A thin layer over spdlog:
// lines are handed to one thread that writes them to stderr, so no event loop waits for a slow terminal or disk; what waits
// is bounded, and when it is full the oldest lines are lost and counted. Queries, prompts, file names and keys have no field
// here and must not be put into a message. Next file: metrics.hpp.
#pragma once

#include <observe/came.hpp>
#include <observe/route.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace spdlog::sinks {
class sink;
}

namespace hearonce::observe {

enum class log_format : std::uint8_t { automatic, text, json };  // automatic: text on a terminal, else json.
enum class log_level : std::uint8_t { trace, debug, info, warn, error };

inline constexpr std::size_t log_lines_waiting_max = 4096;
inline constexpr std::size_t log_value_bytes_max = 1024;  // Of one field; the rest of it is cut off.

struct log_options {
    log_format format = log_format::automatic;
    log_level level = log_level::info;
    bool access = true;                         // The lines of say_access().
    std::shared_ptr<spdlog::sinks::sink> sink;  // Null: stderr.
};

// Opens the process's log; before that, and after close_log(), everything said is dropped. May be called again (a changed
// configuration). Not thread-safe against itself; say() may run meanwhile.
void open_log(log_options options);
// Writes what waits and ends the writing thread. Call it before the process ends.
void close_log() noexcept;
// Waits until everything said so far is written. For tests and for the moment before a crash.
void flush_log() noexcept;

// Changes the level and access lines of an open log at run time.
void set_log_level(log_level level, bool access) noexcept;

bool log_enabled(log_level level) noexcept;
// Lines lost because the writer could not keep up, since open_log(), or for want of memory.
std::uint64_t log_lines_lost() noexcept;

// One more thing to know about an event. A view: it must live until say() has returned. Integers of any type, floating point,
// bool and text.
struct field {
    std::string_view name;  // snake_case, a literal.
    std::variant<std::int64_t, double, bool, std::string_view> value;

    field(std::string_view its_name, std::string_view text) : name(its_name), value(text) {}
    field(std::string_view its_name, const char* text) : name(its_name), value(std::string_view(text)) {}
    field(std::string_view its_name, const std::string& text) : name(its_name), value(std::string_view(text)) {}
    field(std::string_view its_name, bool yes) : name(its_name), value(yes) {}
    field(std::string_view its_name, std::integral auto number) : name(its_name), value(static_cast<std::int64_t>(number)) {}
    field(std::string_view its_name, std::floating_point auto number) : name(its_name), value(static_cast<double>(number)) {}
    field(std::string_view its_name, std::chrono::milliseconds time) : name(its_name), value(static_cast<std::int64_t>(time.count())) {}
};

// Says one event. Thread-safe, never throws, never blocks on output. `message` is a short sentence; what varies goes into
// fields. Control characters of both are escaped, so nobody can forge a line.
void say(log_level level, std::string_view message, std::initializer_list<field> fields = {}) noexcept;

// What one request's line says. Views: they must live until say_access() has returned.
struct access_line {
    std::string_view request_id;
    std::string_view method;
    route path = route::other;  // Never the target itself: queries may hold what was said.
    std::uint16_t status = 0;   // 0: ended without an answer.
    std::string_view code;      // error.code of a failure.
    std::string_view client;    // Address.
    std::string_view device;    // First 16 hex digits of its HMAC, never the id.
    std::string_view sha256;    // Hex; its first 12 digits are written.
    came how = came::not_yet;
    std::string_view backend;
    std::string_view trace_id;  // Of traceparent, 32 hex digits.
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    std::chrono::microseconds total{0};    // From the head's end to the answer's end.
    std::chrono::microseconds receive{0};  // Body
    std::chrono::microseconds wait{0};     // For the flight
    std::chrono::microseconds upstream{0};
};
void say_access(const access_line& line) noexcept;

}  // namespace hearonce::observe
