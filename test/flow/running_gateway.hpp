// A whole gateway on a free port with a scripted backend: what the flow tests talk to.
#pragma once

#include <app/gateway.hpp>

#include <boost/test/unit_test.hpp>

#include <support/form_client.hpp>
#include <support/scripted_backend.hpp>

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hearonce::test {

inline app::settings test_settings() {
    app::settings wanted;
    wanted.server.listen = {{boost::asio::ip::address_v4::loopback(), 0}};
    wanted.server.threads = 2;
    wanted.server.drain = std::chrono::seconds(20);
    wanted.default_backend = "scripted";
    return wanted;
}

class running_gateway {
public:
    // `others`: backends beside the one named "scripted", which test_settings() makes the default.
    explicit running_gateway(app::settings wanted = test_settings(), std::vector<std::shared_ptr<scripted_backend>> others = {})
        : backend(std::make_shared<scripted_backend>()),
          others_(std::move(others)),
          gateway_(std::move(wanted), [this](boost::asio::any_io_executor) {
              std::vector<std::shared_ptr<hearonce::backend>> all{backend};
              all.insert(all.end(), others_.begin(), others_.end());
              return all;
          }) {
        const auto started = gateway_.start();
        BOOST_REQUIRE_MESSAGE(started.has_value(), std::string(started.error().message()));
        port = gateway_.listening().at(0).port();
    }
    // Every test ends with a gateway that drains to nothing.
    ~running_gateway() {
        backend->open_gate();
        for (const auto& one : others_) one->open_gate();
        gateway_.drain();
        gateway_.wait();
        const auto left = gateway_.left();
        BOOST_TEST(left.connections == 0u);
        BOOST_TEST(left.flights == 0u);
        BOOST_TEST(left.waiters == 0u);
        BOOST_TEST(left.audio_memory_bytes == 0u);
    }

    app::gateway& gateway() { return gateway_; }

    std::shared_ptr<scripted_backend> backend;
    std::uint16_t port = 0;

private:
    std::vector<std::shared_ptr<scripted_backend>> others_;
    app::gateway gateway_;
};

// A WAV of silence-like bytes, told apart by `seed`: 16 kHz mono s16, `bytes` of data.
inline std::string wav(unsigned seed = 1, std::size_t bytes = 32000) {
    const auto le = [](std::uint32_t value, int size) {
        std::string text;
        for (int i = 0; i < size; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
        return text;
    };
    const auto size = static_cast<std::uint32_t>(bytes);
    std::string data(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>((i * 31 + seed * 7919 + (i >> 8) * seed) & 0x3f);
    return "RIFF" + le(36 + size, 4) + "WAVEfmt " + le(16, 4) + le(1, 2) + le(1, 2) + le(16000, 4) + le(32000, 4) + le(2, 2) + le(16, 2) +
           "data" + le(size, 4) + data;
}

inline std::string sha256_hex(const std::string& bytes) {
    sha256_digest digest{};
    BOOST_REQUIRE(
        ::EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr, ::EVP_sha256(), nullptr) == 1);
    return hex_of(digest);
}

inline std::vector<form_part> upload(const std::string& audio, std::vector<form_part> fields = {}) {
    fields.push_back({"file", audio, "note.wav", "audio/wav"});
    return fields;
}

inline const std::string transcriptions = "/v1/audio/transcriptions";

// The number behind a metric's name and labels in the text of /metrics; -1 when it is not there.
inline double metric(std::uint16_t port, const std::string& name) {
    const auto text = get(port, "/metrics").body;
    const auto at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

inline void wait_for_metric(std::uint16_t port, const std::string& name, double value) {
    for (int i = 0; i < 4000; ++i) {
        if (metric(port, name) == value) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    BOOST_FAIL(name + " did not become " + std::to_string(value));
}

inline void wait_for_waiters(std::uint16_t port, double count) {
    wait_for_metric(port, "hearonce_waiters", count);
}

// Runs `count` calls at once, one thread each, and gives their answers in order. A call that throws fails the test.
template <class Call>
std::vector<raw_answer> at_once(std::size_t count, Call call) {
    std::vector<raw_answer> answers(count);
    std::vector<std::string> failures(count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            try {
                answers[i] = call(i);
            } catch (const std::exception& why) {
                failures[i] = why.what();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& failure : failures) BOOST_TEST(failure == "");
    return answers;
}

}  // namespace hearonce::test
