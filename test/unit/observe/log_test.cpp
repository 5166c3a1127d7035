// The log: its two formats, that nobody can forge a line, that it is bounded, and that it never throws or blocks.
#include <observe/log.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <spdlog/sinks/base_sink.h>

#include <condition_variable>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace json = boost::json;
using namespace hearonce::observe;
using namespace std::chrono_literals;

namespace {

// Keeps what is written; can be told to hold the writing thread, or to fail.
class kept_lines final : public spdlog::sinks::base_sink<std::mutex> {
public:
    std::vector<std::string> lines() {
        flush_log();
        const std::lock_guard lock(guard_);
        return lines_;
    }
    void hold() {
        const std::lock_guard lock(guard_);
        held_ = true;
    }
    void release() {
        const std::lock_guard lock(guard_);
        held_ = false;
        changed_.notify_all();
    }
    void wait_until_holding() {
        std::unique_lock lock(guard_);
        changed_.wait(lock, [&] { return holding_; });
    }
    bool fails = false;

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        if (fails) throw std::runtime_error("disk full");
        spdlog::memory_buf_t text;
        formatter_->format(message, text);
        std::unique_lock lock(guard_);
        holding_ = held_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return !held_; });
        lines_.emplace_back(text.data(), text.size());
    }
    void flush_() override {}

    std::mutex guard_;
    std::condition_variable changed_;
    std::vector<std::string> lines_;
    bool held_ = false;
    bool holding_ = false;
};

struct opened {
    std::shared_ptr<kept_lines> sink = std::make_shared<kept_lines>();

    explicit opened(log_format format = log_format::json, log_level level = log_level::info, bool access = true) {
        log_options options;
        options.format = format;
        options.level = level;
        options.access = access;
        options.sink = sink;
        open_log(std::move(options));
    }
    ~opened() { close_log(); }
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;

    json::object only() const {
        const auto all = sink->lines();
        BOOST_REQUIRE(all.size() == 1U);
        return json::parse(all[0]).as_object();
    }
};

// The line with T where its time stood, when that is a time in UTC to the millisecond.
std::string without_time(std::string line) {
    constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd.dddZ";
    const auto begin = line.find("20");
    BOOST_REQUIRE(begin <= 9U);
    BOOST_REQUIRE(line.size() >= begin + form.size());
    for (std::size_t i = 0; i < form.size(); ++i) {
        const char c = line[begin + i];
        BOOST_REQUIRE((form[i] == 'd' ? c >= '0' && c <= '9' : c == form[i]));
    }
    return line.replace(begin, form.size(), "T");
}

access_line whole_line() {
    access_line line;
    line.request_id = "r-1";
    line.method = "POST";
    line.path = route::transcriptions;
    line.status = 200;
    line.client = "192.0.2.7";
    line.device = "0123456789abcdef";
    line.sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    line.how = came::joined;
    line.backend = "local";
    line.received_bytes = 32331;
    line.sent_bytes = 42;
    line.total = 12345us;
    line.receive = 1000us;
    line.wait = 11000us;
    return line;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(log_)

BOOST_AUTO_TEST_CASE(json_line) {
    const opened log;
    const std::string text = "kept";
    say(log_level::warn, "a backend is slow",
        {{"backend", "local"}, {"tries", 3U}, {"took", 1500ms}, {"share", 0.5}, {"again", true}, {"text", text}});
    const auto lines = log.sink->lines();
    BOOST_REQUIRE(lines.size() == 1U);
    BOOST_TEST(without_time(lines[0]) == R"({"time":"T","level":"warning","message":"a backend is slow",)"
                                         R"("backend":"local","tries":3,"took":1500,"share":0.5,"again":true,"text":"kept"})"
                                         "\n");
}

BOOST_AUTO_TEST_CASE(text_line) {
    const opened log(log_format::text);
    say(log_level::info, "listening", {{"address", "127.0.0.1:8080"}, {"why", "asked to"}, {"odd", "a=b"}, {"none", ""}});
    const auto lines = log.sink->lines();
    BOOST_REQUIRE(lines.size() == 1U);
    BOOST_TEST(without_time(lines[0]) == "T info    listening address=127.0.0.1:8080 why=\"asked to\" odd=\"a=b\" none=\"\"\n");
}

BOOST_AUTO_TEST_CASE(access) {
    const opened log;
    say_access(whole_line());
    auto said = log.only();
    said.erase("time");
    const json::value expected = json::parse(
        R"({"level":"info","message":"request","request_id":"r-1","method":"POST","path":"/v1/audio/transcriptions","status":200,)"
        R"("client":"192.0.2.7","device":"0123456789abcdef","sha256":"ba7816bf8f01","how":"joined","backend":"local",)"
        R"("received_bytes":32331,"sent_bytes":42,"total_ms":12.345,"receive_ms":1.0,"wait_ms":11.0,"upstream_ms":0.0})");
    BOOST_TEST((json::value(said) == expected), json::value(said));
}

BOOST_AUTO_TEST_CASE(access_leaves_out_what_is_not_known) {
    const opened log;
    say_access(access_line{});
    const auto said = log.only();
    for (const char* absent : {"request_id", "code", "client", "device", "sha256", "how", "backend", "trace_id"})
        BOOST_TEST(!said.contains(absent));
    BOOST_TEST(said.at("status").as_int64() == 0);
    BOOST_TEST(said.at("path").as_string() == "other");
}

BOOST_AUTO_TEST_CASE(access_can_be_off) {
    const opened log(log_format::json, log_level::info, false);
    say_access(whole_line());
    BOOST_TEST(log.sink->lines().empty());
    set_log_level(log_level::info, true);
    say_access(whole_line());
    BOOST_TEST(log.sink->lines().size() == 1U);
    set_log_level(log_level::warn, true);
    say_access(whole_line());
    BOOST_TEST(log.sink->lines().size() == 1U);
}

BOOST_AUTO_TEST_CASE(levels) {
    const log_level all[] = {log_level::trace, log_level::debug, log_level::info, log_level::warn, log_level::error};
    for (const log_level at : all) {
        const opened log(log_format::json, at);
        std::size_t expected = 0;
        for (const log_level level : all) {
            say(level, "x");
            BOOST_TEST(log_enabled(level) == (level >= at));
            if (level >= at) ++expected;
        }
        BOOST_TEST(log.sink->lines().size() == expected);
    }
}

// Whatever a caller sends, a line stays one line and its fields stay its own.
BOOST_AUTO_TEST_CASE(lines_cannot_be_forged) {
    const std::string evil =
        "x\",\"level\":\"error\"}\n{\"forged\":true}\r\x1b[2J\xC2\x9B"
        "0m\xff status=500";
    for (const log_format format : {log_format::json, log_format::text}) {
        const opened log(format);
        access_line line = whole_line();
        line.request_id = line.method = line.client = line.backend = line.code = line.trace_id = line.device = line.sha256 = evil;
        say_access(line);
        say(log_level::info, evil, {{"field", evil}});
        const auto lines = log.sink->lines();
        BOOST_REQUIRE(lines.size() == 2U);
        for (const std::string& one : lines) {
            BOOST_TEST(std::count(one.begin(), one.end(), '\n') == 1);
            BOOST_TEST(one.back() == '\n');
            for (const char c : one.substr(0, one.size() - 1)) BOOST_REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
            BOOST_TEST(one.find("\xC2\x9B") == std::string::npos);
            if (format == log_format::json) {
                const auto said = json::parse(one).as_object();
                BOOST_TEST(said.at("level").as_string() == "info");
                BOOST_TEST(!said.contains("forged"));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(values_are_bounded) {
    const opened log;
    for (const std::size_t bytes : {log_value_bytes_max - 1, log_value_bytes_max, log_value_bytes_max + 1, std::size_t{1'000'000}}) {
        say(log_level::info, "x", {{"bytes", bytes}, {"text", std::string(bytes, 'a')}});
    }
    for (const std::string& one : log.sink->lines()) {
        const auto said = json::parse(one).as_object();
        const auto bytes = static_cast<std::size_t>(said.at("bytes").as_int64());
        BOOST_TEST(said.at("text").as_string().size() == std::min(bytes, log_value_bytes_max));
    }
}

BOOST_AUTO_TEST_CASE(closed_is_silent) {
    BOOST_TEST(!log_enabled(log_level::error));
    say(log_level::error, "nobody hears this");
    say_access(whole_line());
    flush_log();
    set_log_level(log_level::trace, true);
    close_log();
    BOOST_TEST(log_lines_lost() == 0U);
}

BOOST_AUTO_TEST_CASE(closing_writes_what_waits) {
    auto sink = std::make_shared<kept_lines>();
    {
        opened log;
        sink = log.sink;
        for (int i = 0; i < 1000; ++i) say(log_level::info, "x");
    }
    BOOST_TEST(sink->lines().size() == 1000U);
}

BOOST_AUTO_TEST_CASE(opening_again_loses_nothing) {
    const opened first;
    say(log_level::info, "to the first");
    {
        const opened second;
        say(log_level::info, "to the second");
        BOOST_TEST(second.sink->lines().size() == 1U);
        BOOST_TEST(first.sink->lines().size() == 1U);
    }
    BOOST_TEST(!log_enabled(log_level::error));
}

// A terminal nobody reads: the loops go on, the oldest lines are lost, and that is said.
BOOST_AUTO_TEST_CASE(a_stuck_writer_blocks_nobody) {
    auto sink = std::make_shared<kept_lines>();
    {
        const opened log;
        sink = log.sink;
        sink->hold();
        say(log_level::info, "held");
        sink->wait_until_holding();
        constexpr std::size_t more = 100;
        for (std::size_t i = 0; i < log_lines_waiting_max + more; ++i) say(log_level::info, "x", {{"number", i}});
        BOOST_TEST(log_lines_lost() == more);
        sink->release();
    }
    const auto lines = sink->lines();
    BOOST_TEST(lines.size() >= log_lines_waiting_max - 2);
    BOOST_TEST(lines.size() <= log_lines_waiting_max + 2);
    bool said = false;
    for (const std::string& one : lines) said = said || one.find("log lines were lost") != std::string::npos;
    BOOST_TEST(said);
    BOOST_TEST(lines.back().find("lost") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_failing_sink_harms_nobody) {
    const opened log;
    log.sink->fails = true;
    say(log_level::error, "x");
    flush_log();
    BOOST_TEST(log.sink->lines().empty());
}

BOOST_AUTO_TEST_CASE(many_threads) {
    const opened log;
    constexpr int threads = 4;
    constexpr int each = 200;
    std::latch together(threads);
    {
        std::vector<std::jthread> all;
        for (int t = 0; t < threads; ++t) {
            all.emplace_back([&together, t] {
                together.arrive_and_wait();
                for (int i = 0; i < each; ++i) say(log_level::info, "x", {{"thread", t}, {"number", i}});
            });
        }
    }
    std::vector<int> next(threads, 0);
    for (const std::string& one : log.sink->lines()) {
        const auto said = json::parse(one).as_object();
        BOOST_REQUIRE(said.at("number").as_int64() == next[static_cast<std::size_t>(said.at("thread").as_int64())]++);
    }
    for (const int count : next) BOOST_TEST(count == each);
}

BOOST_AUTO_TEST_SUITE_END()
