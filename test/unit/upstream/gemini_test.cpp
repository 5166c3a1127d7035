// The upstream double as Gemini: what generateContent and its stream answer, and what they refuse.
#define BOOST_TEST_MODULE upstream_gemini
#include <boost/test/unit_test.hpp>

#include <bench/upstream/gemini_rules.hpp>
#include <bench/upstream/heard.hpp>

#include "upstream_bed.hpp"

#include <openssl/evp.h>

using namespace hearonce;
using namespace hearonce::test;
using upstream::double_server;
using upstream::hear;
using upstream::settings;
namespace json = boost::json;

namespace {

const std::string bytes = some_bytes();
const upstream::heard what = hear(sha256_of(bytes));

std::string base64_of(const std::string& of) {
    std::string made(4 * ((of.size() + 2) / 3) + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(made.data()), reinterpret_cast<const unsigned char*>(of.data()),
                                     static_cast<int>(of.size()));
    made.resize(static_cast<std::size_t>(size));
    return made;
}

// `more` stands behind `contents`, with its comma.
std::string request(const std::string& more = {}, const std::string& prompt = "Transcribe.", const std::string& type = "audio/wav",
                    const std::string& of = bytes) {
    return R"({"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":")" + type + R"(","data":")" + base64_of(of) +
           R"("}},{"text":)" + json::serialize(json::string(prompt)) + "}]}]" + more + "}";
}

struct bed {
    double_server server;

    raw_answer ask(const std::string& body, const std::string& path = "/v1beta/models/gemini-3.8-flash:generateContent",
                   const std::string& headers = "x-goog-api-key: k\r\n") {
        raw_client client(server.port());
        client.send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
        return read_answer(client);
    }
    raw_answer transcribe(const std::string& config = {}) {
        return ask(request(R"(,"generationConfig":{"audioTranscriptionConfig":{)" + config + "}}"),
                   "/v1beta/models/gemini-3.5-transcribe:generateContent");
    }
    raw_answer faulty(const std::string& fault, const std::string& verb = "generateContent") {
        return ask(request(), "/v1beta/models/gemini-3.8-flash:" + verb, "x-goog-api-key: k\r\nX-Fault: " + fault + "\r\n");
    }
    void refuses(int status, const std::string& name, const raw_answer& answer, const std::string& says = {}) {
        BOOST_TEST(answer.status == status, answer.body);
        const auto error = json_of(answer).at("error");
        BOOST_TEST(error.at("code").as_int64() == status);
        BOOST_TEST(error.at("status").as_string() == name);
        BOOST_TEST(std::string(error.at("message").as_string()).find(says) != std::string::npos, answer.body);
    }
};

const json::array& parts_in(const json::value& response) {
    return response.at("candidates").as_array().at(0).at("content").at("parts").as_array();
}

// What a client is to take: the texts of the parts that are no thoughts.
std::string text_of_parts(const json::value& response) {
    std::string joined;
    for (const auto& part : parts_in(response)) {
        if (!part.as_object().contains("thought") && part.as_object().contains("text")) joined += std::string(part.at("text").as_string());
    }
    return joined;
}

std::string reason_in(const json::value& response) {
    return std::string(response.at("candidates").as_array().at(0).at("finishReason").as_string());
}

std::vector<json::value> records_in(const std::string& body) {
    std::vector<json::value> all;
    for (std::size_t at = 0; at < body.size();) {
        const auto end = body.find("\r\n\r\n", at);
        BOOST_TEST_REQUIRE(end != std::string::npos);
        const auto record = body.substr(at, end - at);
        BOOST_TEST_REQUIRE(record.starts_with("data: "), record);
        all.push_back(json::parse(record.substr(6)));
        at = end + 4;
    }
    return all;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(answers, bed)

BOOST_AUTO_TEST_CASE(the_text_comes_in_parts_behind_a_thought) {
    for (const char* version : {"/v1beta", "/v1"}) {
        const auto answer = ask(request(), std::string(version) + "/models/gemini-3.8-flash:generateContent");
        BOOST_TEST(answer.status == 200, answer.body);
        BOOST_TEST(answer.header("content-type") == "application/json; charset=UTF-8");
        const auto value = json_of(answer);
        BOOST_TEST(parts_in(value).at(0).at("thought").as_bool());
        BOOST_TEST(parts_in(value).size() > 2u);
        BOOST_TEST(text_of_parts(value) == what.text);
        BOOST_TEST(reason_in(value) == "STOP");
        BOOST_TEST(value.at("modelVersion").as_string() == "gemini-3.8-flash");
        const auto& usage = value.at("usageMetadata");
        BOOST_TEST(usage.at("totalTokenCount").as_int64() == usage.at("promptTokenCount").as_int64() +
                                                                 usage.at("candidatesTokenCount").as_int64() +
                                                                 usage.at("thoughtsTokenCount").as_int64());
    }
    BOOST_TEST(server.seen().of(sha256_of(bytes)) == 2u);
}

BOOST_AUTO_TEST_CASE(snake_case_is_taken_too) {
    const auto body = R"({"contents":[{"parts":[{"inline_data":{"mime_type":"audio/wav","data":")" + base64_of(bytes) +
                      R"("}}]}],"generation_config":{"max_output_tokens":100,"thinking_config":{"thinking_level":"LOW"}}})";
    BOOST_TEST(text_of_parts(json_of(ask(body))) == what.text);
}

BOOST_AUTO_TEST_CASE(sse_records_end_with_two_crlf) {
    const auto answer = ask(request(), "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse");
    BOOST_TEST(answer.header("content-type") == "text/event-stream");
    BOOST_TEST(answer.complete);
    const auto records = records_in(answer.body);
    BOOST_TEST(records.size() == 4u);
    std::string joined;
    for (std::size_t index = 0; index < records.size(); ++index) {
        joined += text_of_parts(records[index]);
        BOOST_TEST(records[index].at("candidates").as_array().at(0).as_object().contains("finishReason") == (index + 1 == records.size()));
        BOOST_TEST(records[index].as_object().contains("usageMetadata"));
    }
    BOOST_TEST(joined == what.text);
}

BOOST_AUTO_TEST_CASE(a_stream_without_alt_is_one_array) {
    const auto value = json_of(ask(request(), "/v1/models/gemini-3.8-flash:streamGenerateContent"));
    std::string joined;
    for (const auto& one : value.as_array()) joined += text_of_parts(one);
    BOOST_TEST(joined == what.text);
}

BOOST_AUTO_TEST_CASE(structured_output_is_json_in_text) {
    const std::string schema =
        R"({"type":"OBJECT","properties":{"language":{"type":"STRING"},"segments":{"type":"ARRAY","items":)"
        R"({"type":"OBJECT","properties":{"start":{"type":"STRING"},"end":{"type":"STRING"},"text":{"type":"STRING"}}}}}})";
    for (const char* name : {"responseSchema", "responseJsonSchema", "response_schema"}) {
        const auto answer =
            ask(request(R"(,"generationConfig":{"responseMimeType":"application/json",")" + std::string(name) + "\":" + schema + "}"));
        const auto value = json::parse(text_of_parts(json_of(answer)));
        BOOST_TEST(value.at("language").as_string() == "en");
        BOOST_TEST(value.at("segments").as_array().at(1).at("text").as_string() == what.segments[1].text);
    }
    const auto free = ask(request(R"(,"generationConfig":{"responseMimeType":"application/json"})"));
    BOOST_TEST(json::parse(text_of_parts(json_of(free))).at("text").as_string() == what.text);
    refuses(400, "INVALID_ARGUMENT", ask(request(R"(,"generationConfig":{"responseSchema":{}})")));
}

BOOST_AUTO_TEST_CASE(models_are_listed) {
    const auto key = "x-goog-api-key: k\r\n";
    for (const char* version : {"/v1beta", "/v1"}) {
        const auto listed = json_of(get(server.port(), std::string(version) + "/models", key));
        for (const auto& one : listed.at("models").as_array()) {
            const std::string name(one.at("name").as_string());
            BOOST_TEST(name.starts_with("models/"));
            BOOST_TEST(json_of(get(server.port(), std::string(version) + "/" + name, key)) == one);
        }
    }
    refuses(404, "NOT_FOUND", get(server.port(), "/v1beta/models/none", key));
    refuses(403, "PERMISSION_DENIED", get(server.port(), "/v1beta/models"));
    refuses(404, "NOT_FOUND", get(server.port(), "/v1beta/models/x:countTokens", key));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(transcriber, bed)

BOOST_AUTO_TEST_CASE(plain_text_comes_twice_in_one_part) {
    const auto value = json_of(transcribe(R"("languageCodes":["de-DE"])"));
    BOOST_TEST(text_of_parts(value) == what.text);
    const auto& heard = parts_in(value).at(1).at("audioTranscription");
    BOOST_TEST(heard.at("text").as_string() == what.text);
    BOOST_TEST(heard.at("languageCode").as_string() == "de-DE");
    BOOST_TEST(!heard.as_object().contains("words"));
}

BOOST_AUTO_TEST_CASE(words_have_times_in_seconds) {
    const auto value = json_of(transcribe(R"("wordTimestamp":true)"));
    BOOST_TEST_REQUIRE(parts_in(value).size() == 2u);
    BOOST_TEST(!parts_in(value).at(1).as_object().contains("text"));
    const auto& words = parts_in(value).at(1).at("audioTranscription").at("words").as_array();
    BOOST_TEST_REQUIRE(words.size() == 12u);
    BOOST_TEST(words[0].at("startOffset").as_string() == "0s");
    for (std::size_t index = 0; index < words.size(); ++index) {
        BOOST_TEST(words[index].at("word").as_string() == what.words[index].word);
        const std::string end(words[index].at("endOffset").as_string());
        BOOST_TEST(end.back() == 's');
        BOOST_TEST(std::stod(end) == static_cast<double>(what.words[index].end_ms) / 1000.0, boost::test_tools::tolerance(1e-9));
    }
}

BOOST_AUTO_TEST_CASE(speakers_have_a_part_a_turn) {
    const auto value = json_of(transcribe(R"("diarization":true,"wordTimestamp":true)"));
    BOOST_TEST_REQUIRE(parts_in(value).size() == 4u);
    for (std::size_t turn = 0; turn < 3; ++turn) {
        const auto& heard = parts_in(value).at(turn + 1).at("audioTranscription");
        BOOST_TEST(heard.at("text").as_string() == what.segments[turn].text);
        BOOST_TEST(heard.at("speakerLabel").as_string() == (turn == 1 ? "spk_2" : "spk_1"));
        BOOST_TEST(heard.at("words").as_array().size() == 4u);
    }
}

BOOST_AUTO_TEST_CASE(words_without_text_are_a_fault) {
    const auto answer =
        ask(request(), "/v1beta/models/gemini-3.5-transcribe:generateContent", "x-goog-api-key: k\r\nX-Fault: words_only\r\n");
    const auto value = json_of(answer);
    const auto& heard = parts_in(value).at(1).at("audioTranscription").as_object();
    BOOST_TEST(!heard.contains("text"));
    BOOST_TEST(heard.at("words").as_array().size() == 12u);
}

BOOST_AUTO_TEST_CASE(what_it_refuses) {
    refuses(400, "INVALID_ARGUMENT", transcribe(R"("wordTimestamp":true,"customVocabulary":["Ann"])"));
    refuses(400, "INVALID_ARGUMENT", transcribe(R"("diarization":true,"mode":"SMART")"));
    BOOST_TEST(transcribe(R"("mode":"SMART","customVocabulary":["Ann"])").status == 200);
    const auto vocabulary = [](std::size_t size) {
        std::string list;
        for (std::size_t at = 0; at < size; ++at) list += at == 0 ? "\"a\"" : ",\"a\"";
        return "\"customVocabulary\":[" + list + "]";
    };
    BOOST_TEST(transcribe(vocabulary(1000)).status == 200);
    refuses(400, "INVALID_ARGUMENT", transcribe(vocabulary(1001)));
    refuses(400, "INVALID_ARGUMENT",
            ask(request(R"(,"systemInstruction":{"parts":[{"text":"x"}]})"), "/v1beta/models/gemini-3.5-transcribe:generateContent"),
            "Developer instruction is not enabled");
    // The others ignore its settings without a word.
    BOOST_TEST(text_of_parts(json_of(ask(request(R"(,"generationConfig":{"audioTranscriptionConfig":{"wordTimestamp":true}})")))) ==
               what.text);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(refusals, bed)

BOOST_AUTO_TEST_CASE(keys) {
    const std::string path = "/v1beta/models/gemini-3.8-flash:generateContent";
    refuses(403, "PERMISSION_DENIED", ask(request(), path, ""));
    refuses(403, "PERMISSION_DENIED", ask(request(), path, "x-goog-api-key: \r\n"));
    refuses(400, "INVALID_ARGUMENT", ask(request(), path + "?key=k"), "key in the query");
    settings how;
    how.key = "right";
    bed closed{double_server(how)};
    BOOST_TEST(closed.ask(request(), path, "x-goog-api-key: right\r\n").status == 200);
    const auto wrong = closed.ask(request(), path, "x-goog-api-key: wrong\r\n");
    refuses(400, "INVALID_ARGUMENT", wrong, "API key not valid");
    BOOST_TEST(json_of(wrong).at("error").at("details").as_array().at(0).at("reason").as_string() == "API_KEY_INVALID");
}

BOOST_AUTO_TEST_CASE(bodies) {
    refuses(400, "INVALID_ARGUMENT", ask("{"), "Invalid JSON payload");
    refuses(400, "INVALID_ARGUMENT", ask("[]"), "Invalid JSON payload");
    refuses(400, "INVALID_ARGUMENT", ask("{}"), "contents is not specified");
    refuses(400, "INVALID_ARGUMENT", ask(R"({"contents":[{}]})"), "parts is not specified");
    refuses(400, "INVALID_ARGUMENT", ask(R"({"contents":[{"parts":[{"text":"hello"}]}]})"), "no recording");
    refuses(400, "INVALID_ARGUMENT", ask(R"({"contents":[{"parts":[{"inlineData":{"mimeType":"audio/wav","data":"*"}}]}]})"), "Base64");
    refuses(400, "INVALID_ARGUMENT", ask(request({}, "x", "audio/wav", "")), "empty inlineData");
    refuses(403, "PERMISSION_DENIED", ask(R"({"contents":[{"parts":[{"fileData":{"fileUri":"files/abc"}}]}]})"), "files/abc");
    refuses(404, "NOT_FOUND", ask(request(), "/v1beta/models/gemini-1:generateContent"), "models/gemini-1 is not found");
    refuses(400, "INVALID_ARGUMENT", ask(request(R"(,"generationConfig":{"audioTimestamp":true})")), "Unknown name \"audioTimestamp\"");
}

BOOST_AUTO_TEST_CASE(types) {
    for (const char* type : {"audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"})
        BOOST_TEST(ask(request({}, "x", type)).status == 200, type);
    for (const char* type : {"audio/mpeg", "audio/m4a", "audio/webm", "audio/x-wav", "text/plain", ""})
        refuses(400, "INVALID_ARGUMENT", ask(request({}, "x", type)), "Unsupported MIME type");
    BOOST_TEST(ask(request({}, "x", "audio/m4a"), "/v1beta/models/gemini-3.5-transcribe:generateContent").status == 200);
}

BOOST_AUTO_TEST_CASE(size_to_the_byte) {
    const auto around = request().size();
    const auto with_total = [&](std::size_t total) { return ask(request({}, "Transcribe." + std::string(total - around, 'x'))); };
    const auto most = static_cast<std::size_t>(upstream::gemini_body_bytes_max);
    BOOST_TEST(with_total(most).status == 200);
    refuses(400, "INVALID_ARGUMENT", with_total(most + 1), "exceeds the limit");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(faults, bed)

BOOST_AUTO_TEST_CASE(blocked_has_no_candidates) {
    for (const char* verb : {"generateContent", "streamGenerateContent?alt=sse"}) {
        const auto answer = faulty("blocked", verb);
        BOOST_TEST(answer.status == 200);
        const auto value = std::string(verb) == "generateContent" ? json_of(answer) : records_in(answer.body).at(0);
        BOOST_TEST(!value.as_object().contains("candidates"));
        BOOST_TEST(value.at("promptFeedback").at("blockReason").as_string() == "SAFETY");
    }
}

BOOST_AUTO_TEST_CASE(candidates_without_a_whole_text) {
    for (const auto& [fault, reason] : {std::pair("no_parts", "SAFETY"), std::pair("recitation", "RECITATION")}) {
        const auto value = json_of(faulty(fault));
        BOOST_TEST(reason_in(value) == reason);
        BOOST_TEST(!value.at("candidates").as_array().at(0).as_object().contains("content"));
        BOOST_TEST(reason_in(records_in(faulty(fault, "streamGenerateContent?alt=sse").body).at(0)) == reason);
    }
    const auto cut = json_of(faulty("max_tokens"));
    BOOST_TEST(reason_in(cut) == "MAX_TOKENS");
    BOOST_TEST(what.text.starts_with(text_of_parts(cut)));
    BOOST_TEST(text_of_parts(cut).size() < what.text.size());
    BOOST_TEST(reason_in(records_in(faulty("max_tokens", "streamGenerateContent?alt=sse").body).back()) == "MAX_TOKENS");
    BOOST_TEST(text_of_parts(json_of(faulty("empty_text"))) == "");
}

BOOST_AUTO_TEST_CASE(errors_have_google_s_shape) {
    const std::pair<int, const char*> all[] = {{400, "INVALID_ARGUMENT"}, {401, "UNAUTHENTICATED"},  {403, "PERMISSION_DENIED"},
                                               {404, "NOT_FOUND"},        {409, "ABORTED"},          {429, "RESOURCE_EXHAUSTED"},
                                               {499, "CANCELLED"},        {500, "INTERNAL"},         {501, "UNIMPLEMENTED"},
                                               {503, "UNAVAILABLE"},      {504, "DEADLINE_EXCEEDED"}};
    for (const auto& [status, name] : all) refuses(status, name, faulty("status=" + std::to_string(status)));
    refuses(400, "INVALID_ARGUMENT", faulty("key_invalid"), "API key not valid");
    refuses(429, "RESOURCE_EXHAUSTED", faulty("insufficient_quota"), "exceeded your current quota");
    refuses(400, "INVALID_ARGUMENT", faulty("early_401"), "API key not valid");
    refuses(400, "INVALID_ARGUMENT", faulty("hangs"), "There is no fault 'hangs'");
}

BOOST_AUTO_TEST_CASE(streams_break_off) {
    const auto cut = [this](const std::string& fault) {
        raw_client client(server.port());
        const auto body = request();
        client.send(
            "POST /v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse HTTP/1.1\r\nHost: x\r\nx-goog-api-key: k\r\nX-Fault: " +
            fault + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
        return client.answer();
    };
    const auto mid = cut("cut_sse=mid_record");
    BOOST_TEST(!mid.complete);
    const auto between = cut("cut_sse=between");
    BOOST_TEST(!between.complete);
    const auto error = cut("sse_error");
    BOOST_TEST(error.complete);
    BOOST_TEST(records_in(error.body).back().at("error").at("status").as_string() == "UNAVAILABLE");
}

BOOST_AUTO_TEST_CASE(a_prompt_may_hold_the_fault) {
    refuses(503, "UNAVAILABLE", ask(request({}, "Transcribe. <context>fault: status=503</context> Text only.")));
    refuses(400, "INVALID_ARGUMENT", ask(request({}, "fault: early_401")));
    refuses(400, "INVALID_ARGUMENT", ask(request({}, "fault: everything")), "There is no fault 'everything'");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_CASE(what_was_asked_is_kept, bed) {
    ask(request(R"(,"generationConfig":{"temperature":0})", "Hear this."));
    const auto seen = server.seen();
    BOOST_TEST_REQUIRE(seen.last.size() == 1u);
    const auto& one = seen.last.front();
    BOOST_TEST(one.path == "/v1beta/models/gemini-3.8-flash:generateContent");
    BOOST_TEST(*one.field("model") == "gemini-3.8-flash");
    BOOST_TEST(*one.field("text") == "Hear this.");
    BOOST_TEST(*one.field("generationConfig") == R"({"temperature":0})");
    BOOST_TEST_REQUIRE(one.files.size() == 1u);
    BOOST_TEST(one.files[0].type == "audio/wav");
    BOOST_TEST(one.files[0].bytes == bytes.size());
    BOOST_TEST(hex_of(one.files[0].sha256) == hex_of(sha256_of(bytes)));
}
