// The whole backend against peers that do what they are told: what arrives, what comes back, whose key goes, how each call
// may fail, and that nothing is left behind.
#define BOOST_TEST_MODULE gemini_backend
#include "bed.hpp"

#include <boost/json.hpp>

using namespace hearonce;
using namespace hearonce::gemini;
using namespace hearonce::gemini::test;
using end = scripted_reply::end;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(calls)

BOOST_AUTO_TEST_CASE(a_transcript_and_what_was_sent_for_it) {
    scripted_server peer({json_of(200, text_answer("  two birds\\n"))});
    bed work(peer.url());
    work.audio->duration = milliseconds(3400);
    const transcript heard = good(work.run());
    BOOST_TEST(heard.text == "two birds");
    BOOST_TEST(heard.had_audio);
    BOOST_TEST(heard.backend == "gemini");
    BOOST_TEST(heard.duration_seconds == 3.4);
    BOOST_TEST_REQUIRE(heard.more.size() == 1U);
    BOOST_TEST(heard.more[0].name == "usage");
    BOOST_TEST(heard.more[0].json == R"({"type":"tokens","input_tokens":110,"input_token_details":{"text_tokens":14,"audio_tokens":96},)"
                                     R"("output_tokens":4,"total_tokens":114})");
    const std::string sent = peer.request(0);
    BOOST_TEST(sent.starts_with("POST /v1beta/models/gemini-3.8-flash:generateContent HTTP/1.1\r\n"));
    BOOST_TEST(header_of(sent, "x-goog-api-key") == operators_key);
    BOOST_TEST(header_of(sent, "Content-Type") == "application/json");
    BOOST_TEST(header_of(sent, "Authorization").empty());
    // The key in its own header and nowhere else.
    BOOST_TEST(sent.find(operators_key) == sent.rfind(operators_key));
    const auto body = boost::json::parse(body_of(sent));
    BOOST_TEST(body.at_pointer("/contents/0/parts/0/inlineData/data").as_string() == "UklGRiBzb21lIHNvdW5k");
    BOOST_TEST(body.at_pointer("/contents/0/parts/0/inlineData/mimeType").as_string() == "audio/wav");
}

BOOST_AUTO_TEST_CASE(a_recording_of_many_batches_in_memory_and_in_a_file) {
    std::string sound = "RIFF";
    for (int i = 0; sound.size() < 700'000; ++i) sound += std::to_string(i);
    for (const bool spilled : {false, true}) {
        scripted_server peer({json_of(200, text_answer("all of it"))});
        bed work(peer.url());
        work.audio = spilled ? recording_of(std::make_shared<file_bytes>(sound, sound.size()))
                             : recording_of(std::make_shared<text_bytes>(sound, 8192));
        BOOST_TEST(good(work.run()).text == "all of it");
        const auto body = boost::json::parse(body_of(peer.request(0)));
        BOOST_TEST(body.at_pointer("/contents/0/parts/0/inlineData/data").as_string().size() == (sound.size() + 2) / 3 * 4);
    }
}

BOOST_AUTO_TEST_CASE(a_caller_s_key_goes_instead_of_the_operator_s) {
    scripted_server peer({json_of(200, text_answer("hello")), json_of(200, text_answer("hello"))});
    bed work(peer.url("/v1"));
    work.terms.key = std::make_shared<const secret>(callers_key);
    good(work.run());
    const std::string sent = peer.request(0);
    BOOST_TEST(header_of(sent, "x-goog-api-key") == callers_key);
    BOOST_TEST(sent.find(operators_key) == std::string::npos);
    BOOST_TEST(sent.starts_with("POST /v1/models/"));
    // A caller without one must not use the operator's.
    work.terms.key = std::make_shared<const secret>();
    good(work.run());
    BOOST_TEST(peer.request(1).find("x-goog-api-key") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_alias_names_the_upstream_s_model) {
    scripted_server peer({json_of(200, text_answer("hello"))});
    bed work(peer.url());
    work.settings.model_alias["fast"] = "gemini-3.5-transcribe";
    work.request.model = "fast";
    good(work.run());
    BOOST_TEST(peer.request(0).starts_with("POST /v1beta/models/gemini-3.5-transcribe:generateContent "));
    BOOST_TEST(body_of(peer.request(0)).find("audioTranscriptionConfig") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(silence_is_an_empty_transcript) {
    for (const std::string& body : {text_answer(""), text_answer(" \\n"), std::string(R"({"candidates":[{"finishReason":"STOP"}]})"),
                                    std::string(R"({"candidates":[{"content":{},"finishReason":"STOP"}]})"),
                                    std::string(R"({"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]})")}) {
        const transcript heard = good(against(json_of(200, body)));
        BOOST_TEST(heard.text.empty());
        BOOST_TEST(heard.had_audio);
    }
}

BOOST_AUTO_TEST_CASE(an_audio_that_is_too_large_is_refused_before_any_call) {
    class empty_space final : public stored_bytes {
    public:
        std::uint64_t size_bytes() const noexcept override { return 75'000'000; }
        std::span<const std::span<const std::byte>> pieces() const noexcept override { return {}; }
        int file_descriptor() const noexcept override { return -1; }
    };
    bed work("http://127.0.0.1:1");
    work.audio = recording_of(std::make_shared<empty_space>());
    const error refused = why(work.run());
    BOOST_TEST((refused.code() == errc::audio_too_large));
    BOOST_TEST(refused.status() == 413);
    BOOST_TEST(std::string(refused.message()).find("75000000") != std::string::npos);
    BOOST_TEST(std::string(refused.message()).find("7499") != std::string::npos, refused.message());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(failures)

BOOST_AUTO_TEST_CASE(nobody_listens) {
    std::uint16_t port = 0;
    {
        port = scripted_server({}).port();
    }
    bed work("http://127.0.0.1:" + std::to_string(port));
    const error refused = why(work.run());
    BOOST_TEST((refused.code() == errc::upstream_error));
    BOOST_TEST((refused.remedy() == remedy::again));
}

BOOST_AUTO_TEST_CASE(cut_while_waiting_or_receiving_the_work_may_be_done) {
    scripted_reply mute;
    scripted_reply half;
    half.pieces.push_back("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"candidates\"");
    scripted_reply reset = half;
    reset.then = end::reset;
    for (const auto& reply : {mute, half, reset}) {
        const error cut = why(against(reply));
        BOOST_TEST((cut.code() == errc::upstream_error));
        BOOST_TEST((cut.remedy() == remedy::none));
    }
}

BOOST_AUTO_TEST_CASE(silence_ends_with_the_deadline) {
    scripted_reply mute;
    mute.then = end::hold;
    const error late = why(against(mute, [](bed& work) { work.terms.limit = deadline::after(milliseconds(100)); }));
    BOOST_TEST((late.code() == errc::upstream_timeout));
    BOOST_TEST((late.remedy() == remedy::none));
}

BOOST_AUTO_TEST_CASE(cancelled_it_ends_at_once) {
    scripted_reply mute;
    mute.then = end::hold;
    scripted_server peer({mute});
    bed work(peer.url());
    asio::cancellation_signal cancel;
    const error gone = why(work.run(&cancel, [&](asio::io_context& loop) {
        peer.request(0);
        asio::post(loop, [&] { cancel.emit(asio::cancellation_type::terminal); });
    }));
    BOOST_TEST((gone.code() == errc::cancelled));
}

BOOST_AUTO_TEST_CASE(a_key_that_is_refused) {
    const std::string refusal =
        R"({"error":{"code":400,"message":"API key not valid: )" + operators_key +
        R"(.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}})";
    bed work("");
    {
        scripted_server peer({json_of(400, refusal)});
        work.settings.base_url = peer.url();
        const error ours = why(work.run());
        BOOST_TEST((ours.code() == errc::upstream_error));
        BOOST_TEST(ours.status() == 502);
        BOOST_TEST((ours.remedy() == remedy::elsewhere));
        BOOST_TEST_REQUIRE(work.lines.size() == 1U);
        BOOST_TEST(work.lines[0].find("API key not valid") != std::string::npos);
    }
    scripted_server peer({json_of(400, refusal)});
    work.settings.base_url = peer.url();
    work.terms.key = std::make_shared<const secret>(callers_key);
    const error theirs = why(work.run());
    BOOST_TEST((theirs.code() == errc::invalid_api_key));
    BOOST_TEST(theirs.status() == 401);
    BOOST_TEST(work.lines.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_base_url_that_is_none_is_not_ready) {
    for (const char* base : {"", "generativelanguage", "ftp://a/v1beta", "http://a/v1beta?key=x", "https://a.example"}) {
        bed work(base);
        const auto made = create_gemini_backend(work.settings);
        BOOST_TEST(!made->state().ready, base);
        BOOST_TEST((why(work.run()).code() == errc::upstream_error));
    }
    BOOST_TEST(create_gemini_backend(bed("http://127.0.0.1:1").settings)->state().ready);
}

BOOST_AUTO_TEST_SUITE_END()
