// The whole gateway with the real engine: real recordings in every container come back with their words.
#define BOOST_TEST_MODULE engine
#include <boost/test/unit_test.hpp>

#include <app/make_backends.hpp>
#include <flow/running_gateway.hpp>
#include <support/words.hpp>

#include <boost/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

using namespace hearonce::test;
namespace fs = std::filesystem;

namespace {

const fs::path data = HEARONCE_TEST_DATA;
const std::string runs_ok = "hearonce_upstream_calls_total{backend=\"local\",status=\"ok\"}";

hearonce::app::settings engine_settings() {
    auto wanted = test_settings();
    hearonce::app::backend_settings local;
    local.name = "local";
    local.kind = hearonce::app::backend_kind::whisper;
    local.model_path = data / "ggml-micro.en.bin";
    local.no_context = true;
    wanted.backends = {local};
    wanted.default_backend = "local";
    return wanted;
}

// The gateway with its real engine, ready; drained and gone at the end.
class engine_gateway {
public:
    engine_gateway()
        : gateway_(engine_settings(),
                   [this](boost::asio::any_io_executor home) { return hearonce::app::make_backends(wanted_, std::move(home)); }) {
        BOOST_REQUIRE(gateway_.start().has_value());
        port = gateway_.listening().at(0).port();
        for (int i = 0; i < 2000 && get(port, "/health/ready").status != 200; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        BOOST_REQUIRE_MESSAGE(get(port, "/health/ready").status == 200, get(port, "/health/ready").body);
    }
    ~engine_gateway() {
        gateway_.drain();
        gateway_.wait();
        BOOST_TEST(gateway_.left().audio_memory_bytes == 0u);
        BOOST_TEST(gateway_.left().flights == 0u);
    }

    std::uint16_t port = 0;

private:
    hearonce::app::settings wanted_ = engine_settings();
    hearonce::app::gateway gateway_;
};

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    BOOST_REQUIRE_MESSAGE(file.good(), path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

// A folder of its own, gone at the end.
struct temporary_folder {
    temporary_folder() { fs::create_directories(path); }
    ~temporary_folder() { fs::remove_all(path); }
    fs::path path = fs::temp_directory_path() / ("hearonce-engine-" + std::to_string(::getpid()));
};

struct encoding {
    std::string name;
    std::string options;  // Of ffmpeg; empty: the WAV as it is.
};

const std::vector<encoding> encodings = {
    {"wav", ""},
    {"mp3", "-c:a libmp3lame -b:a 64k"},
    {"m4a", "-c:a aac -b:a 64k"},
    {"ogg", "-c:a libopus -b:a 32k"},
    {"webm", "-c:a libopus -b:a 32k"},
    {"flac", "-c:a flac"},
};

std::string encoded(const fs::path& wav_file, const encoding& how, const fs::path& folder) {
    if (how.options.empty()) return content_of(wav_file);
    const auto out = folder / ("out." + how.name);
    const auto command = "ffmpeg -v error -nostdin -y -i '" + wav_file.string() + "' " + how.options + " '" + out.string() + "'";
    BOOST_REQUIRE_MESSAGE(std::system(command.c_str()) == 0, command);
    return content_of(out);
}

std::string text_of(const raw_answer& answer) {
    BOOST_TEST(answer.status == 200, answer.body);
    return std::string(boost::json::parse(answer.body).at("text").as_string());
}

}  // namespace

BOOST_AUTO_TEST_CASE(recordings_in_every_container_come_back_with_their_words) {
    engine_gateway gateway;
    const temporary_folder folder;
    const auto truth = boost::json::parse(content_of(data / "wav" / "truth.json")).as_object();
    BOOST_TEST(truth.size() >= 14u);
    word_errors all;
    for (const auto& how : encodings) {
        word_errors of_encoding;
        for (const auto& [name, words] : truth) {
            const auto audio = encoded(data / "wav" / std::string(name), how, folder.path);
            const auto heard = text_of(post(gateway.port, transcriptions, {{"file", audio, "note", "application/octet-stream"}}));
            of_encoding.add(std::string(words.as_string()), heard);
        }
        BOOST_TEST_MESSAGE(how.name << ": " << of_encoding.wrong << " of " << of_encoding.said << " words wrong");
        BOOST_TEST(of_encoding.rate() <= 0.15, how.name);
        all += of_encoding;
    }
    BOOST_TEST(all.said > 600u);
    BOOST_TEST(all.rate() <= 0.15);
}

BOOST_AUTO_TEST_CASE(fifty_equal_uploads_are_one_run_of_the_engine) {
    engine_gateway gateway;
    const auto audio = content_of(data / "wav" / "long-memo-45s.wav");
    const auto answers = at_once(50, [&](std::size_t) {
        return post(gateway.port, transcriptions, {{"file", audio, "note.wav", "audio/wav"}}, "X-Device-Id: phone\r\n");
    });
    std::size_t led = 0;
    std::size_t collapsed = 0;
    for (const auto& answer : answers) {
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(answer.body == answers[0].body);
        led += answer.header("cache-status") == "hearonce; fwd=miss; stored; ttl=600";
        collapsed += answer.header("cache-status") == "hearonce; fwd=miss; collapsed";
    }
    BOOST_TEST(led == 1u);
    BOOST_TEST(collapsed == 49u);
    const auto later = post(gateway.port, transcriptions, {{"file", audio, "note.wav", "audio/wav"}}, "X-Device-Id: phone\r\n");
    BOOST_TEST(later.body == answers[0].body);
    BOOST_TEST(later.header("cache-status").starts_with("hearonce; hit; ttl="));
    BOOST_TEST(metric(gateway.port, runs_ok) == 1);
}

// Longer than the engine's window, so that the text comes in more than one piece.
BOOST_AUTO_TEST_CASE(a_long_recording_is_told_as_it_is_heard) {
    engine_gateway gateway;
    const auto audio = content_of(data / "wav" / "long-memo-45s.wav");
    std::vector<form_part> fields{{"file", audio, "note.wav", "audio/wav"}};
    const auto plain = text_of(post(gateway.port, transcriptions, fields, "X-Device-Id: other\r\n"));
    fields.push_back({"stream", "true"});
    const auto answer = post(gateway.port, transcriptions, fields);
    BOOST_TEST(answer.status == 200);
    std::string joined;
    std::size_t pieces = 0;
    std::string last;
    for (std::size_t at = 0; at < answer.body.size();) {
        const auto end = answer.body.find("\n\n", at);
        BOOST_REQUIRE(end != std::string::npos);
        const auto record = boost::json::parse(answer.body.substr(at + 6, end - at - 6)).as_object();
        at = end + 2;
        last = record.at("type").as_string();
        if (last == "transcript.text.done") BOOST_TEST(record.at("text").as_string() == joined);
        if (last != "transcript.text.delta") continue;
        joined += record.at("delta").as_string();
        ++pieces;
    }
    BOOST_TEST(last == "transcript.text.done");
    BOOST_TEST(pieces > 1u);
    BOOST_TEST(joined == plain);
}

BOOST_AUTO_TEST_CASE(fifty_devices_are_fifty_runs_of_the_engine) {
    engine_gateway gateway;
    const auto audio = content_of(data / "wav" / "hello-world.wav");
    const auto answers = at_once(50, [&](std::size_t i) {
        return post(gateway.port, transcriptions, {{"file", audio, "note.wav", "audio/wav"}},
                    "X-Device-Id: phone-" + std::to_string(i) + "\r\n");
    });
    for (const auto& answer : answers) {
        BOOST_TEST(text_of(answer) == "hello world");
        BOOST_TEST(answer.header("cache-status") == "hearonce; fwd=miss; stored; ttl=600");
    }
    BOOST_TEST(metric(gateway.port, runs_ok) == 50);
}

BOOST_AUTO_TEST_CASE(what_is_no_recording_is_said_to_be_none) {
    engine_gateway gateway;
    const auto ask = [&](const std::string& audio) {
        return post(gateway.port, transcriptions, {{"file", audio, "note.wav", "audio/wav"}});
    };
    const auto code = [&](const std::string& audio) {
        const auto answer = ask(audio);
        BOOST_TEST(answer.status == 400);
        return std::string(boost::json::parse(answer.body).at("error").at("code").as_string());
    };
    BOOST_TEST(code("this is no audio at all, however long it may be") == "unsupported_audio");
    BOOST_TEST(code("PK\x03\x04" + std::string(4000, 'z')) == "unsupported_audio");
    BOOST_TEST(code(wav(1, 1600)) == "audio_too_short");
    const auto whole = content_of(data / "wav" / "hello-world.wav");
    auto giant = whole;
    for (const std::size_t at : {4u, 5u, 6u, 7u}) giant[at] = '\xff';
    const auto answer = ask(giant);
    BOOST_TEST((answer.status == 200 || answer.status == 400));
    BOOST_TEST(text_of(ask(content_of(data / "wav" / "silence-3s.wav"))) == "");
    BOOST_TEST(text_of(ask(whole)) == "hello world");
}
