// `hearonce models pull` as a user runs it, against servers that cut, stall and lie.
#define BOOST_TEST_MODULE models_pull
#include <boost/test/unit_test.hpp>

#include <app/model_file.hpp>
#include <cli/transfer_line.hpp>

#include <test/support/program.hpp>
#include <test/support/scripted_server.hpp>

#include <csignal>

using namespace hearonce::test;
namespace fs = std::filesystem;
using end = scripted_reply::end;

namespace {

// Looks like a model to everything but the engine.
const std::string model = "lmgg" + std::string(300'000, 'm');

struct fixture {
    scratch place;
    fs::path folder = place.folder() / "models";
    std::map<std::string, std::string> variables{{"HOME", (place.folder() / "home").string()}};

    std::vector<std::string> arguments(const scripted_server& server, const std::string& name, std::vector<std::string> more) const {
        std::vector<std::string> all{"models", "pull", name, "--from", server.url(), "--to", folder.string(), "--pauses", "1ms,2ms"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    ended_program pull(const scripted_server& server, const std::string& name = "tiny-q5_1", std::vector<std::string> more = {}) const {
        return program(HEARONCE_PROGRAM, arguments(server, name, std::move(more)), variables).wait();
    }
    fs::path file(const std::string& name = "tiny-q5_1") const { return folder / ("ggml-" + name + ".bin"); }
    fs::path part(const std::string& name = "tiny-q5_1") const { return folder / ("ggml-" + name + ".bin.part"); }
    std::string sha256(const std::string& bytes) const {
        return hearonce::app::file_digest(place.write("hashed", bytes), "SHA256", [](std::uint64_t) { return true; });
    }
    // Nothing but the model.
    void check_done(const ended_program& told) const {
        BOOST_TEST(told.code == 0, told.err);
        BOOST_TEST(told.out == file().string() + "\n");
        BOOST_TEST((scratch::read(file()) == model));
        BOOST_TEST(!fs::exists(part()));
        BOOST_TEST(!fs::exists(part().string() + ".etag"));
    }
};

bool has(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
}

std::string head(int status, std::size_t length, const std::string& more = {}) {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(length) + "\r\n" + more + "\r\n";
}

std::string rest_from(std::size_t first, const std::string& etag = "\"v1\"") {
    return head(206, model.size() - first,
                "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(model.size() - 1) + "/" +
                    std::to_string(model.size()) + "\r\nETag: " + etag + "\r\n") +
           model.substr(first);
}

std::string whole(const std::string& more = "ETag: \"v1\"\r\n") {
    return head(200, model.size(), more) + model;
}

// Says that the whole file comes, and cuts it.
scripted_reply cut_at(std::size_t bytes, end how = end::close) {
    auto reply = answering(head(200, model.size(), "ETag: \"v1\"\r\n") + model.substr(0, bytes));
    reply.then = how;
    return reply;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(done, fixture)

BOOST_AUTO_TEST_CASE(a_model_is_fetched_checked_and_found) {
    scripted_server server(
        {answering(head(302, 5, "Location: /cdn\r\nX-Linked-Etag: \"" + sha256(model) + "\"\r\n") + "Found"), answering(whole())});
    const auto told = pull(server);
    check_done(told);
    BOOST_TEST(told.err == "");
    BOOST_TEST(server.request(0).starts_with("GET /ggml-tiny-q5_1.bin HTTP/1.1\r\n"));
    BOOST_TEST(server.request(1).starts_with("GET /cdn HTTP/1.1\r\n"));
    BOOST_TEST(!has(server.request(1), "Range"));
}

BOOST_AUTO_TEST_CASE(a_model_of_ones_own_is_not_checked_and_that_is_said) {
    scripted_server server({answering(whole())});
    const auto told =
        program(HEARONCE_PROGRAM, {"models", "pull", "mine", "--from", server.url("/some.bin"), "--to", folder.string()}, variables).wait();
    BOOST_TEST(told.code == 0, told.err);
    BOOST_TEST(has(told.err, "it was not checked"));
    BOOST_TEST((scratch::read(file("mine")) == model));
}

BOOST_AUTO_TEST_CASE(the_usual_folder_is_where_serve_looks) {
    scripted_server server({answering(whole())});
    BOOST_TEST(program(HEARONCE_PROGRAM, {"models", "pull", "tiny-q5_1", "--from", server.url()}, variables).wait().code == 0);
    const auto told = program(HEARONCE_PROGRAM, {"models", "list"}, variables).wait();
    BOOST_TEST(has(told.out, (place.folder() / "home/.local/share/hearonce/models/ggml-tiny-q5_1.bin").string()));
    const auto json = program(HEARONCE_PROGRAM, {"models", "list", "--json"}, variables).wait();
    BOOST_TEST(json.out.starts_with("{\"installed\":[{\"name\":\"tiny-q5_1\",\"size_bytes\":" + std::to_string(model.size())));
    const auto removed = program(HEARONCE_PROGRAM, {"models", "remove", "tiny-q5_1"}, variables).wait();
    BOOST_TEST(removed.code == 0);
    BOOST_TEST(removed.out == "tiny-q5_1: removed, 1 MiB freed\n");
    BOOST_TEST(program(HEARONCE_PROGRAM, {"models", "remove", "tiny-q5_1"}, variables).wait().code == 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(cut, fixture)

BOOST_AUTO_TEST_CASE(a_download_goes_on_where_it_was_cut) {
    for (const auto how : {end::close, end::reset}) {
        for (const std::size_t at : {std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{150'000}, model.size() - 1}) {
            auto first = cut_at(at, how);
            // A reset would swallow what is still on its way.
            first.after = [this, at] {
                while (!fs::exists(part()) || fs::file_size(part()) < at) std::this_thread::sleep_for(std::chrono::milliseconds(2));
            };
            scripted_server server({first, answering(rest_from(at))});
            const auto told = pull(server);
            check_done(told);
            BOOST_TEST(has(server.request(1), "Range: bytes=" + std::to_string(at) + "-\r\n"));
            BOOST_TEST(has(server.request(1), "If-Range: \"v1\"\r\n"));
            fs::remove(file());
        }
    }
}

BOOST_AUTO_TEST_CASE(another_process_goes_on_as_well) {
    scripted_server first({cut_at(1000), cut_at(0), cut_at(0)});
    const auto broken = pull(first, "tiny-q5_1", {"--attempts", "2"});
    BOOST_TEST(broken.code == 3);
    BOOST_TEST(has(broken.err, "the next pull goes on where this one ended"));
    BOOST_TEST(!fs::exists(file()));
    BOOST_TEST(fs::file_size(part()) <= 1000u);
    const auto there = fs::file_size(part());
    scripted_server second({answering(rest_from(there))});
    check_done(pull(second));
}

BOOST_AUTO_TEST_CASE(a_server_without_ranges_sends_it_all_again) {
    scripted_server server({cut_at(1000), answering(whole())});
    check_done(pull(server));
}

BOOST_AUTO_TEST_CASE(a_file_that_changed_is_fetched_anew) {
    place.write("models/ggml-tiny-q5_1.bin.part", "lmggold");
    place.write("models/ggml-tiny-q5_1.bin.part.etag", "\"v0\"\n");
    scripted_server server({answering(rest_from(7)), answering(whole())});
    check_done(pull(server));
    BOOST_TEST(!has(server.request(1), "Range"));
}

BOOST_AUTO_TEST_CASE(all_of_it_was_here_already) {
    place.write("models/ggml-tiny-q5_1.bin.part", model);
    place.write("models/ggml-tiny-q5_1.bin.part.etag", "\"v1\"\n");
    scripted_server server({answering(head(416, 0, "Content-Range: bytes */" + std::to_string(model.size()) + "\r\n"))});
    check_done(pull(server));
}

BOOST_AUTO_TEST_CASE(one_that_stalls_is_given_up_and_asked_again) {
    auto stalling = cut_at(5000, end::hold);
    scripted_server server({stalling, answering(rest_from(5000))});
    check_done(pull(server, "tiny-q5_1", {"--stall-timeout", "200ms"}));
}

BOOST_AUTO_TEST_CASE(trouble_passes_or_does_not) {
    scripted_server server({answering(head(503, 0)), answering(head(429, 0)), answering(whole())});
    check_done(pull(server));
    scripted_server hopeless({answering(head(500, 0)), answering(head(500, 0)), answering(head(500, 0))});
    const auto told = pull(hopeless, "base-q5_1", {"--attempts", "3"});
    BOOST_TEST(told.code == 3);
    BOOST_TEST(has(told.err, "the server answers 500; given up\n"));
    BOOST_TEST(hopeless.requests() == 3u);
    BOOST_TEST(!fs::exists(part("base-q5_1")));
}

BOOST_AUTO_TEST_CASE(killed_in_the_middle_it_goes_on_later) {
    {
        scripted_server server({cut_at(100'000, end::hold)});
        program running(HEARONCE_PROGRAM, arguments(server, "tiny-q5_1", {}), variables);
        while (!fs::exists(part()) || fs::file_size(part()) < 100'000) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        running.signal(SIGKILL);
        BOOST_TEST(running.wait().code == 128 + SIGKILL);
    }
    scripted_server server({answering(rest_from(100'000))});
    check_done(pull(server));
}

BOOST_AUTO_TEST_CASE(cancelled_it_says_so_and_keeps_what_is_here) {
    scripted_server server({cut_at(100'000, end::hold)});
    program running(HEARONCE_PROGRAM, arguments(server, "tiny-q5_1", {}), variables);
    while (!fs::exists(part()) || fs::file_size(part()) < 100'000) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    running.signal(SIGINT);
    const auto told = running.wait();
    BOOST_TEST(told.code == 130);
    BOOST_TEST(has(told.err, "cancelled; the next pull goes on where this one ended"));
    BOOST_TEST(fs::file_size(part()) == 100'000u);
}

BOOST_AUTO_TEST_CASE(cancelled_during_a_pause_it_ends_at_once) {
    scripted_server server({answering(head(503, 0))});
    auto all = arguments(server, "tiny-q5_1", {});
    all.back() = "60s";
    program running(HEARONCE_PROGRAM, all, variables);
    server.request(0);
    server.ended(0);
    running.signal(SIGINT);
    BOOST_TEST(running.wait(10).code == 130);
}

BOOST_AUTO_TEST_CASE(two_at_once_do_not_meet) {
    scripted_server server({cut_at(100'000, end::hold)});
    program running(HEARONCE_PROGRAM, arguments(server, "tiny-q5_1", {}), variables);
    while (!fs::exists(part()) || fs::file_size(part()) < 100'000) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto told = pull(server);
    BOOST_TEST(told.code == 2);
    BOOST_TEST(has(told.err, "another process is fetching this model"));
    BOOST_TEST(fs::file_size(part()) == 100'000u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(lied, fixture)

BOOST_AUTO_TEST_CASE(a_wrong_hash_is_deleted) {
    scripted_server server({answering(whole("ETag: \"" + std::string(64, 'a') + "\"\r\n"))});
    const auto told = pull(server);
    BOOST_TEST(told.code == 1);
    BOOST_TEST(has(told.err, "the hash of what came is wrong"));
    BOOST_TEST(!fs::exists(file()));
    BOOST_TEST(!fs::exists(part()));
    // A published one is compared whatever the server says of its file.
    scripted_server other({answering(whole("ETag: \"" + sha256(model) + "\"\r\n"))});
    const auto known = pull(other, "tiny.en");
    BOOST_TEST(known.code == 1);
    BOOST_TEST(has(known.err, "instead of c78c86eb1a8faa21b369bcd33207cc90d64ae9df"));
}

BOOST_AUTO_TEST_CASE(what_is_no_model_is_not_kept) {
    const std::string page = "<!doctype html><p>Sign in</p>";
    for (const auto& body : {page, std::string("lmg"), std::string("lm<g"), std::string()}) {
        scripted_server server({answering(head(200, body.size(), "ETag: \"v1\"\r\n") + body)});
        const auto told = pull(server);
        BOOST_TEST(told.code == 1, told.err);
        BOOST_TEST(has(told.err, "is no ggml model"), told.err);
        BOOST_TEST(!fs::exists(file()));
    }
}

BOOST_AUTO_TEST_CASE(more_than_was_announced_is_refused) {
    place.write("models/ggml-tiny-q5_1.bin.part", "lmgg");
    place.write("models/ggml-tiny-q5_1.bin.part.etag", "\"v1\"\n");
    scripted_server server({answering(head(206, 10, "Content-Range: bytes 4-8/9\r\n") + std::string(10, 'x'))});
    const auto told = pull(server);
    BOOST_TEST(told.code == 1);
    BOOST_TEST(has(told.err, "more than it announced"));
    BOOST_TEST(!fs::exists(file()));
}

BOOST_AUTO_TEST_CASE(a_size_that_no_model_has) {
    scripted_server server({answering(head(200, 20ULL << 30) + "lmgg")});
    const auto told = pull(server);
    BOOST_TEST(told.code == 1);
    BOOST_TEST(has(told.err, "more than any model has"), told.err);
    BOOST_TEST(!fs::exists(file()));
}

BOOST_AUTO_TEST_CASE(an_errors_page_is_not_read_to_its_end) {
    auto endless = answering(head(500, 1ULL << 40) + std::string(100'000, 'x'));
    endless.then = end::hold;
    scripted_server server({endless, answering(whole())});
    check_done(pull(server));
}

BOOST_AUTO_TEST_CASE(redirects_without_end_and_to_nowhere) {
    std::vector<scripted_reply> replies;
    for (int i = 0; i < 6; ++i) replies.push_back(answering(head(302, 0, "Location: /again\r\n")));
    scripted_server circle(replies);
    const auto told = pull(circle);
    BOOST_TEST(told.code == 1);
    BOOST_TEST(has(told.err, "redirects without end"));
    scripted_server nowhere({answering(head(302, 0, "Location: ftp://x/\r\n"))});
    BOOST_TEST(pull(nowhere).code == 1);
}

BOOST_AUTO_TEST_CASE(what_is_not_there) {
    scripted_server server({answering(head(404, 0))});
    const auto told = pull(server);
    BOOST_TEST(told.code == 1);
    BOOST_TEST(has(told.err, "does not have it (404)"));
    BOOST_TEST(!fs::exists(part()));
}

BOOST_AUTO_TEST_CASE(wrong_words_are_usage_errors) {
    const auto run = [this](std::vector<std::string> words) {
        words.insert(words.begin(), {"models", "pull"});
        return program(HEARONCE_PROGRAM, words, variables).wait();
    };
    const auto mistyped = run({"base.ne"});
    BOOST_TEST(mistyped.code == 2);
    BOOST_TEST(has(mistyped.err, "did you mean base.en?"), mistyped.err);
    BOOST_TEST(run({"../x", "--from", "http://127.0.0.1:1"}).code == 2);
    BOOST_TEST(run({"x", "--from", "nonsense"}).code == 2);
    BOOST_TEST(run({"a", "b", "--from", "http://127.0.0.1:1/x.bin"}).code == 2);
    BOOST_TEST(run({"base", "--pauses", "soon"}).code == 2);
    BOOST_TEST(run({"base", "--stall-timeout", "0s"}).code == 2);
    BOOST_TEST(run({}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(the_bar) {
    using hearonce::cli::transfer_text;
    using namespace std::chrono_literals;
    constexpr std::uint64_t mib = 1024 * 1024;
    BOOST_TEST(transfer_text("x", 0, 100 * mib, 0, 0ms) == "x [....................] 0 %  0.0 MiB of 100.0 MiB");
    BOOST_TEST(transfer_text("x", 50 * mib, 100 * mib, 20 * mib, 2000ms) ==
               "x [##########..........] 50 %  50.0 MiB of 100.0 MiB  10.0 MiB/s  0:05 left");
    BOOST_TEST(transfer_text("x", 100 * mib, 100 * mib, 100 * mib, 1000ms) ==
               "x [####################] 100 %  100.0 MiB of 100.0 MiB  100.0 MiB/s");
    BOOST_TEST(transfer_text("x", 3 * mib, std::nullopt, 0, 0ms) == "x  3.0 MiB");
    BOOST_TEST(transfer_text("x", 1, 200 * mib, 1, 1h).ends_with("left"));
}
