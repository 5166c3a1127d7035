// One piece of work by the whole backend, for tests that say what the peer does.
#pragma once

#include <backends/gemini/gemini_backend.hpp>
#include <net/one_call.hpp>
#include <test/support/scripted_server.hpp>
#include <test/unit/openai/recordings.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <mutex>
#include <thread>

namespace hearonce::gemini::test {

namespace asio = boost::asio;
using namespace hearonce::test;

inline const std::string operators_key = "AIza-operator-0123456789abcdef";
inline const std::string callers_key = "AIza-caller-fedcba9876543210";

inline std::string text_answer(const std::string& text, const std::string& reason = "STOP") {
    return R"({"candidates":[{"content":{"role":"model","parts":[{"text":")" + text + R"("}]},"finishReason":")" + reason +
           R"(","index":0}],"usageMetadata":{"promptTokenCount":110,"candidatesTokenCount":4,"totalTokenCount":114,)" +
           R"("promptTokensDetails":[{"modality":"AUDIO","tokenCount":96},{"modality":"TEXT","tokenCount":14}]}})";
}

inline scripted_reply json_of(int status, const std::string& body) {
    return answering(http_text(status, "application/json; charset=UTF-8", body));
}

inline std::string events_head() {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
}

struct bed {
    explicit bed(std::string base_url) {
        settings.base_url = std::move(base_url);
        settings.credential = secret(operators_key);
        settings.log = [this](const std::string& line) {
            const std::lock_guard lock(mutex);
            lines.push_back(line);
        };
        request.model = "gemini-3.8-flash";
    }

    // To its end; the loop must be empty then, and nothing may hold the recording.
    result<transcript> run(asio::cancellation_signal* cancel = nullptr, const std::function<void(asio::io_context&)>& meanwhile = {}) {
        asio::io_context loop(1);
        std::optional<result<transcript>> heard;
        asio::cancellation_signal unused;
        {
            // Work outlives the backend.
            const auto backend = create_gemini_backend(settings);
            auto work = backend->transcribe(audio, request, terms);
            asio::co_spawn(loop, deadline_detail::optional_of(std::move(work)),
                           asio::bind_cancellation_slot((cancel ? *cancel : unused).slot(), [&](std::exception_ptr thrown, auto value) {
                               if (thrown) std::rethrow_exception(thrown);
                               heard = std::move(value);
                               net::close_idle_connections(loop);
                           }));
        }
        std::thread other([&] {
            if (meanwhile) meanwhile(loop);
        });
        loop.run_for(std::chrono::seconds(30));
        other.join();
        BOOST_TEST_REQUIRE(heard.has_value(), "the work did not end");
        BOOST_TEST(loop.stopped(), "the work left something behind");
        BOOST_TEST(audio.use_count() == 1, "the work left its recording behind");
        check_silence(*heard);
        return std::move(*heard);
    }

    // No key in anything that is told or logged.
    void check_silence(const result<transcript>& heard) {
        std::string all = heard ? heard->text : std::string(heard.error().message()) + std::string(heard.error().param());
        for (const auto& line : lines) all += line;
        BOOST_TEST(all.find(operators_key.substr(5, 8)) == std::string::npos, all);
        BOOST_TEST(all.find(callers_key.substr(5, 8)) == std::string::npos, all);
    }

    std::string told() {
        std::string all;
        if (!terms.deltas) return all;
        delta_reader reader(terms.deltas);
        for (const auto* piece : reader.take()) all += piece->text;
        return all;
    }

    gemini_settings settings;
    transcription_request request;
    attempt terms{deadline::after(std::chrono::seconds(20))};
    std::shared_ptr<recording> audio = recording_of("RIFF some sound");
    std::mutex mutex;
    std::vector<std::string> lines;
};

inline std::string header_of(const std::string& request, const std::string& name) {
    const auto at = request.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return request.substr(begin, request.find("\r\n", begin) - begin);
}

inline std::string body_of(const std::string& request) {
    const auto at = request.find("\r\n\r\n");
    return at == std::string::npos ? std::string() : request.substr(at + 4);
}

inline error why(const result<transcript>& heard) {
    BOOST_TEST_REQUIRE(!heard.has_value());
    return heard.error();
}

inline transcript good(const result<transcript>& heard) {
    BOOST_TEST_REQUIRE(heard.has_value(), heard.error().message());
    return *heard;
}

// One call against one reply.
inline result<transcript> against(scripted_reply reply, const std::function<void(bed&)>& change = {}) {
    scripted_server peer({std::move(reply)});
    bed work(peer.url());
    if (change) change(work);
    return work.run();
}

}  // namespace hearonce::gemini::test
