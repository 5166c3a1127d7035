// The whole backend against peers that do what they are told: what arrives, what comes back, whose key goes, how each call
// may fail, and that nothing is left behind.
#define BOOST_TEST_MODULE gemini_backend
#include "bed.hpp"

#include <boost/json.hpp>

#include <fstream>
#include <iterator>
#include <tuple>

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

BOOST_AUTO_TEST_SUITE(streams)

void stream(bed& work) {
    work.terms.deltas = std::make_shared<delta_log>();
}

std::string chunk(const std::string& text, const std::string& more = {}) {
    return R"(data: {"candidates":[{"content":{"parts":[{"text":")" + text + R"("}]})" + more + "}]}\r\n\r\n";
}

BOOST_AUTO_TEST_CASE(pieces_are_told_as_they_come) {
    scripted_reply reply = answering(events_head());
    for (const char* text : {" two", " bi", "rds "}) reply.pieces.push_back(chunk(text));
    reply.pieces.push_back(chunk("", R"(,"finishReason":"STOP")"));
    scripted_server peer({reply});
    bed work(peer.url());
    stream(work);
    BOOST_TEST(good(work.run()).text == "two birds");
    BOOST_TEST(work.told() == "two birds");
    BOOST_TEST(peer.request(0).starts_with("POST /v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse HTTP/1.1\r\n"));
}

BOOST_AUTO_TEST_CASE(times_and_speakers_are_not_streamed) {
    const std::string segments = R"({\"language\":\"en\",\"segments\":[{\"start\":0,\"end\":1,\"speaker\":\"x\",\"text\":\"hello\"}]})";
    for (const auto format : {response_format::verbose_json, response_format::diarized_json}) {
        scripted_server peer({json_of(200, text_answer(segments))});
        bed work(peer.url());
        stream(work);
        work.request.format = format;
        const transcript heard = good(work.run());
        BOOST_TEST(heard.text == "hello");
        BOOST_TEST_REQUIRE(heard.segments.size() == 1U);
        BOOST_TEST(heard.segments[0].speaker == (format == response_format::diarized_json ? "A" : ""));
        BOOST_TEST(work.told().empty());
        BOOST_TEST(peer.request(0).find(":generateContent ") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(a_stream_that_breaks_is_no_success) {
    scripted_reply cut = answering(events_head() + chunk("two"));
    scripted_reply reset = cut;
    reset.then = end::reset;
    scripted_reply refused = answering(events_head() + chunk("two") + "data: {\"error\":{\"code\":503,\"message\":\"x\"}}\r\n\r\n");
    for (const auto& reply : {cut, reset, refused}) {
        const error broken = why(against(reply, stream));
        BOOST_TEST((broken.code() == errc::upstream_error));
        BOOST_TEST((broken.remedy() == remedy::none));
    }
    const error slow = why(against(json_of(429, R"({"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}})"), stream));
    BOOST_TEST((slow.code() == errc::rate_limit_exceeded));
    BOOST_TEST((slow.remedy() == remedy::again));
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_after_the_end_breaks_nothing) {
    scripted_reply reply = answering("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 5000\r\n\r\n" +
                                     chunk("two birds", R"(,"finishReason":"STOP")"));
    BOOST_TEST(good(against(reply, stream)).text == "two birds");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(containers)

std::string bytes_of(const std::string& name) {
    std::ifstream in(std::string(HEARONCE_TEST_DATA) + "/containers/" + name, std::ios::binary);
    BOOST_TEST_REQUIRE(in.good());
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string sent_type(const std::string& request) {
    return std::string(boost::json::parse(body_of(request)).at_pointer("/contents/0/parts/0/inlineData/mimeType").as_string());
}

std::string sent_data(const std::string& request) {
    return std::string(boost::json::parse(body_of(request)).at_pointer("/contents/0/parts/0/inlineData/data").as_string());
}

BOOST_AUTO_TEST_CASE(a_transcriber_is_sent_what_phones_and_browsers_record) {
    for (const auto& [kind, name, type] :
         {std::tuple(container::mp4, "hello-world.m4a", "audio/mp4"), std::tuple(container::webm, "hello-world.webm", "audio/webm")}) {
        scripted_server peer({json_of(200, text_answer("hello world"))});
        bed work(peer.url());
        work.request.model = "gemini-3.5-transcribe";
        work.audio = recording_of(bytes_of(name), kind);
        good(work.run());
        BOOST_TEST(sent_type(peer.request(0)) == type);
        BOOST_TEST(sent_data(peer.request(0)).size() == (bytes_of(name).size() + 2) / 3 * 4);
    }
}

BOOST_AUTO_TEST_CASE(without_the_helper_others_may_take_it) {
    bed work("http://127.0.0.1:1");
    work.audio = recording_of(bytes_of("hello-world.m4a"), container::mp4);
    const error none = why(work.run());
    BOOST_TEST((none.code() == errc::upstream_error));
    BOOST_TEST((none.remedy() == remedy::elsewhere));
    BOOST_TEST(work.lines.size() == 1U);
}

#ifdef HEARONCE_HELPER
std::shared_ptr<whisper::transcoder> decoder() {
    whisper::transcode_settings settings;
    settings.helper = HEARONCE_HELPER;
    return whisper::create_transcoder(settings);
}

BOOST_AUTO_TEST_CASE(general_models_are_sent_it_decoded) {
    for (const auto& [kind, name] : {std::pair(container::mp4, "hello-world.m4a"), std::pair(container::webm, "hello-world.webm"),
                                     std::pair(container::mp4, "hello-world-fragmented.m4a")}) {
        scripted_server peer({json_of(200, text_answer("hello world"))});
        bed work(peer.url());
        work.settings.transcoder = decoder();
        work.audio = recording_of(bytes_of(name), kind);
        const transcript heard = good(work.run());
        BOOST_TEST(heard.text == "hello world");
        BOOST_TEST(heard.duration_seconds > 1.0);
        BOOST_TEST(sent_type(peer.request(0)) == "audio/flac");
        BOOST_TEST(sent_data(peer.request(0)).starts_with("ZkxhQ"));  // fLaC
        BOOST_TEST(work.settings.transcoder->bytes_in_use() == 0U);
    }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_decoded_is_never_sent) {
    bed work("http://127.0.0.1:1");
    work.settings.transcoder = decoder();
    work.audio = recording_of("PK no recording", container::unknown, "a.zip", "application/zip");
    const error refused = why(work.run());
    BOOST_TEST((refused.code() == errc::unsupported_audio));
    BOOST_TEST(refused.status() == 400);
    BOOST_TEST(work.lines.empty());
}

BOOST_AUTO_TEST_CASE(cancelled_while_it_is_decoded) {
    bed work("http://127.0.0.1:1");
    work.settings.transcoder = decoder();
    work.audio = recording_of(bytes_of("hello-world.m4a"), container::mp4);
    asio::cancellation_signal cancel;
    const error gone =
        why(work.run(&cancel, [&](asio::io_context& loop) { asio::post(loop, [&] { cancel.emit(asio::cancellation_type::terminal); }); }));
    BOOST_TEST((gone.code() == errc::cancelled));
    BOOST_TEST(work.settings.transcoder->bytes_in_use() == 0U);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
