// What a request must look like, and what is said when it does not.
#include "running_gateway.hpp"

#include <boost/json.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace hearonce::test;
using namespace std::string_literals;

namespace {

// Checks an error answer in OpenAI's shape.
void check_error(const raw_answer& answer, int status, std::string_view code, std::string_view param = {}) {
    BOOST_TEST(answer.status == status);
    BOOST_TEST(answer.header("content-type") == "application/json");
    BOOST_TEST(answer.header("x-request-id") != "");
    BOOST_TEST(answer.header("cache-status") == "");
    const auto body = boost::json::parse(answer.body).at("error").as_object();
    BOOST_TEST(std::string_view(body.at("code").as_string()) == code);
    BOOST_TEST(body.at("message").as_string().size() > 0u);
    BOOST_TEST(body.contains("type"));
    if (param.empty()) return;
    BOOST_TEST(std::string_view(body.at("param").as_string()) == param);
}

form_part field(std::string name, std::string value) {
    return {std::move(name), std::move(value), {}, ""};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(requests)

BOOST_AUTO_TEST_CASE(an_upload_is_answered_with_text_and_what_was_hashed) {
    running_gateway gateway;
    const auto audio = wav();
    const auto answer = post(gateway.port, transcriptions, upload(audio, {field("language", "en")}), "X-Request-Id: r-1\r\n");
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("content-type") == "application/json");
    BOOST_TEST(answer.header("x-request-id") == "r-1");
    BOOST_TEST(answer.header("x-audio-sha256") == sha256_hex(audio));
    BOOST_TEST(answer.header("x-hearonce-backend") == "scripted");
    BOOST_TEST(answer.header("server-timing").starts_with("receive;dur="));
    const auto body = boost::json::parse(answer.body).as_object();
    BOOST_TEST(std::string_view(body.at("text").as_string()) == sha256_hex(audio).substr(0, 16) + " en ");
}

BOOST_AUTO_TEST_CASE(every_format_of_a_class_comes_from_one_run) {
    running_gateway gateway;
    const auto ask = [&](const char* format) {
        return post(gateway.port, transcriptions, upload(wav(), {field("response_format", format)}));
    };
    BOOST_TEST(ask("json").status == 200);
    BOOST_TEST(ask("text").header("content-type") == "text/plain; charset=utf-8");
    BOOST_TEST(gateway.backend->runs() == 1u);
    BOOST_TEST(ask("verbose_json").header("content-type") == "application/json");
    BOOST_TEST(ask("srt").body.starts_with("1\n00:00:00,000 --> "));
    BOOST_TEST(ask("vtt").body.starts_with("WEBVTT\n\n"));
    BOOST_TEST(gateway.backend->runs() == 2u);
    check_error(ask("diarized_json"), 400, "unsupported_value", "response_format");
    check_error(ask("pdf"), 400, "unsupported_value", "response_format");
    BOOST_TEST(gateway.backend->runs() == 2u);
}

BOOST_AUTO_TEST_CASE(stream_is_answered_as_events) {
    running_gateway gateway;
    const auto answer = post(gateway.port, transcriptions, upload(wav(), {field("stream", "true")}));
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("content-type") == "text/event-stream");
    BOOST_TEST(answer.header("cache-status") == "hearonce; fwd=miss");
    BOOST_TEST(answer.body.find("transcript.text.delta") < answer.body.find("transcript.text.done"));
    // The stream and the plain answer are one piece of work.
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav())).header("cache-status").starts_with("hearonce; hit"));
}

BOOST_AUTO_TEST_CASE(a_wrong_hash_is_refused_and_nothing_is_started) {
    running_gateway gateway;
    const auto audio = wav();
    auto hex = sha256_hex(audio);
    BOOST_TEST(post(gateway.port, transcriptions, upload(audio), "X-Audio-Sha256: " + hex + "\r\n").status == 200);
    for (auto& c : hex) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    BOOST_TEST(post(gateway.port, transcriptions, upload(audio), "X-Bolo-Audio-Sha256: " + hex + "\r\n").status == 200);
    BOOST_TEST(post(gateway.port, transcriptions, upload(audio), "X-Audio-Sha256:\r\n").status == 200);
    const auto runs = gateway.backend->runs();
    check_error(post(gateway.port, transcriptions, upload(wav(9)), "X-Audio-Sha256: " + hex + "\r\n"), 400, "audio_hash_mismatch");
    check_error(post(gateway.port, transcriptions, upload(wav(9)), "X-Audio-Sha256: abc\r\n"), 400, "audio_hash_mismatch");
    BOOST_TEST(gateway.backend->runs() == runs);
    BOOST_TEST(metric(gateway.port, "hearonce_work_total{outcome=\"led\"}") == static_cast<double>(runs));
}

BOOST_AUTO_TEST_CASE(forms_that_are_wrong_are_refused_by_name) {
    running_gateway gateway;
    const auto audio = wav();
    check_error(post(gateway.port, transcriptions, {field("language", "en")}), 400, "missing_file", "file");
    check_error(post(gateway.port, transcriptions, upload("")), 400, "empty_audio");
    check_error(post(gateway.port, transcriptions, upload(audio, {field("temperature", "hot")})), 400, "invalid_parameter", "temperature");
    check_error(post(gateway.port, transcriptions, upload(audio, {field("language", "en"), field("language", "de")})), 400,
                "duplicate_parameter", "language");
    check_error(post(gateway.port, transcriptions, upload(audio, {{"file", audio, "b.wav", ""}})), 400, "duplicate_parameter", "file");
    const auto cut = form_body("b1", upload(audio)).substr(0, 500);
    raw_client client(gateway.port);
    client.send(post_form(transcriptions, cut, "b1"));
    check_error(read_answer(client), 400, "invalid_multipart");
    BOOST_TEST(gateway.backend->runs() == 0u);
    // Another part with a file name is ignored, as some clients send the bytes twice.
    BOOST_TEST(post(gateway.port, transcriptions, upload(audio, {{"audio_file", audio, "@audio.m4a", "audio/mp4"}})).status == 200);
}

BOOST_AUTO_TEST_CASE(a_body_that_is_no_form_is_415_before_it_is_read) {
    running_gateway gateway;
    for (const auto* type : {"application/json", "multipart/form-data", "multipart/mixed; boundary=x"}) {
        raw_client client(gateway.port);
        client.send(
            "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\nContent-Type: "s +
            type + "\r\n\r\n");
        const auto answer = read_answer(client);
        check_error(answer, 415, "unsupported_media_type");
        BOOST_TEST(answer.header("connection") == "close");
    }
}

BOOST_AUTO_TEST_CASE(audio_beyond_the_limit_is_413_at_the_limit_it_is_not) {
    auto wanted = test_settings();
    wanted.server.max_audio_bytes = 40000;
    wanted.server.max_fields_bytes = 1000;
    running_gateway gateway(wanted);
    const auto of_size = [](std::size_t bytes) { return wav(1, bytes - 44); };
    BOOST_TEST(post(gateway.port, transcriptions, upload(of_size(39999))).status == 200);
    BOOST_TEST(post(gateway.port, transcriptions, upload(of_size(40000))).status == 200);
    const auto large = post(gateway.port, transcriptions, upload(of_size(40001)));
    check_error(large, 413, "audio_too_large");
    BOOST_TEST(large.body.find("40000") != std::string::npos);
    // A length that cannot fit is refused from the headers.
    raw_client client(gateway.port);
    client.send(
        "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: "
        "900000000\r\n\r\n");
    check_error(read_answer(client), 413, "audio_too_large");
    BOOST_TEST(gateway.backend->runs() == 2u);
}

BOOST_AUTO_TEST_CASE(chunked_uploads_are_the_same_work) {
    running_gateway gateway;
    const auto audio = wav();
    BOOST_TEST(post(gateway.port, transcriptions, upload(audio)).status == 200);
    const auto body = form_body("b1", upload(audio));
    raw_client client(gateway.port);
    client.send(
        "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b1\r\nTransfer-Encoding: "
        "chunked\r\n\r\n");
    for (std::size_t at = 0; at < body.size(); at += 777) {
        const auto piece = body.substr(at, 777);
        char size[16];
        std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
        client.send(size + piece + "\r\n");
    }
    client.send("0\r\n\r\n");
    const auto answer = read_answer(client);
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("cache-status").starts_with("hearonce; hit"));
}

BOOST_AUTO_TEST_CASE(paths_and_methods) {
    running_gateway gateway;
    check_error(get(gateway.port, "/nothing"), 404, "not_found");
    const auto refused = post(gateway.port, "/v1/models", {});
    check_error(refused, 405, "method_not_allowed");
    BOOST_TEST(refused.header("allow") == "GET, HEAD");
    BOOST_TEST(get(gateway.port, "/health/live").status == 200);
    BOOST_TEST(get(gateway.port, "/health/ready").status == 200);
    BOOST_TEST(get(gateway.port, "/v1/models").body.find("\"scripted\"") != std::string::npos);
    BOOST_TEST(get(gateway.port, "/v1/models/scripted").status == 200);
    // As Groq's client writes it.
    BOOST_TEST(get(gateway.port, "/openai/v1/models").body.find("\"scripted\"") != std::string::npos);
    BOOST_TEST(get(gateway.port, "/openai/v1/models/scripted").status == 200);
    check_error(get(gateway.port, "/openai/v1/models/none"), 404, "model_not_found", "model");
    BOOST_TEST(post(gateway.port, "/openai/v1/audio/transcriptions", upload(wav())).status == 200);
    for (const auto* path :
         {"/openai", "/openai/", "/openai/v1", "/openai/v1/", "/openai/health/live", "/openai/openai/v1/models", "/openaiv1/models"}) {
        check_error(get(gateway.port, path), 404, "not_found");
    }
    check_error(get(gateway.port, "/v1/models/none"), 404, "model_not_found", "model");
    BOOST_TEST(get(gateway.port, "/v1/stats").status == 200);
    BOOST_TEST(get(gateway.port, "/metrics").header("content-type").starts_with("text/plain; version=0.0.4"));
    raw_client client(gateway.port);
    client.send("HEAD /health/live HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const auto head = read_answer(client, true);
    BOOST_TEST(head.status == 200);
    BOOST_TEST(head.header("content-length") == std::to_string(read_answer(client).body.size()));
}

BOOST_AUTO_TEST_CASE(what_the_server_itself_refuses_has_the_same_shape_and_is_counted) {
    auto wanted = test_settings();
    wanted.server.cors_origins = {"https://app.example"};
    running_gateway gateway(wanted);
    raw_client client(gateway.port);
    client.send("GET /v1/models HTTP/1.1\r\nHost: localhost\r\nHost: other\r\nOrigin: https://app.example\r\n\r\n");
    const auto answer = read_answer(client);
    check_error(answer, 400, "invalid_http");
    BOOST_TEST(answer.header("access-control-allow-origin") == "https://app.example");
    BOOST_TEST(metric(gateway.port, "hearonce_requests_total{route=\"/v1/models\",status=\"400\"}") == 1);
}

BOOST_AUTO_TEST_CASE(without_a_default_backend_unknown_models_are_404) {
    auto wanted = test_settings();
    wanted.default_backend.reset();
    running_gateway gateway(wanted);
    check_error(post(gateway.port, transcriptions, upload(wav(), {field("model", "other")})), 404, "model_not_found", "model");
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav(), {field("model", "scripted")})).status == 200);
}

BOOST_AUTO_TEST_CASE(one_idempotency_key_stands_for_one_piece_of_work) {
    running_gateway gateway;
    const auto key = "Idempotency-Key: \"k-1\"\r\n"s;
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav(1)), key).status == 200);
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav(1)), "Idempotency-Key: k-1\r\n").status == 200);
    const auto conflict = post(gateway.port, transcriptions, upload(wav(2)), key);
    check_error(conflict, 409, "idempotency_conflict");
    BOOST_TEST(conflict.header("x-should-retry") == "false");
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav(2)), key + "X-Device-Id: another\r\n").status == 200);
    // Asked for equal work that failed, every caller's name is free again, not just the leader's.
    gateway.backend->ends = [](std::size_t, const hearonce::recording&, const hearonce::transcription_request&) {
        return hearonce::result<hearonce::transcript>(hearonce::errc::unsupported_audio);
    };
    const auto failed = at_once(6, [&](std::size_t i) {
        return post(gateway.port, transcriptions, upload(wav(7)), "Idempotency-Key: f-" + std::to_string(i) + "\r\n");
    });
    for (const auto& answer : failed) check_error(answer, 400, "unsupported_audio");
    gateway.backend->ends = scripted_backend::said;
    for (int i = 0; i < 6; ++i) {
        BOOST_TEST(post(gateway.port, transcriptions, upload(wav(8)), "Idempotency-Key: f-" + std::to_string(i) + "\r\n").status == 200);
    }
    // A failure frees the name.
    gateway.backend->ends = [](std::size_t, const hearonce::recording&, const hearonce::transcription_request&) {
        return hearonce::result<hearonce::transcript>(hearonce::errc::upstream_error);
    };
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav(3)), "Idempotency-Key: k-2\r\n").status == 502);
    gateway.backend->ends = scripted_backend::said;
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav(4)), "Idempotency-Key: k-2\r\n").status == 200);
}

BOOST_AUTO_TEST_CASE(a_failure_tells_what_was_heard_and_by_whom) {
    running_gateway gateway;
    gateway.backend->ends = [](std::size_t, const hearonce::recording&, const hearonce::transcription_request&) {
        return hearonce::result<hearonce::transcript>(hearonce::errc::upstream_error);
    };
    const auto answer = post(gateway.port, transcriptions, upload(wav()));
    check_error(answer, 502, "upstream_error");
    BOOST_TEST(answer.header("x-audio-sha256") == sha256_hex(wav()));
    BOOST_TEST(answer.header("x-hearonce-backend") == "scripted");
    BOOST_TEST(answer.header("server-timing").starts_with("receive;dur="));
}

BOOST_AUTO_TEST_CASE(what_was_answered_is_counted_already) {
    running_gateway gateway;
    for (int i = 1; i <= 50; ++i) {
        get(gateway.port, "/v1/models");
        BOOST_TEST(metric(gateway.port, "hearonce_requests_total{route=\"/v1/models\",status=\"200\"}") == i);
    }
}

BOOST_AUTO_TEST_CASE(metrics_from_elsewhere_need_a_token_in_every_mode) {
    const auto path = std::filesystem::temp_directory_path() / ("hearonce-metrics-tokens-" + std::to_string(::getpid()));
    std::ofstream(path) << "ops:" << sha256_hex("tok-1") << "\n";
    auto wanted = test_settings();
    wanted.auth.tokens_file = path;
    running_gateway gateway(wanted);
    BOOST_TEST(get(gateway.port, "/metrics").status == 200);
    const std::string elsewhere = "X-Forwarded-For: 203.0.113.9\r\n";
    check_error(get(gateway.port, "/metrics", elsewhere), 401, "invalid_api_key");
    check_error(get(gateway.port, "/v1/stats", elsewhere + "Authorization: Bearer nope\r\n"), 401, "invalid_api_key");
    BOOST_TEST(get(gateway.port, "/v1/stats", elsewhere + "Authorization: Bearer tok-1\r\n").status == 200);
    std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(tokens_mode_needs_a_known_token) {
    const auto path = std::filesystem::temp_directory_path() / ("hearonce-tokens-" + std::to_string(::getpid()));
    {
        std::ofstream file(path);
        file << "phone:" << sha256_hex("tok-1") << "\nlaptop:" << sha256_hex("tok-2") << "\n";
    }
    auto wanted = test_settings();
    wanted.auth.mode = hearonce::app::auth_mode::tokens;
    wanted.auth.tokens_file = path;
    running_gateway gateway(wanted);
    check_error(post(gateway.port, transcriptions, upload(wav())), 401, "invalid_api_key");
    check_error(post(gateway.port, transcriptions, upload(wav()), "Authorization: Bearer nope\r\n"), 401, "invalid_api_key");
    check_error(get(gateway.port, "/v1/models"), 401, "invalid_api_key");
    BOOST_TEST(get(gateway.port, "/health/live").status == 200);
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav()), "Authorization: Bearer tok-1\r\n").status == 200);
    BOOST_TEST(gateway.backend->runs() == 1u);
    // Another token is another caller.
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav()), "Authorization: Bearer tok-2\r\n").status == 200);
    BOOST_TEST(gateway.backend->runs() == 2u);
    std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(foreign_pages_are_kept_out_before_the_body) {
    auto wanted = test_settings();
    wanted.server.cors_origins = {"https://app.example"};
    running_gateway gateway(wanted);
    check_error(post(gateway.port, transcriptions, upload(wav()), "Origin: https://evil.example\r\n"), 403, "origin_not_allowed");
    const auto allowed = post(gateway.port, transcriptions, upload(wav()), "Origin: https://app.example\r\n");
    BOOST_TEST(allowed.status == 200);
    BOOST_TEST(allowed.header("access-control-allow-origin") == "https://app.example");
    BOOST_TEST(allowed.header("access-control-expose-headers").find("Cache-Status") != std::string::npos);
    raw_client client(gateway.port);
    client.send(
        "OPTIONS /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example\r\nAccess-Control-Request-Method: "
        "POST\r\n"
        "Access-Control-Request-Headers: x-device-id\r\n\r\n");
    const auto preflight = read_answer(client);
    BOOST_TEST(preflight.status == 204);
    BOOST_TEST(preflight.header("access-control-allow-headers") == "x-device-id");
    raw_client rebound(gateway.port);
    rebound.send("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    check_error(read_answer(rebound), 403, "host_not_allowed");
    // An error to an allowed page can be read by it.
    BOOST_TEST(post(gateway.port, transcriptions, upload(""), "Origin: https://app.example\r\n").header("access-control-allow-origin") ==
               "https://app.example");
}

BOOST_AUTO_TEST_SUITE_END()
