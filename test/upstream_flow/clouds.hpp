// A whole gateway with its real cloud backends in front of upstream doubles, and what a test wants to know of both.
//
// Holds: api, cloud(), quick_settings(), cloud_gateway, one_place(), captured_log, caller, plug, text_in(), code_in(). Next file: fault_row.hpp.
#pragma once

#include <app/make_backends.hpp>
#include <bench/upstream/double_server.hpp>
#include <bench/upstream/text_of.hpp>
#include <flow/running_gateway.hpp>
#include <http/sha256_stream.hpp>
#include <observe/log.hpp>

#include <spdlog/sinks/ostream_sink.h>
#include <boost/json.hpp>

#include <chrono>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace hearonce::test {

using upstream::double_server;
using namespace std::chrono_literals;

enum class api : std::uint8_t { openai, gemini };

inline const std::string operators_key = "sk-secret-operator-0123456789abcdef";

// One `[backends.NAME]` towards a double.
inline app::backend_settings cloud(std::string name, api kind, const std::string& root, const std::string& key = operators_key) {
    app::backend_settings made;
    made.name = std::move(name);
    made.kind = kind == api::openai ? app::backend_kind::openai : app::backend_kind::gemini;
    made.base_url = kind == api::openai ? root + "/v1" : root;
    made.credential = secret(key);
    return made;
}

inline app::settings quick_settings(std::vector<app::backend_settings> backends) {
    auto wanted = test_settings();
    wanted.backends = std::move(backends);
    wanted.default_backend.reset();
    wanted.retry.pauses = {1ms};
    wanted.deadline.per_audio_second = 0;
    return wanted;
}

// One backend of OpenAI's kind with one place, which callers that leave free at once: what a plug needs.
inline app::settings one_place(const double_server& server) {
    auto wanted = quick_settings({cloud("cloud", api::openai, server.url())});
    wanted.backends[0].max_in_flight = 1;
    wanted.flight.abandon_grace = 0ms;
    return wanted;
}

template <class Condition>
bool becomes(Condition condition, std::chrono::milliseconds limit = 20s) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

class cloud_gateway {
public:
    explicit cloud_gateway(app::settings wanted)
        : wanted_(std::move(wanted)),
          gateway_(wanted_, [this](boost::asio::any_io_executor home) { return app::make_backends(wanted_, std::move(home)); }) {
        const auto started = gateway_.start();
        BOOST_REQUIRE_MESSAGE(started.has_value(), std::string(started.error().message()));
        port = gateway_.listening().at(0).port();
    }
    // Every test ends with a gateway that drains to nothing.
    ~cloud_gateway() {
        gateway_.drain();
        gateway_.wait();
        BOOST_TEST(is_idle());
    }

    bool wait_for_waiters(std::size_t count) const {
        return becomes([&] { return gateway_.left().waiters == count; });
    }
    // No request, no work and no audio is left.
    bool wait_idle() const {
        return becomes([this] { return is_idle(); });
    }

    std::uint16_t port = 0;

private:
    bool is_idle() const {
        const auto left = gateway_.left();
        return left.connections == 0 && left.flights == 0 && left.waiters == 0 && left.audio_memory_bytes == 0;
    }

    app::settings wanted_;
    app::gateway gateway_;
};

// Everything the program logs, from trace on.
class captured_log {
public:
    captured_log() {
        observe::log_options options;
        options.level = observe::log_level::trace;
        options.format = observe::log_format::json;
        options.sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_);
        observe::open_log(options);
    }
    ~captured_log() { observe::close_log(); }
    captured_log(const captured_log&) = delete;
    captured_log& operator=(const captured_log&) = delete;

    // Ends it.
    std::string text() {
        observe::flush_log();
        observe::close_log();
        return lines_.str();
    }

private:
    std::ostringstream lines_;
};

// A caller that has sent its upload and has not read the answer.
class caller {
public:
    caller(std::uint16_t port, const std::string& audio, std::vector<form_part> fields, const std::string& headers = {})
        : client_(std::make_unique<raw_client>(port)) {
        client_->send(post_form(transcriptions, form_body("b1", upload(audio, std::move(fields))), "b1", headers));
    }
    raw_answer answer() { return read_answer(*client_); }
    void leave() { client_->close(); }
    raw_client& client() { return *client_; }

private:
    std::unique_ptr<raw_client> client_;
};

inline std::vector<caller> callers(std::size_t count, std::uint16_t port, const std::string& audio, const std::vector<form_part>& fields) {
    std::vector<caller> all;
    for (std::size_t i = 0; i < count; ++i) all.emplace_back(port, audio, fields);
    return all;
}

inline std::vector<form_part> model(const std::string& name, bool stream = false) {
    std::vector<form_part> fields{{"model", name, {}, ""}};
    if (stream) fields.push_back({"stream", "true", {}, ""});
    return fields;
}

// Takes a backend's only place (max_in_flight = 1) until it is pulled, so that whoever comes meanwhile meets in one flight
// however slow the machine is. The gateway must have no abandon_grace. Uses up the double's script.
class plug {
public:
    plug(double_server& server, const cloud_gateway& gateway, const std::string& model_name) {
        server.script({"hang"});
        held_ = std::make_unique<caller>(gateway.port, wav(4711, 3200), model(model_name), "X-Device-Id: plug\r\n");
        BOOST_REQUIRE(server.wait_until([](const upstream::counts& seen) { return seen.by_sha256.size() == 1; }));
    }
    void pull() { held_->leave(); }

private:
    std::unique_ptr<caller> held_;
};

inline sha256_digest sha256_of(std::string_view bytes) {
    http::sha256_stream hash;
    hash.update(std::as_bytes(std::span(bytes.data(), bytes.size())));
    return hash.finish();
}

// What the doubles hear in it.
inline std::string heard_in(const std::string& audio) {
    return upstream::text_of(sha256_of(audio));
}

inline boost::json::value json_of(std::string_view text) {
    boost::system::error_code failed;
    auto value = boost::json::parse(text, failed);
    BOOST_TEST_REQUIRE(!failed, "not JSON: " << text);
    return value;
}

inline std::string text_in(const raw_answer& answer) {
    BOOST_TEST(answer.status == 200, answer.body);
    return std::string(json_of(answer.body).at("text").as_string());
}

inline std::string code_in(std::string_view body) {
    return std::string(json_of(body).at("error").at("code").as_string());
}

// A stream's records, without their frame.
inline std::vector<std::string> records_of(const raw_answer& answer) {
    std::vector<std::string> records;
    for (std::size_t at = 0; at < answer.body.size();) {
        const auto end = answer.body.find("\n\n", at);
        BOOST_TEST_REQUIRE((end != std::string::npos && answer.body.compare(at, 6, "data: ") == 0), answer.body);
        records.push_back(answer.body.substr(at + 6, end - at - 6));
        at = end + 2;
    }
    return records;
}

// The joined deltas of a stream; `count`, where given, gets their number.
inline std::string deltas_of(const raw_answer& answer, std::size_t* count = nullptr) {
    std::string joined;
    for (const auto& one : records_of(answer)) {
        const auto record = json_of(one).as_object();
        if (!record.contains("delta")) continue;
        joined += std::string(record.at("delta").as_string());
        if (count != nullptr) ++*count;
    }
    return joined;
}

// Whether `secret_text` is in a header or the body.
inline bool tells(const raw_answer& answer, std::string_view secret_text) {
    for (const auto& [name, value] : answer.headers) {
        if (value.find(secret_text) != std::string::npos) return true;
    }
    return answer.body.find(secret_text) != std::string::npos;
}

// Calls that the gateway counts for a backend, whatever came of them.
inline double calls_counted(const std::string& metrics, const std::string& backend) {
    double sum = 0;
    const std::string name = "\nhearonce_upstream_calls_total{backend=\"" + backend + "\"";
    for (auto at = metrics.find(name); at != std::string::npos; at = metrics.find(name, at + 1))
        sum += std::stod(metrics.substr(metrics.find('}', at) + 2));
    return sum;
}

inline upstream::settings delayed(std::chrono::milliseconds delay) {
    upstream::settings how;
    how.delay = delay;
    return how;
}

}  // namespace hearonce::test
