// The program hearonce-bench upstream: its first line, its flags, its help and its end.
#define BOOST_TEST_MODULE upstream_program
#include <boost/test/unit_test.hpp>

#include "upstream_bed.hpp"

#include <test/support/program.hpp>

#include <fstream>

using namespace hearonce;
using namespace hearonce::test;

namespace {

const std::string bytes = some_bytes();

// One that serves; its stdout is looked at while it runs.
class running {
public:
    explicit running(std::vector<std::string> flags = {})
        : program_(HEARONCE_BENCH_PROGRAM, with(std::move(flags)), sanitizers(), (place_.folder() / "said").string()) {
        const std::string mark = "listening on ";
        for (int tries = 0; tries < 3000 && said().find('\n') == std::string::npos; ++tries) ::poll(nullptr, 0, 10);
        BOOST_TEST_REQUIRE(said().starts_with(mark), said());
        url = said().substr(mark.size(), said().find('\n') - mark.size());
        port = static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
    }
    ended_program end(int with_signal = SIGTERM) {
        program_.signal(with_signal);
        return program_.wait();
    }
    std::string said() const { return scratch::read((place_.folder() / "said").string()); }

    static std::map<std::string, std::string> sanitizers() {
        std::map<std::string, std::string> all;
        for (const char* name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
            if (const char* value = std::getenv(name)) all[name] = value;
        }
        return all;
    }

    std::string url;
    std::uint16_t port = 0;

private:
    static std::vector<std::string> with(std::vector<std::string> flags) {
        std::vector<std::string> all = {"upstream", "--listen", "127.0.0.1:0"};
        all.insert(all.end(), flags.begin(), flags.end());
        return all;
    }
    scratch place_;
    program program_;
};

ended_program run(std::vector<std::string> arguments) {
    return program(HEARONCE_BENCH_PROGRAM, std::move(arguments), running::sanitizers()).wait();
}

}  // namespace

BOOST_AUTO_TEST_CASE(says_where_it_listens_and_ends_when_told) {
    for (const int with : {SIGTERM, SIGINT}) {
        running one;
        BOOST_TEST(one.url == "http://127.0.0.1:" + std::to_string(one.port));
        BOOST_TEST(text_in(post(one.port, transcriptions, upload(bytes))) == text_of(bytes));
        raw_client hanging(one.port);
        hanging.send(post_form(transcriptions, form_body("b", upload(bytes)), "b", "X-Fault: hang\r\n"));
        const auto ended = one.end(with);
        BOOST_TEST(ended.code == 0);
        BOOST_TEST(ended.err.empty(), ended.err);
    }
}

BOOST_AUTO_TEST_CASE(takes_its_flags) {
    running one({"--threads", "2", "--fault", "status=503, retry_after=2", "--key", "sk", "--any-model", "--delay", "1ms",
                 "--delay-exponential", "1ms", "--seed", "3", "--last", "1", "--fault-others", "status=504"});
    BOOST_TEST(get(one.port, "/v1/models").status == 504);
    const auto answer = post(one.port, transcriptions, upload(bytes));
    BOOST_TEST(answer.status == 503);
    BOOST_TEST(answer.header("retry-after") == "2");
    const auto key = "Authorization: Bearer sk\r\nX-Fault: none\r\n";
    BOOST_TEST(post(one.port, transcriptions, upload(bytes, {}, "mine"), key).status == 200);
    BOOST_TEST(post(one.port, transcriptions, upload(bytes), "X-Fault: none\r\n").status == 401);
    const auto stats = json_of(get(one.port, "/_stats"));
    BOOST_TEST(stats.at("last").as_array().size() == 1u);
    BOOST_TEST(stats.at("calls").as_int64() == 3);
    BOOST_TEST(one.end().code == 0);
}

BOOST_AUTO_TEST_CASE(writes_its_authority) {
    const scratch place;
    const auto file = (place.folder() / "ca.pem").string();
    running one({"--tls", "good", "--ca-out", file});
    BOOST_TEST(one.url.starts_with("https://127.0.0.1:"));
    BOOST_TEST(scratch::read(file).starts_with("-----BEGIN CERTIFICATE-----"));
    BOOST_TEST(one.end().code == 0);
    const auto nowhere =
        run({"upstream", "--listen", "127.0.0.1:0", "--tls", "good", "--ca-out", (place.folder() / "no" / "ca.pem").string()});
    BOOST_TEST(nowhere.code == 1);
    BOOST_TEST(nowhere.err.find("cannot write") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(explains_itself) {
    const auto all = run({"--help"});
    BOOST_TEST(all.code == 0);
    BOOST_TEST(all.out.find("upstream") != std::string::npos);
    const auto one = run({"upstream", "--help"});
    BOOST_TEST(one.code == 0);
    for (const char* word : {"--listen", "--tls", "--fault", "X-Fault", "cut_sse", "/_stats", "/_reset", "/_faults", "--delay-exponential",
                             "--fault-others", "\"others\""})
        BOOST_TEST(one.out.find(word) != std::string::npos, word);
    BOOST_TEST(run({"--version"}).out.starts_with("hearonce-bench "));
}

BOOST_AUTO_TEST_CASE(says_what_is_wrong) {
    const std::vector<std::pair<std::vector<std::string>, int>> wrong = {{{}, 2},
                                                                         {{"downstream"}, 2},
                                                                         {{"upstream", "--what"}, 2},
                                                                         {{"upstream", "--tls", "some"}, 2},
                                                                         {{"upstream", "--threads", "0"}, 2},
                                                                         {{"upstream", "--listen", "here"}, 1},
                                                                         {{"upstream", "--listen", "127.0.0.1:70000"}, 1},
                                                                         {{"upstream", "--listen", "192.0.2.1:0"}, 1},
                                                                         {{"upstream", "--delay", "long"}, 1},
                                                                         {{"upstream", "--fault", "what"}, 1}};
    for (const auto& [arguments, code] : wrong) {
        const auto ended = run(arguments);
        BOOST_TEST(ended.code == code, (arguments.empty() ? "" : arguments.back()));
        BOOST_TEST(ended.err.starts_with("hearonce-bench: "), ended.err);
        BOOST_TEST(ended.out.empty());
    }
}
