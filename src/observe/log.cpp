// Puts a line together on the calling thread and hands it to spdlog's writing thread. Next file: log_line.hpp.
#include <observe/log.hpp>
#include <observe/log_line.hpp>
#include <observe/log_sink.hpp>

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace hearonce::observe {
namespace {

constexpr std::size_t method_bytes_max = 32;
constexpr std::size_t digest_digits_shown = 12;
constexpr auto flush_patience = std::chrono::seconds(2);

constexpr const char* text_pattern = "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v";
constexpr const char* json_pattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";

struct open_state {
    std::shared_ptr<spdlog::details::thread_pool> writer;  // Reset when closed; the logger holds it weakly.
    std::shared_ptr<draining_sink> sink;
    std::shared_ptr<spdlog::async_logger> logger;
    bool json = false;
    std::atomic<bool> access = true;
};

// Guards opening and closing. Saying something takes no lock: it reads `current`, and a state that was current once stays
// until the process ends, because a thread may still be in it.
std::mutex opening;
std::vector<std::unique_ptr<open_state>>& states() {
    static std::vector<std::unique_ptr<open_state>> all;
    return all;
}
std::atomic<open_state*> current = nullptr;

// Lines there was no memory for: the program goes on without them.
std::atomic<std::uint64_t> unsaid = 0;

spdlog::level::level_enum level_of(log_level level) noexcept {
    switch (level) {
        case log_level::trace: return spdlog::level::trace;
        case log_level::debug: return spdlog::level::debug;
        case log_level::info: break;
        case log_level::warn: return spdlog::level::warn;
        case log_level::error: return spdlog::level::err;
    }
    return spdlog::level::info;
}

bool wants_json(log_format format, bool given_sink) noexcept {
    if (format != log_format::automatic) return format == log_format::json;
    return given_sink || ::isatty(STDERR_FILENO) == 0;
}

void write(open_state& to, log_level level, const log_line& said) {
    to.logger->log(level_of(level), spdlog::string_view_t(said.text().data(), said.text().size()));
}

// Ends the writing thread after it has written what waits.
void end(open_state& state) {
    if (!state.writer) return;
    if (const std::size_t lost = state.writer->overrun_counter(); lost != 0) {
        log_line said(state.json);
        said.message("log lines were lost because writing them was too slow");
        said.add({"lines", lost});
        write(state, log_level::warn, said);
    }
    state.logger->flush();
    state.writer.reset();
}

}  // namespace

void open_log(log_options options) {
    auto state = std::make_unique<open_state>();
    state->json = wants_json(options.format, options.sink != nullptr);
    state->access = options.access;
    if (!options.sink) options.sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    state->sink = std::make_shared<draining_sink>(std::move(options.sink));
    state->writer = std::make_shared<spdlog::details::thread_pool>(log_lines_waiting_max, 1);
    state->logger =
        std::make_shared<spdlog::async_logger>("hearonce", state->sink, state->writer, spdlog::async_overflow_policy::overrun_oldest);
    state->logger->set_pattern(state->json ? json_pattern : text_pattern, spdlog::pattern_time_type::utc);
    state->logger->set_level(level_of(options.level));
    // A log that cannot be written has nowhere to say so.
    state->logger->set_error_handler([](const std::string&) {});
    const std::lock_guard lock(opening);
    open_state* const former = current.exchange(state.get());
    states().push_back(std::move(state));
    if (former != nullptr) end(*former);
}

void close_log() noexcept {
    try {
        const std::lock_guard lock(opening);
        if (open_state* const former = current.exchange(nullptr); former != nullptr) end(*former);
    } catch (...) {
        unsaid.fetch_add(1, std::memory_order_relaxed);
    }
}

void flush_log() noexcept {
    try {
        const std::lock_guard lock(opening);
        if (open_state* const state = current.load(); state != nullptr) state->sink->drain(*state->logger, flush_patience);
    } catch (...) {
        unsaid.fetch_add(1, std::memory_order_relaxed);
    }
}

void set_log_level(log_level level, bool access) noexcept {
    if (open_state* const state = current.load(); state != nullptr) {
        state->logger->set_level(level_of(level));
        state->access = access;
    }
}

bool log_enabled(log_level level) noexcept {
    const open_state* const state = current.load(std::memory_order_acquire);
    return state != nullptr && state->logger->should_log(level_of(level));
}

std::uint64_t log_lines_lost() noexcept {
    const std::lock_guard lock(opening);
    const open_state* const state = current.load();
    const std::uint64_t overrun = state != nullptr && state->writer ? state->writer->overrun_counter() : 0;
    return overrun + unsaid.load(std::memory_order_relaxed);
}

void say(log_level level, std::string_view message, std::initializer_list<field> fields) noexcept {
    open_state* const state = current.load(std::memory_order_acquire);
    if (state == nullptr || !state->logger->should_log(level_of(level))) return;
    try {
        log_line said(state->json);
        said.message(message);
        for (const field& one : fields) said.add(one);
        write(*state, level, said);
    } catch (...) {
        unsaid.fetch_add(1, std::memory_order_relaxed);
    }
}

void say_access(const access_line& what) noexcept {
    open_state* const state = current.load(std::memory_order_acquire);
    if (state == nullptr || !state->access.load(std::memory_order_relaxed) || !state->logger->should_log(spdlog::level::info)) return;
    try {
        log_line said(state->json);
        said.message("request");
        said.add_known("request_id", what.request_id);
        said.add({"method", what.method.substr(0, method_bytes_max)});
        said.add({"path", name_of(what.path)});
        said.add({"status", what.status});
        said.add_known("code", what.code);
        said.add_known("client", what.client);
        said.add_known("device", what.device);
        said.add_known("sha256", what.sha256.substr(0, digest_digits_shown));
        if (what.how != came::not_yet) said.add({"how", name_of(what.how)});
        said.add_known("backend", what.backend);
        said.add_known("trace_id", what.trace_id);
        said.add({"received_bytes", what.received_bytes});
        said.add({"sent_bytes", what.sent_bytes});
        said.add_milliseconds("total_ms", what.total);
        said.add_milliseconds("receive_ms", what.receive);
        said.add_milliseconds("wait_ms", what.wait);
        said.add_milliseconds("upstream_ms", what.upstream);
        write(*state, log_level::info, said);
    } catch (...) {
        unsaid.fetch_add(1, std::memory_order_relaxed);
    }
}

}  // namespace hearonce::observe
