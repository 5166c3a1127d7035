// `hearonce send` as a user runs it, against a server that does what a test says.
#define BOOST_TEST_MODULE send
#include <boost/test/unit_test.hpp>

#include <test/support/certificate.hpp>
#include <test/support/program.hpp>
#include <test/support/scripted_server.hpp>

#include <pty.h>

using namespace hearonce::test;
using end = scripted_reply::end;

namespace {

const std::string hello = HEARONCE_TEST_DATA "/wav/hello-world.wav";
// As sha256sum prints it.
const std::string abc_sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

struct fixture {
    scratch place;
    std::map<std::string, std::string> variables{{"HOME", (place.folder() / "home").string()}};

    ended_program run(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "send");
        return program(HEARONCE_PROGRAM, arguments, variables).wait();
    }
    std::string file(const std::string& name, const std::string& bytes = "abc") const { return place.write(name, bytes).string(); }
};

std::string text_answer(const std::string& text) {
    return http_text(200, "application/json", "{\"text\":\"" + text + "\"}");
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string header_of(const std::string& request, const std::string& name) {
    const auto at = request.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return request.substr(begin, request.find("\r\n", begin) - begin);
}

std::string error_answer(int status, const std::string& message) {
    return http_text(status, "application/json", R"({"error":{"message":")" + message + R"(","type":"x","param":null,"code":"y"}})");
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(done, fixture)

BOOST_AUTO_TEST_CASE(the_text_alone_is_on_stdout) {
    scripted_server server({answering(text_answer("hello world"))});
    const auto told = run({"--to", server.url(), hello});
    BOOST_TEST(told.code == 0, told.err);
    BOOST_TEST(told.out == "hello world\n");
    BOOST_TEST(told.err.empty(), told.err);
}

BOOST_AUTO_TEST_CASE(a_chunked_answer_is_read_too) {
    scripted_server server(
        {answering("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: "
                   "chunked\r\n\r\n8\r\n{\"text\":\r\n5\r\n\"abc\"\r\n1\r\n}\r\n0\r\n\r\n")});
    BOOST_TEST(run({"--to", server.url(), hello}).out == "abc\n");
}

BOOST_AUTO_TEST_CASE(the_request_says_who_what_and_how_long) {
    scripted_server server({answering(text_answer("x")), answering(text_answer("x"))});
    variables["HEARONCE_API_KEY"] = "the-key";
    const std::string note = file("note.m4a");
    BOOST_TEST(run({"--to", server.url(), "--model", "m1", "--language", "de", "--prompt", "Zoë", "--device", "phone", note}).code == 0);
    const std::string first = server.request(0);
    BOOST_TEST(first.starts_with("POST /v1/audio/transcriptions HTTP/1.1\r\n"), first);
    BOOST_TEST(header_of(first, "X-Audio-Sha256") == abc_sha256);
    BOOST_TEST(header_of(first, "X-Device-Id") == "phone");
    BOOST_TEST(header_of(first, "X-Request-Id").size() == 32U);
    BOOST_TEST(header_of(first, "Authorization") == "Bearer the-key");
    BOOST_TEST(header_of(first, "Content-Type").starts_with("multipart/form-data; boundary="));
    const std::string body = first.substr(first.find("\r\n\r\n") + 4);
    BOOST_TEST(header_of(first, "Content-Length") == std::to_string(body.size()));
    for (const char* part :
         {"name=\"model\"\r\n\r\nm1\r\n", "name=\"language\"\r\n\r\nde\r\n", "name=\"prompt\"\r\n\r\nZoë\r\n",
          "name=\"response_format\"\r\n\r\njson\r\n", "filename=\"note.m4a\"\r\nContent-Type: audio/mp4\r\n\r\nabc\r\n--"})
        BOOST_TEST(has(body, part), body);

    BOOST_TEST(run({"--to", server.url(), "--api-key-file", file("key", "file-key\n"), note}).code == 0);
    const std::string second = server.request(1);
    BOOST_TEST(header_of(second, "Authorization") == "Bearer file-key");
    BOOST_TEST(header_of(second, "X-Device-Id").size() == 32U);
    BOOST_TEST(header_of(second, "X-Request-Id") != header_of(first, "X-Request-Id"));
    BOOST_TEST(!has(second, "name=\"model\""));
}

BOOST_AUTO_TEST_CASE(the_device_stays_the_same) {
    scripted_server server({answering(text_answer("x")), answering(text_answer("x"))});
    run({"--to", server.url(), hello});
    run({"--to", server.url(), hello});
    BOOST_TEST(header_of(server.request(0), "X-Device-Id") == header_of(server.request(1), "X-Device-Id"));
    BOOST_TEST(header_of(server.request(0), "Authorization").empty());
}

BOOST_AUTO_TEST_CASE(the_url_comes_from_flag_then_environment) {
    scripted_server one({answering(text_answer("one"))});
    scripted_server two({answering(text_answer("two"))});
    variables["HEARONCE_URL"] = one.url("/v1");
    BOOST_TEST(run({"--to", two.url(), hello}).out == "two\n");
    BOOST_TEST(run({hello}).out == "one\n");
}

BOOST_AUTO_TEST_CASE(formats_are_passed_on) {
    scripted_server server({answering(http_text(200, "application/x-subrip", "1\n00:00")), answering(text_answer("raw"))});
    BOOST_TEST(run({"--to", server.url(), "--format", "srt", hello}).out == "1\n00:00\n");
    BOOST_TEST(has(server.request(0), "\r\n\r\nsrt\r\n"));
    BOOST_TEST(run({"--to", server.url(), "--format", "verbose_json", hello}).out == "{\"text\":\"raw\"}\n");
    BOOST_TEST(has(server.request(1), "\r\n\r\nverbose_json\r\n"));
}

BOOST_AUTO_TEST_CASE(outputs_go_to_a_folder) {
    scripted_server server({answering(text_answer("one")), answering(text_answer("two"))});
    const auto folder = place.folder() / "out" / "deep";
    const auto told = run({"--to", server.url(), "--output-dir", folder.string(), file("a.wav"), file("b.ogg")});
    BOOST_TEST(told.code == 0, told.err);
    BOOST_TEST(told.out.empty());
    BOOST_TEST(scratch::read(folder / "a.txt") == "one\n");
    BOOST_TEST(scratch::read(folder / "b.txt") == "two\n");
    BOOST_TEST(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()) == 2);
}

BOOST_AUTO_TEST_CASE(a_large_file_arrives_whole) {
    std::string bytes(9 * 1024 * 1024 + 3, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 131 + i / 997);
    scripted_server server({answering(text_answer("x"))});
    BOOST_TEST(run({"--to", server.url(), file("large.wav", bytes)}).code == 0);
    BOOST_TEST(has(server.request(0), "\r\n\r\n" + bytes + "\r\n--"));
}

BOOST_AUTO_TEST_CASE(progress_is_shown_on_a_terminal_and_wiped) {
    int ours = -1, theirs = -1;
    BOOST_REQUIRE(::openpty(&ours, &theirs, nullptr, nullptr, nullptr) == 0);
    scripted_server server({answering(text_answer("hello")), answering(error_answer(400, "No."))});
    std::string shown(4096, '\0');
    for (const int code : {0, 1}) {
        program sending(HEARONCE_PROGRAM, {"send", "--to", server.url(), file("note.wav")}, variables, {}, theirs);
        const auto told = sending.wait();
        BOOST_TEST(told.code == code);
        BOOST_TEST(told.out == (code == 0 ? "hello\n" : ""));
        const auto got = ::read(ours, shown.data(), shown.size());
        BOOST_REQUIRE(got > 0);
        const std::string text = shown.substr(0, static_cast<std::size_t>(got));
        const auto wiped = text.rfind("\r\x1b[K");
        BOOST_TEST(has(text, "note.wav: waiting for the text"), text);
        // After the last wipe there is nothing, or the complaint.
        BOOST_TEST(text.substr(wiped + 4).starts_with(code == 0 ? "" : "hearonce: "), text);
        BOOST_TEST((text.size() == wiped + 4) == (code == 0), text);
    }
    ::close(ours);
    ::close(theirs);
}

BOOST_AUTO_TEST_CASE(https_is_checked_against_the_systems_store) {
    const auto shown = make_certificate("DNS:localhost");
    const auto context = server_context(shown);
    scripted_server server({answering(text_answer("safe")), answering(text_answer("unsafe"))}, context.get());
    variables["SSL_CERT_FILE"] = place.write("ca.pem", shown.pem).string();
    const auto trusted = run({"--to", server.url("", "localhost"), hello});
    BOOST_TEST(trusted.code == 0, trusted.err);
    BOOST_TEST(trusted.out == "safe\n");
    variables.erase("SSL_CERT_FILE");
    const auto distrusted = run({"--to", server.url("", "localhost"), hello});
    BOOST_TEST(distrusted.code == 3);
    BOOST_TEST(has(distrusted.err, "certificate verify failed"), distrusted.err);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(refused, fixture)

BOOST_AUTO_TEST_CASE(prints_the_servers_words) {
    for (const int status : {400, 401, 404, 413, 429, 500, 503}) {
        scripted_server server({answering(error_answer(status, "No, because."))});
        const auto told = run({"--to", server.url(), hello});
        BOOST_TEST(told.code == 1);
        BOOST_TEST(told.out.empty());
        BOOST_TEST(told.err == "hearonce: " + hello + ": refused (" + std::to_string(status) + "): No, because.\n", told.err);
    }
}

BOOST_AUTO_TEST_CASE(early_is_heard_although_the_body_was_not_taken) {
    scripted_reply early = answering(error_answer(413, "Too large."));
    early.body_bytes = 0;
    scripted_server server({early});
    const auto told = run({"--to", server.url(), file("large.wav", std::string(9 * 1024 * 1024, 'x'))});
    BOOST_TEST(told.code == 1, told.err);
    BOOST_TEST(has(told.err, "Too large."));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(broken, fixture)

BOOST_AUTO_TEST_CASE(at_each_point) {
    scripted_reply cut_in_body;
    cut_in_body.body_bytes = 10;
    cut_in_body.then = end::reset;
    const std::pair<const char*, scripted_reply> table[] = {
        {"closes without an answer", scripted_reply{}},
        {"resets within the body", cut_in_body},
        {"closes within the answer", answering("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"text\"")},
        {"answers a web page", answering(http_text(200, "text/html", "<html>Sign in</html>"))},
        {"is no web server", answering("220 ready\r\n\r\n")},
    };
    for (const auto& [name, reply] : table) {
        BOOST_TEST_CONTEXT(name) {
            scripted_server server({reply});
            const auto told = run({"--to", server.url(), hello});
            BOOST_TEST(told.code == 3);
            BOOST_TEST(told.out.empty());
            BOOST_TEST(told.err.starts_with("hearonce: " + hello + ": "), told.err);
            BOOST_TEST(std::ranges::count(told.err, '\n') == 1);
        }
    }
}

BOOST_AUTO_TEST_CASE(nobody_there) {
    std::uint16_t port = 0;
    {
        boost::asio::io_context context;
        const boost::asio::ip::tcp::acceptor taken(context, {boost::asio::ip::address_v4::loopback(), 0});
        port = taken.local_endpoint().port();
    }
    const auto told = run({"--to", "http://127.0.0.1:" + std::to_string(port), hello});
    BOOST_TEST(told.code == 3);
    BOOST_TEST(has(told.err, "Connection refused"), told.err);
}

BOOST_AUTO_TEST_CASE(no_answer_within_the_read_timeout) {
    scripted_reply mute;
    mute.then = end::hold;
    scripted_server server({mute});
    const auto told = run({"--to", server.url(), "--read-timeout", "50ms", hello});
    BOOST_TEST(told.code == 3);
    BOOST_TEST(has(told.err, "no answer from 127.0.0.1:" + std::to_string(server.port()) + ": timed out"), told.err);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(usage, fixture)

BOOST_AUTO_TEST_CASE(errors_name_what_is_wrong_and_send_nothing) {
    scripted_server server({answering(text_answer("x"))});
    const std::string none = (place.folder() / "none.wav").string();
    const std::pair<std::vector<std::string>, std::string> table[] = {
        {{"--to", "nowhere", hello}, "--to: not \"nowhere\"; accepts a URL"},
        {{"--to", "ftp://a", hello}, "--to: "},
        {{"--to", server.url(), none}, none + ": cannot be read"},
        {{"--to", server.url(), place.folder().string()}, place.folder().string() + ": "},
        {{"--to", server.url(), "--device", "a\nb", hello}, "--device: "},
        {{"--to", server.url(), "--device", std::string(129, 'x'), hello}, "--device: "},
        {{"--to", server.url(), "--api-key-file", none, hello}, "--api-key-file: "},
        {{"--to", server.url(), "--api-key-file", file("two", "two words"), hello}, "--api-key-file: holds no key"},
        {{"--to", server.url(), "--api-key-file", file("empty", ""), hello}, "--api-key-file: holds no key"},
        {{"--to", server.url(), "--read-timeout", "soon", hello}, "--read-timeout: not \"soon\""},
        {{"--to", server.url(), "--read-timeout", "0", hello}, "--read-timeout: "},
        {{"--to", server.url(), "--output-dir", "out", "a/x.wav", "b/x.mp3"}, "FILE: two of them"},
        {{"--to", server.url(), "--api-key", "secret", hello}, ""},
    };
    for (const auto& [arguments, message] : table) {
        BOOST_TEST_CONTEXT(message) {
            const auto told = run(arguments);
            BOOST_TEST(told.code == 2);
            BOOST_TEST(told.out.empty());
            BOOST_TEST(told.err.starts_with("hearonce: " + message), told.err);
            BOOST_TEST(!has(told.err, "two words"));
        }
    }
    variables["HEARONCE_URL"] = "nowhere";
    BOOST_TEST(has(run({hello}).err, "HEARONCE_URL: not \"nowhere\""));
    variables["HEARONCE_API_KEY"] = "two words";
    const auto told = run({"--to", server.url(), hello});
    BOOST_TEST(told.code == 2);
    BOOST_TEST(!has(told.err, "two words"), told.err);
    BOOST_TEST(server.requests() == 0U);
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_one_too) {
    scripted_server server({answering(text_answer("x")), answering(text_answer("x"))});
    program full(HEARONCE_PROGRAM, {"send", "--to", server.url(), hello}, variables, "/dev/full");
    const auto told = full.wait();
    BOOST_TEST(told.code == 2);
    BOOST_TEST(has(told.err, "stdout cannot be written"), told.err);
    BOOST_TEST(run({"--to", server.url(), "--output-dir", file("plain"), hello}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(several, fixture)

BOOST_AUTO_TEST_CASE(each_is_sent_and_the_worst_code_is_told) {
    scripted_server server({answering(text_answer("one")), answering(error_answer(400, "No.")), answering(text_answer("three"))});
    const auto told = run({"--to", server.url(), file("a.wav"), file("b.wav"), file("c.wav")});
    BOOST_TEST(told.code == 1);
    BOOST_TEST(told.out == "one\nthree\n");
    BOOST_TEST(has(told.err, "b.wav: refused (400): No."));
}

BOOST_AUTO_TEST_CASE(a_broken_link_goes_before_a_refusal_and_a_missing_file_before_both) {
    const auto replies = [] {
        return std::vector<scripted_reply>{answering(error_answer(400, "No.")), scripted_reply{}, answering(text_answer("last"))};
    };
    scripted_server one(replies());
    BOOST_TEST(run({"--to", one.url(), file("a.wav"), file("b.wav")}).code == 3);
    scripted_server two(replies());
    const auto told = run({"--to", two.url(), file("a.wav"), file("b.wav"), "/none", file("c.wav")});
    BOOST_TEST(told.code == 2);
    BOOST_TEST(told.out == "last\n");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(cancelled, fixture)

BOOST_AUTO_TEST_CASE(by_ctrl_c_while_waiting) {
    for (const int number : {SIGINT, SIGTERM}) {
        scripted_reply mute;
        mute.then = end::hold;
        scripted_server server({mute, answering(text_answer("never"))});
        program sending(HEARONCE_PROGRAM, {"send", "--to", server.url(), hello, hello}, variables);
        BOOST_TEST_REQUIRE(!server.request(0).empty());
        sending.signal(number);
        const auto told = sending.wait();
        BOOST_TEST(told.code == 130);
        BOOST_TEST(told.out.empty());
        BOOST_TEST(has(told.err, "cancelled"), told.err);
        BOOST_TEST(server.requests() == 1U, "the next file was sent although the user cancelled");
    }
}

BOOST_AUTO_TEST_SUITE_END()
