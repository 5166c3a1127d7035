// `hearonce serve` as a process: how it starts, what it says, and how signals end it.
#define BOOST_TEST_MODULE serve
#include <boost/test/unit_test.hpp>

#include <support/form_client.hpp>

#include <boost/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

using namespace hearonce::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

const fs::path data = HEARONCE_TEST_DATA;
const std::string transcriptions = "/v1/audio/transcriptions";

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    BOOST_REQUIRE_MESSAGE(file.good(), path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

// The program with its standard error read; killed at the end if it still runs.
class served {
public:
    explicit served(std::vector<std::string> options, std::uint16_t port = 0) {
        options.insert(options.begin(),
                       {HEARONCE_PROGRAM, "serve", "--listen", "127.0.0.1:" + std::to_string(port), "--set", "log.format=json"});
        std::vector<char*> arguments;
        for (auto& one : options) arguments.push_back(one.data());
        arguments.push_back(nullptr);
        int ends[2];
        BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        said_ = ends[0];
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
        BOOST_REQUIRE(::posix_spawn(&pid_, HEARONCE_PROGRAM, &actions, nullptr, arguments.data(), environ) == 0);
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
    }
    ~served() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        ::close(said_);
    }

    // Reads what it says until `text` is there; false when it ended or 30 s passed.
    bool wait_for(const std::string& text) {
        const auto until = std::chrono::steady_clock::now() + 30s;
        while (log_.find(text) == std::string::npos) {
            pollfd one{said_, POLLIN, 0};
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
            if (left.count() <= 0 || ::poll(&one, 1, static_cast<int>(left.count())) <= 0) return false;
            char piece[4096];
            const auto got = ::read(said_, piece, sizeof piece);
            if (got <= 0) return false;
            log_.append(piece, static_cast<std::size_t>(got));
        }
        return true;
    }
    std::uint16_t port() {
        const std::string words = "listening on http://127.0.0.1:";
        BOOST_REQUIRE_MESSAGE(wait_for(words), log_);
        const auto at = log_.find(words) + words.size();
        while (log_.find('"', at) == std::string::npos) BOOST_REQUIRE(wait_for("\n"));
        return static_cast<std::uint16_t>(std::stoul(log_.substr(at)));
    }
    void signal(int which) { BOOST_TEST(::kill(pid_, which) == 0); }
    int wait_exit() {
        while (wait_for("nothing says this")) {
        }
        int status = 0;
        BOOST_REQUIRE(::waitpid(pid_, &status, 0) == pid_);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    const std::string& log() const { return log_; }
    pid_t pid() const { return pid_; }

private:
    pid_t pid_ = -1;
    int said_ = -1;
    std::string log_;
};

std::vector<std::string> with_model() {
    return {"--set", "backends.local.kind=whisper",   "--set", "backends.local.model=" + (data / "ggml-micro.en.bin").string(),
            "--set", "backends.local.no_context=true"};
}

void wait_ready(std::uint16_t port) {
    for (int i = 0; i < 3000 && get(port, "/health/ready").status != 200; ++i) std::this_thread::sleep_for(10ms);
    BOOST_REQUIRE(get(port, "/health/ready").status == 200);
}

double metric(std::uint16_t port, const std::string& name) {
    const auto text = get(port, "/metrics").body;
    const auto at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

}  // namespace

BOOST_AUTO_TEST_CASE(sigterm_during_twenty_uploads_gives_twenty_answers_and_exit_0) {
    served gateway(with_model());
    const auto port = gateway.port();
    wait_ready(port);
    const auto audio = content_of(data / "wav" / "hello-world.wav");
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < 20; ++i) {
        clients.push_back(std::make_unique<raw_client>(port));
        const auto body = form_body("b1", {{"file", audio, "note.wav", "audio/wav"}});
        clients.back()->send(post_form(transcriptions, body, "b1", "X-Device-Id: phone-" + std::to_string(i) + "\r\n"));
    }
    // All of them have begun: some run, the others wait in the engine's queue.
    while (metric(port, "hearonce_work_total{outcome=\"led\"}") < 20) std::this_thread::sleep_for(2ms);
    gateway.signal(SIGTERM);
    for (auto& client : clients) {
        const auto answer = read_answer(*client);
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(answer.body.find("hello world") != std::string::npos);
    }
    BOOST_TEST(gateway.wait_exit() == 0);
    BOOST_TEST(gateway.log().find("draining") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(it_leaves_no_core_file_and_its_engine_works_all_the_same) {
    served gateway(with_model());
    const auto port = gateway.port();
    wait_ready(port);
    const auto limits = content_of("/proc/" + std::to_string(gateway.pid()) + "/limits");
    const auto line = limits.substr(limits.find("Max core file size"), 50);
#ifndef HEARONCE_SANITIZED
    BOOST_TEST(line.find(" 0 ") != std::string::npos, line);
#endif
    const auto answer = post(port, transcriptions, {{"file", content_of(data / "wav" / "hello-world.wav"), "a.wav", ""}});
    BOOST_TEST(answer.status == 200);
}

BOOST_AUTO_TEST_CASE(a_second_signal_ends_everything) {
    served gateway(with_model());
    const auto port = gateway.port();
    wait_ready(port);
    raw_client client(port);
    client.send(post_form(transcriptions, form_body("b1", {{"file", content_of(data / "wav" / "long-memo-45s.wav"), "a.wav", ""}}), "b1"));
    while (metric(port, "hearonce_work_in_flight") < 1) std::this_thread::sleep_for(2ms);
    gateway.signal(SIGTERM);
    BOOST_REQUIRE(gateway.wait_for("draining"));
    gateway.signal(SIGTERM);
    BOOST_TEST(gateway.wait_exit() == 0);
    BOOST_TEST(client.answer().status == 0);
}

BOOST_AUTO_TEST_CASE(without_a_model_it_starts_and_names_the_command_that_gets_one) {
    served gateway({"--set", "backends.local.kind=whisper"});
    const auto port = gateway.port();
    const auto ready = get(port, "/health/ready");
    BOOST_TEST(ready.status == 503);
    BOOST_TEST(ready.body.find("hearonce models pull") != std::string::npos);
    BOOST_TEST(get(port, "/health/live").status == 200);
    const auto answer = post(port, transcriptions, {{"file", content_of(data / "wav" / "hello-world.wav"), "a.wav", ""}});
    BOOST_TEST(answer.status == 502);
    BOOST_TEST(answer.body.find("hearonce models pull") != std::string::npos);
    gateway.signal(SIGINT);
    BOOST_TEST(gateway.wait_exit() == 0);
}

BOOST_AUTO_TEST_CASE(a_port_in_use_is_a_configuration_error) {
    served first(with_model());
    const auto port = first.port();
    served second(with_model(), port);
    BOOST_TEST(second.wait_exit() == 2);
    BOOST_TEST(second.log().find(std::to_string(port)) != std::string::npos, second.log());
}

BOOST_AUTO_TEST_CASE(every_line_of_a_request_carries_its_id_and_nothing_it_said) {
    served gateway(with_model());
    const auto port = gateway.port();
    wait_ready(port);
    const auto audio = content_of(data / "wav" / "hello-world.wav");
    const auto answer =
        post(port, transcriptions, {{"prompt", "whispered-words", {}, ""}, {"file", audio, "private-name.wav", "audio/wav"}},
             "X-Request-Id: r-42\r\nX-Device-Id: my-own-phone\r\nAuthorization: Bearer sk-secret\r\n");
    BOOST_TEST(answer.status == 200);
    gateway.signal(SIGTERM);
    BOOST_TEST(gateway.wait_exit() == 0);
    const auto& log = gateway.log();
    const auto at = log.find("\"request_id\":\"r-42\"");
    BOOST_REQUIRE(at != std::string::npos);
    const auto begin = log.rfind('\n', at) + 1;
    const auto line = boost::json::parse(log.substr(begin, log.find('\n', at) - begin)).as_object();
    BOOST_TEST(line.at("status").as_int64() == 200);
    BOOST_TEST(std::string_view(line.at("how").as_string()) == "led");
    BOOST_TEST(std::string_view(line.at("backend").as_string()) == "local");
    BOOST_TEST(line.at("received_bytes").as_int64() > static_cast<std::int64_t>(audio.size()));
    for (const auto* word : {"whispered-words", "private-name", "my-own-phone", "sk-secret", "hello"})
        BOOST_TEST(log.find(word) == std::string::npos, word);
}

BOOST_AUTO_TEST_CASE(in_mode_own_key_the_local_engine_works_for_nobody_unless_allowed) {
    const auto audio = content_of(data / "wav" / "hello-world.wav");
    for (const bool allowed : {false, true}) {
        auto options = with_model();
        options.insert(options.end(),
                       {"--set", "auth.mode=own-key", "--set", std::string("auth.own_key_local=") + (allowed ? "true" : "false")});
        served gateway(options);
        const auto port = gateway.port();
        if (allowed) wait_ready(port);
        const std::string key = "Authorization: Bearer sk-anything\r\n";
        const auto answer = post(port, transcriptions, {{"file", audio, "a.wav", ""}}, key);
        BOOST_TEST(answer.status == (allowed ? 200 : 404), answer.body);
        BOOST_TEST(post(port, transcriptions, {{"file", audio, "a.wav", ""}}).status == 401);
        gateway.signal(SIGTERM);
        BOOST_TEST(gateway.wait_exit() == 0);
        BOOST_TEST(gateway.log().find("sk-anything") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(sighup_takes_up_tokens_or_nothing_and_says_what_needs_a_restart) {
    const auto folder = fs::temp_directory_path() / ("hearonce-sighup-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const auto tokens = folder / "tokens";
    const auto config = folder / "config.toml";
    // The SHA-256 of "one" and of "two".
    const std::string one = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
    const std::string two = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3";
    std::ofstream(tokens) << "a:" << one << "\n";
    std::ofstream(config) << "[flight]\nttl = \"10m\"\n";
    auto options = with_model();
    options.insert(options.end(),
                   {"--config", config.string(), "--set", "auth.mode=tokens", "--set", "auth.tokens_file=" + tokens.string()});
    served gateway(options);
    const auto port = gateway.port();
    const auto status = [&](const std::string& token) { return get(port, "/v1/models", "Authorization: Bearer " + token + "\r\n").status; };
    BOOST_TEST(status("one") == 200);
    BOOST_TEST(status("two") == 401);

    std::ofstream(tokens) << "b:" << two << "\n";
    std::ofstream(config) << "[flight]\nttl = \"20m\"\n";
    gateway.signal(SIGHUP);
    BOOST_REQUIRE(gateway.wait_for("reloaded"));
    BOOST_TEST(gateway.log().find("flight.ttl") != std::string::npos);
    BOOST_TEST(status("one") == 401);
    BOOST_TEST(status("two") == 200);

    std::ofstream(tokens) << "this is no token\n";
    gateway.signal(SIGHUP);
    BOOST_REQUIRE(gateway.wait_for("not reloaded"));
    BOOST_TEST(status("two") == 200);
    gateway.signal(SIGTERM);
    BOOST_TEST(gateway.wait_exit() == 0);
    fs::remove_all(folder);
}

BOOST_AUTO_TEST_CASE(what_it_cannot_be_built_from_is_a_configuration_error) {
    const auto empty = fs::temp_directory_path() / ("hearonce-empty-" + std::to_string(::getpid()));
    std::ofstream(empty).flush();
    for (const auto* key : {"auth.secret_file", "server.tls_certificate"}) {
        auto options = with_model();
        options.insert(options.end(), {"--set", std::string(key) + "=" + empty.string(), "--set", "server.tls_key=" + empty.string()});
        if (key == std::string("auth.secret_file")) options.resize(options.size() - 2);
        served gateway(options);
        BOOST_TEST(gateway.wait_exit() == 2);
        BOOST_TEST(gateway.log().find(key) != std::string::npos, gateway.log());
    }
    fs::remove(empty);
}
