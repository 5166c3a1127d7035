// What send says and what it makes of answers, without a network.
#define BOOST_TEST_MODULE send_request
#include <boost/test/unit_test.hpp>

#include <cli/device_id.hpp>
#include <cli/form_file.hpp>
#include <cli/send_request.hpp>
#include <test/support/scratch.hpp>

#include <set>

#include <sys/stat.h>

using namespace hearonce::cli;
using hearonce::net::http_answer;
using hearonce::test::scratch;

namespace {

http_answer answer(int status, const std::string& type, const std::string& body) {
    http_answer made;
    made.status = static_cast<std::uint16_t>(status);
    made.headers.push_back({"Content-Type", type});
    made.body = body;
    return made;
}

std::string target(const std::string& server) {
    const auto url = transcriptions_url(server);
    return url ? url->target : std::string("refused");
}

}  // namespace

BOOST_AUTO_TEST_CASE(servers_are_named_by_root_version_or_path) {
    BOOST_TEST(target("http://a") == "/v1/audio/transcriptions");
    BOOST_TEST(target("http://a/") == "/v1/audio/transcriptions");
    BOOST_TEST(target("http://a/v1") == "/v1/audio/transcriptions");
    BOOST_TEST(target("http://a/v1/") == "/v1/audio/transcriptions");
    BOOST_TEST(target("http://a/openai/v1") == "/openai/v1/audio/transcriptions");
    BOOST_TEST(target("http://a/stt") == "/stt/v1/audio/transcriptions");
    BOOST_TEST(target("http://a/v1/audio/transcriptions") == "/v1/audio/transcriptions");
    for (const char* bad : {"", "a", "a:8080", "ftp://a", "http://a?x=1", "http://u:p@a", "http://a/v1?x"})
        BOOST_TEST(target(bad) == "refused", bad);
}

BOOST_AUTO_TEST_CASE(a_form_holds_what_was_given_and_the_file_last) {
    send_fields fields;
    fields.model = "m";
    fields.prompt = "a\r\nb";
    fields.format = "srt";
    const auto frame = form_of(fields, "/x/note.m4a", "B");
    BOOST_TEST(frame.head ==
               "--B\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n"
               "--B\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\na\r\nb\r\n"
               "--B\r\nContent-Disposition: form-data; name=\"response_format\"\r\n\r\nsrt\r\n"
               "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"note.m4a\"\r\nContent-Type: audio/mp4\r\n\r\n");
    BOOST_TEST(frame.tail == "\r\n--B--\r\n");
    BOOST_TEST(form_of({}, "a.wav", "B").head.find("\r\n\r\njson\r\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_files_name_cannot_end_its_header) {
    const auto head = form_of({}, "a\"b\r\nX-Evil: 1.wav", "B").head;
    BOOST_TEST(head.find("filename=\"a%22b%0D%0AX-Evil: 1.wav\"\r\n") != std::string::npos, head);
}

BOOST_AUTO_TEST_CASE(types_follow_endings) {
    const std::pair<const char*, const char*> table[] = {{"a.wav", "audio/wav"},
                                                         {"a.WAV", "audio/wav"},
                                                         {"a.mp3", "audio/mpeg"},
                                                         {"a.m4a", "audio/mp4"},
                                                         {"a.ogg", "audio/ogg"},
                                                         {"a.opus", "audio/ogg"},
                                                         {"a.webm", "audio/webm"},
                                                         {"a.flac", "audio/flac"},
                                                         {"a.aac", "audio/aac"},
                                                         {"a", "application/octet-stream"},
                                                         {"a.xyz", "application/octet-stream"}};
    for (const auto& [name, type] : table) BOOST_TEST(content_type_of(name) == type, name);
}

BOOST_AUTO_TEST_CASE(outputs_are_named_after_the_recording) {
    BOOST_TEST(output_name("/x/a.m4a", "text").string() == "a.txt");
    BOOST_TEST(output_name("a.b.wav", "srt").string() == "a.b.srt");
    BOOST_TEST(output_name("a", "vtt").string() == "a.vtt");
    BOOST_TEST(output_name("a.wav", "json").string() == "a.json");
    BOOST_TEST(output_name("a.wav", "verbose_json").string() == "a.json");
}

BOOST_AUTO_TEST_CASE(transcripts_become_output) {
    const auto json = answer(200, "application/json", R"({"text":"hello"})");
    BOOST_TEST(judge(json, "text").output == "hello\n");
    BOOST_TEST(judge(json, "text").code == done);
    BOOST_TEST(judge(json, "json").output == "{\"text\":\"hello\"}\n");
    BOOST_TEST(judge(answer(200, "application/json", R"({"text":"a\nb\n"})"), "text").output == "a\nb\n");
    BOOST_TEST(judge(answer(200, "application/json", R"({"text":""})"), "text").output == "\n");
    BOOST_TEST(judge(answer(200, "application/x-subrip", "1\n"), "srt").output == "1\n");
    BOOST_TEST(judge(answer(200, "text/vtt", "WEBVTT"), "vtt").output == "WEBVTT\n");
}

BOOST_AUTO_TEST_CASE(a_200_that_is_no_transcript_is_a_broken_link) {
    for (const auto& [type, body] : {std::pair("text/html", "<html>Sign in</html>"), std::pair("application/json", "{}"),
                                     std::pair("application/json", R"({"text":1})"), std::pair("application/json", "[]"),
                                     std::pair("application/json", ""), std::pair("application/json", R"({"text":"cut)")}) {
        for (const char* format : {"text", "json", "verbose_json"}) {
            const auto told = judge(answer(200, type, body), format);
            BOOST_TEST(told.code == broken);
            BOOST_TEST(told.output.empty());
            BOOST_TEST(!told.complaint.empty());
        }
    }
    for (const char* format : {"srt", "vtt"}) BOOST_TEST(judge(answer(200, "text/html; charset=utf-8", "<html>"), format).code == broken);
}

BOOST_AUTO_TEST_CASE(refusals_carry_the_servers_words) {
    const std::pair<http_answer, const char*> table[] = {
        {answer(400, "application/json", R"({"error":{"message":"Too short.","type":"x","param":null,"code":"y"}})"),
         "refused (400): Too short."},
        {answer(500, "application/json", R"({"error":"plain"})"), "refused (500): plain"},
        {answer(400, "text/plain", "Invalid request"), "refused (400): Invalid request"},
        {answer(502, "text/html", "<html>Bad gateway</html>"), "refused (502): no reason given"},
        {answer(404, "application/json", ""), "refused (404): no reason given"},
        {answer(400, "application/json", R"({"error":{"message":"a\u001b[31m\nb"}})"), "refused (400): a [31m b"},
        {answer(302, "text/plain", ""), "refused (302): no reason given"},
    };
    for (const auto& [given, expected] : table) {
        const auto told = judge(given, "text");
        BOOST_TEST(told.code == refused);
        BOOST_TEST(told.complaint == expected);
        BOOST_TEST(told.output.empty());
    }
    BOOST_TEST(judge(answer(400, "text/plain", std::string(100'000, 'x')), "text").complaint.size() < 1100U);
}

BOOST_AUTO_TEST_CASE(the_worst_of_several_codes) {
    using codes = std::vector<exit_code>;
    BOOST_TEST(worst_of(codes{}) == done);
    BOOST_TEST(worst_of(codes{done, done}) == done);
    BOOST_TEST(worst_of(codes{done, refused}) == refused);
    BOOST_TEST(worst_of(codes{refused, broken, done}) == broken);
    BOOST_TEST(worst_of(codes{broken, usage, refused}) == usage);
    BOOST_TEST(worst_of(codes{usage, cancelled}) == cancelled);
}

BOOST_AUTO_TEST_SUITE(files)

std::string whole(hearonce::net::body_source& body, bool& failed) {
    std::string text;
    for (;;) {
        const auto batch = body.next();
        failed = batch.step == hearonce::net::body_step::failed;
        if (failed || batch.buffers.empty()) return text;
        for (const auto& one : batch.buffers) text.append(static_cast<const char*>(one.data()), one.size());
    }
}

BOOST_AUTO_TEST_CASE(are_measured_and_sent_whole) {
    const scratch place;
    for (const std::size_t size : {0U, 1U, 262'143U, 262'144U, 262'145U, 600'000U}) {
        std::string bytes(size, '\0');
        for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 255);
        const auto file = place.write("f", bytes);
        const auto measured = measure(file);
        BOOST_REQUIRE(measured.has_value());
        BOOST_TEST(measured->size_bytes == size);
        std::uint64_t last = 0, all = 0;
        const auto body = create_form_file({"head", "tail"}, file, size, [&](std::uint64_t sent, std::uint64_t total) {
            BOOST_TEST((sent >= last || sent == 4));
            last = sent;
            all = total;
        });
        bool failed = true;
        BOOST_TEST((whole(*body, failed) == "head" + bytes + "tail"));
        BOOST_TEST(!failed);
        BOOST_TEST(body->size_bytes() == size + 8);
        BOOST_TEST(last == size + 8);
        BOOST_TEST(all == size + 8);
        body->rewind();
        BOOST_TEST((whole(*body, failed) == "head" + bytes + "tail"));
        BOOST_TEST(!failed);
    }
    BOOST_TEST(measure(place.write("abc", "abc"))->sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

BOOST_AUTO_TEST_CASE(that_shrink_or_go_fail_and_are_named) {
    const scratch place;
    const auto file = place.write("f", "12345");
    bool failed = false;
    const auto shrunk = create_form_file({"h", "t"}, file, 10, {});
    whole(*shrunk, failed);
    BOOST_TEST(failed);
    BOOST_TEST(shrunk->failure() == file.string() + ": became shorter while it was sent");
    const auto gone = create_form_file({"h", "t"}, place.folder() / "none", 10, {});
    whole(*gone, failed);
    BOOST_TEST(failed);
    BOOST_TEST(gone->failure().find("none: cannot be read") != std::string::npos);
    // One that grew is sent as long as it was: the rest was not hashed either.
    const auto grown = create_form_file({"h", "t"}, file, 3, {});
    BOOST_TEST(whole(*grown, failed) == "h123t");
    BOOST_TEST(!failed);
}

BOOST_AUTO_TEST_CASE(that_are_none_are_refused) {
    const scratch place;
    BOOST_TEST(!measure(place.folder() / "none").has_value());
    BOOST_TEST(!measure(place.folder()).has_value());
    BOOST_TEST(!measure("/dev/zero").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(devices)

BOOST_AUTO_TEST_CASE(have_an_id_that_stays) {
    const scratch place;
    const hearonce::app::environment variables{{"XDG_STATE_HOME", place.folder().string()}};
    const auto first = *stored_device_id(variables);
    BOOST_TEST(first.size() == 32U);
    BOOST_TEST(*stored_device_id(variables) == first);
    struct stat info{};
    BOOST_REQUIRE(::stat((place.folder() / "hearonce" / "device-id").c_str(), &info) == 0);
    BOOST_TEST((info.st_mode & 07777) == 0600U);
    const scratch other;
    BOOST_TEST(*stored_device_id({{"HOME", other.folder().string()}}) != first);
    BOOST_TEST(std::filesystem::exists(other.folder() / ".local" / "state" / "hearonce" / "device-id"));
}

BOOST_AUTO_TEST_CASE(keep_one_of_their_own_choice_and_replace_a_broken_one) {
    const scratch place;
    const hearonce::app::environment variables{{"XDG_STATE_HOME", place.folder().string()}};
    place.write("hearonce/device-id", "kitchen radio\n");
    BOOST_TEST(*stored_device_id(variables) == "kitchen radio");
    for (const std::string& broken_id : {std::string(), std::string(129, 'x'), std::string("a\nb"), std::string("\x01")}) {
        const auto file = place.write("hearonce/device-id", broken_id);
        const auto id = *stored_device_id(variables);
        BOOST_TEST(id.size() == 32U);
        BOOST_TEST(scratch::read(file) == id + "\n");
    }
}

BOOST_AUTO_TEST_CASE(without_a_place_are_an_error) {
    BOOST_TEST(!stored_device_id({}).has_value());
    const scratch place;
    const auto plain = place.write("plain", "x");
    BOOST_TEST(!stored_device_id({{"XDG_STATE_HOME", plain.string()}}).has_value());
}

BOOST_AUTO_TEST_CASE(ids_are_printable_and_short) {
    BOOST_TEST(valid_device_id("a"));
    BOOST_TEST(valid_device_id(std::string(128, 'a')));
    for (const std::string& bad : {std::string(), std::string(129, 'a'), std::string("a\n"), std::string("\x7f"), std::string(" a"),
                                   std::string("a "), std::string("\xc3\xa9")})
        BOOST_TEST(!valid_device_id(bad));
}

BOOST_AUTO_TEST_CASE(random_text_does_not_repeat) {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) BOOST_TEST(seen.insert(random_hex(16)).second);
}

BOOST_AUTO_TEST_SUITE_END()
