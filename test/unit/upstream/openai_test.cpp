// The upstream double as a server of OpenAI's audio API: what each model answers, and what it refuses in which words.
#define BOOST_TEST_MODULE upstream_openai
#include <boost/test/unit_test.hpp>

#include <bench/upstream/heard.hpp>
#include <bench/upstream/openai_rules.hpp>

#include "upstream_bed.hpp"

using namespace hearonce;
using namespace hearonce::test;
using upstream::double_server;
using upstream::hear;
using upstream::settings;

namespace {

const std::string bytes = some_bytes();
const upstream::heard what = hear(sha256_of(bytes));

struct bed {
    double_server server;

    raw_answer ask(std::vector<form_part> fields = {}, const std::string& model = "whisper-1", const std::string& path = transcriptions) {
        return post(server.port(), path, upload(bytes, std::move(fields), model));
    }
    raw_answer ask_as(const std::string& format, const std::string& model = "whisper-1") {
        return ask({{"response_format", format}}, model);
    }
    void refuses(const std::string& why, std::vector<form_part> fields, const std::string& model = "whisper-1", int status = 400) {
        const auto answer = ask(std::move(fields), model);
        BOOST_TEST(answer.status == status, answer.body);
        BOOST_TEST(error_in(answer) == why);
    }
};

// The data of each record; every record is one `data:` line.
std::vector<std::string> records_in(const std::string& body) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < body.size();) {
        const auto end = body.find("\n\n", at);
        BOOST_TEST_REQUIRE(end != std::string::npos);
        const auto record = body.substr(at, end - at);
        BOOST_TEST_REQUIRE(record.starts_with("data: "), record);
        BOOST_TEST(record.find('\n') == std::string::npos);
        all.push_back(record.substr(6));
        at = end + 2;
    }
    return all;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(bodies, bed)

BOOST_AUTO_TEST_CASE(json_by_whisper_tells_seconds) {
    const auto answer = ask();
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("content-type") == "application/json");
    BOOST_TEST(answer.header("openai-version") == "2020-10-01");
    BOOST_TEST(answer.header("x-request-id").starts_with("req_"));
    const auto value = json_of(answer);
    BOOST_TEST(value.as_object().size() == 2u);
    BOOST_TEST(value.at("text").as_string() == what.text);
    BOOST_TEST(value.at("usage").at("type").as_string() == "duration");
    BOOST_TEST(value.at("usage").at("seconds").as_int64() == (what.duration_ms + 999) / 1000);
}

BOOST_AUTO_TEST_CASE(json_by_gpt_tells_tokens) {
    for (const char* model : {"gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-4o-mini-transcribe-2025-12-15", "gpt-transcribe"}) {
        const auto usage = json_of(ask({}, model)).at("usage");
        BOOST_TEST(usage.at("type").as_string() == "tokens", model);
        BOOST_TEST(usage.at("total_tokens").as_int64() == usage.at("input_tokens").as_int64() + usage.at("output_tokens").as_int64());
    }
}

BOOST_AUTO_TEST_CASE(text_and_subtitles_are_plain_text) {
    const auto text = ask_as("text");
    BOOST_TEST(text.header("content-type") == "text/plain; charset=utf-8");
    BOOST_TEST(text.body == what.text + "\n");
    const auto srt = ask_as("srt");
    BOOST_TEST(srt.header("content-type") == "text/plain; charset=utf-8");
    BOOST_TEST(srt.body.starts_with("1\n00:00:00,000 --> 00:00:0"), srt.body);
    BOOST_TEST(srt.body.find("\n" + what.segments[0].text + "\n\n2\n") != std::string::npos);
    const auto vtt = ask_as("vtt");
    BOOST_TEST(vtt.header("content-type") == "text/plain; charset=utf-8");
    BOOST_TEST(vtt.body.starts_with("WEBVTT\n\n00:00:00.000 --> 00:00:0"), vtt.body);
    BOOST_TEST(vtt.body.find("\n" + what.segments[2].text + "\n\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(verbose_has_what_was_asked_for) {
    const auto plain = json_of(ask_as("verbose_json"));
    BOOST_TEST(plain.at("task").as_string() == "transcribe");
    BOOST_TEST(plain.at("language").as_string() == "english");
    BOOST_TEST(plain.at("duration").is_double());
    BOOST_TEST(!plain.as_object().contains("words"));
    BOOST_TEST_REQUIRE(plain.at("segments").as_array().size() == 3u);
    const auto& segment = plain.at("segments").as_array()[1].as_object();
    BOOST_TEST(segment.size() == 10u);
    for (const char* name :
         {"id", "seek", "start", "end", "text", "tokens", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob"})
        BOOST_TEST((segment.contains(name) && !segment.at(name).is_null()), name);
    BOOST_TEST(segment.at("text").as_string() == " " + what.segments[1].text);

    const auto words = json_of(ask({{"response_format", "verbose_json"}, {"timestamp_granularities[]", "word"}, {"language", "de"}}));
    BOOST_TEST(words.at("language").as_string() == "german");
    BOOST_TEST(!words.as_object().contains("segments"));
    BOOST_TEST(words.at("words").as_array().size() == 12u);
    BOOST_TEST(words.at("words").as_array()[3].at("word").as_string() == what.words[3].word);

    const auto both = json_of(
        ask({{"response_format", "verbose_json"}, {"timestamp_granularities[]", "word"}, {"timestamp_granularities[]", "segment"}}));
    BOOST_TEST(both.as_object().contains("words"));
    BOOST_TEST(both.as_object().contains("segments"));
}

BOOST_AUTO_TEST_CASE(diarized_has_turns) {
    const auto value = json_of(ask_as("diarized_json", "gpt-4o-transcribe-diarize"));
    const auto& turns = value.at("segments").as_array();
    BOOST_TEST_REQUIRE(turns.size() == 3u);
    BOOST_TEST(turns[0].at("id").as_string() == "seg_001");
    BOOST_TEST(turns[0].at("type").as_string() == "transcript.text.segment");
    BOOST_TEST(turns[1].at("speaker").as_string() == "B");
    BOOST_TEST(turns[1].at("text").as_string() == what.segments[1].text);
    BOOST_TEST(value.at("text").as_string() == what.text);
    BOOST_TEST(value.at("usage").at("type").as_string() == "duration");
}

BOOST_AUTO_TEST_CASE(logprobs_and_languages) {
    const auto probable = json_of(ask({{"include[]", "logprobs"}}, "gpt-4o-transcribe")).at("logprobs").as_array();
    BOOST_TEST_REQUIRE(probable.size() == 12u);
    std::string tokens;
    for (const auto& one : probable) tokens += std::string(one.at("token").as_string());
    BOOST_TEST(tokens == what.text);
    BOOST_TEST(probable[1].at("bytes").as_array()[0].as_int64() == ' ');
    const auto value = json_of(ask({{"languages[]", "de"}, {"languages[]", "en"}, {"keywords[]", "Müller"}}, "gpt-transcribe"));
    BOOST_TEST(value.at("languages").as_array()[0].at("code").as_string() == "en");
}

BOOST_AUTO_TEST_CASE(translations_are_english) {
    const auto value = json_of(ask({{"response_format", "verbose_json"}}, "whisper-1", "/v1/audio/translations"));
    BOOST_TEST(value.at("task").as_string() == "translate");
    BOOST_TEST(value.at("language").as_string() == "english");
    BOOST_TEST(text_in(ask({}, "whisper-1", "/v1/audio/translations")) == what.text);
    const auto wrong = ask({{"response_format", "diarized_json"}}, "whisper-1", "/v1/audio/translations");
    BOOST_TEST(wrong.status == 400);
    BOOST_TEST(ask({}, "gpt-4o-transcribe", "/v1/audio/translations").status == 400);
}

BOOST_AUTO_TEST_CASE(every_prefix_is_the_same_api) {
    BOOST_TEST(text_in(ask({}, "whisper-large-v3", "/openai/v1/audio/transcriptions")) == what.text);
    const auto azure = post(server.port(), "/openai/deployments/gpt-4o-transcribe/audio/transcriptions?api-version=2025-03-01",
                            {{"file", bytes, "note.wav", "audio/wav"}}, "api-key: k\r\n");
    BOOST_TEST(text_in(azure) == what.text);
    BOOST_TEST(json_of(azure).at("usage").at("type").as_string() == "tokens");
}

BOOST_AUTO_TEST_CASE(the_file_may_come_first_and_in_chunks) {
    const auto form = form_body("b", {{"file", bytes, "note.wav", "audio/wav"}, {"model", "whisper-1"}});
    std::string body;
    for (std::size_t at = 0; at < form.size(); at += 700) {
        const auto piece = form.substr(at, 700);
        char size[16];
        std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
        body += size + piece + "\r\n";
    }
    raw_client client(server.port());
    client.send("POST " + transcriptions +
                " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n" +
                body + "0\r\n\r\n");
    BOOST_TEST(text_in(read_answer(client)) == what.text);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(streams, bed)

BOOST_AUTO_TEST_CASE(deltas_join_to_the_text) {
    const auto answer = ask({{"stream", "true"}}, "gpt-4o-transcribe");
    BOOST_TEST(answer.header("content-type") == "text/event-stream");
    BOOST_TEST(answer.complete);
    const auto records = records_in(answer.body);
    BOOST_TEST_REQUIRE(records.size() == 13u);
    std::string joined;
    for (std::size_t index = 0; index < 12; ++index) {
        const auto value = boost::json::parse(records[index]);
        BOOST_TEST(value.at("type").as_string() == "transcript.text.delta");
        joined += std::string(value.at("delta").as_string());
    }
    const auto done = boost::json::parse(records.back());
    BOOST_TEST(done.at("type").as_string() == "transcript.text.done");
    BOOST_TEST(done.at("text").as_string() == what.text);
    BOOST_TEST(done.at("usage").at("type").as_string() == "tokens");
    BOOST_TEST(joined == what.text);
}

BOOST_AUTO_TEST_CASE(turns_are_told_when_they_end) {
    const auto answer = ask({{"stream", "true"}, {"response_format", "diarized_json"}}, "gpt-4o-transcribe-diarize");
    std::vector<std::string> turns;
    std::string since;
    for (const auto& record : records_in(answer.body)) {
        const auto value = boost::json::parse(record);
        if (value.at("type").as_string() == "transcript.text.delta") since += std::string(value.at("delta").as_string());
        if (value.at("type").as_string() != "transcript.text.segment") continue;
        turns.emplace_back(value.at("text").as_string());
        BOOST_TEST((since == turns.back() || since == " " + turns.back()), since);
        since.clear();
    }
    BOOST_TEST(turns.size() == 3u);
}

BOOST_AUTO_TEST_CASE(whisper_does_not_stream) {
    for (const char* model : {"whisper-1", "whisper-large-v3"}) {
        const auto answer = ask({{"stream", "true"}}, model);
        BOOST_TEST(answer.header("content-type") == "application/json", model);
        BOOST_TEST(text_in(answer) == what.text);
    }
    BOOST_TEST(ask({{"stream", "false"}}, "gpt-4o-transcribe").header("content-type") == "application/json");
    refuses("invalid_request_error/stream/null", {{"stream", "yes"}}, "gpt-4o-transcribe");
}

BOOST_AUTO_TEST_CASE(logprobs_come_with_each_delta) {
    const auto records = records_in(ask({{"stream", "true"}, {"include[]", "logprobs"}}, "gpt-4o-transcribe").body);
    BOOST_TEST(boost::json::parse(records[1]).at("logprobs").as_array()[0].at("token").as_string() == " " + what.words[1].word);
    BOOST_TEST(boost::json::parse(records.back()).at("logprobs").as_array().size() == 12u);
}

BOOST_AUTO_TEST_CASE(the_done_marker_is_a_setting) {
    settings how;
    how.done_marker = true;
    const double_server marked(how);
    const auto answer = post(marked.port(), transcriptions, upload(bytes, {{"stream", "true"}}, "gpt-4o-transcribe"));
    BOOST_TEST(records_in(answer.body).back() == "[DONE]");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(refusals, bed)

BOOST_AUTO_TEST_CASE(formats_by_model) {
    const std::vector<std::pair<std::string, std::string>> taken = {{"whisper-1", "json text srt verbose_json vtt"},
                                                                    {"whisper-large-v3-turbo", "json text verbose_json"},
                                                                    {"gpt-4o-transcribe", "json text"},
                                                                    {"gpt-4o-mini-transcribe", "json text"},
                                                                    {"gpt-transcribe", "json text"},
                                                                    {"gpt-4o-transcribe-diarize", "json text diarized_json"}};
    for (const auto& [model, list] : taken) {
        for (const std::string format : {"json", "text", "srt", "verbose_json", "vtt", "diarized_json"}) {
            const bool takes = (" " + list + " ").find(" " + format + " ") != std::string::npos;
            const auto answer = ask_as(format, model);
            BOOST_TEST(answer.status == (takes ? 200 : 400), model << " " << format);
            if (!takes) BOOST_TEST(error_in(answer) == "invalid_request_error/response_format/unsupported_value");
        }
    }
    refuses("invalid_request_error/response_format/unsupported_value", {{"response_format", "xml"}});
}

BOOST_AUTO_TEST_CASE(models) {
    refuses("invalid_request_error/null/model_not_found", {}, "whisper-2", 404);
    const auto none = post(server.port(), transcriptions, {{"file", bytes, "note.wav", "audio/wav"}});
    BOOST_TEST(error_in(none) == "invalid_request_error/model/null");
    settings how;
    how.any_model = true;
    const double_server open(how);
    BOOST_TEST(text_in(post(open.port(), transcriptions, upload(bytes, {}, "whisper-2"))) == what.text);
}

BOOST_AUTO_TEST_CASE(fields) {
    refuses("invalid_request_error/temperature/null", {{"temperature", "1.1"}});
    refuses("invalid_request_error/temperature/null", {{"temperature", "-0.1"}});
    refuses("invalid_request_error/temperature/null", {{"temperature", "warm"}});
    refuses("invalid_request_error/timestamp_granularities/null", {{"timestamp_granularities[]", "letter"}});
    refuses("invalid_request_error/timestamp_granularities/null", {{"timestamp_granularities[]", "word"}}, "gpt-4o-transcribe-diarize");
    refuses("invalid_request_error/include/null", {{"include[]", "everything"}}, "gpt-4o-transcribe");
    refuses("invalid_request_error/include/null", {{"include[]", "logprobs"}});
    refuses("invalid_request_error/include/null", {{"include[]", "logprobs"}, {"response_format", "text"}}, "gpt-4o-transcribe");
    refuses("invalid_request_error/languages[]/null", {{"languages[]", "de"}});
    refuses("invalid_request_error/languages[]/null", {{"language", "de"}, {"languages[]", "de"}}, "gpt-transcribe");
    refuses("invalid_request_error/keywords[]/null", {{"keywords[]", "a<b"}}, "gpt-transcribe");
    refuses("invalid_request_error/prompt/null", {{"prompt", "Ann"}}, "gpt-4o-transcribe-diarize");
    const form_part speaker{"known_speaker_names[]", "x"};
    BOOST_TEST(ask({speaker, speaker, speaker, speaker}, "gpt-4o-transcribe-diarize").status == 200);
    refuses("invalid_request_error/known_speaker_names/null", {speaker, speaker, speaker, speaker, speaker}, "gpt-4o-transcribe-diarize");
    for (const char* fine : {"0", "0.0", "1", "0.2", ""}) BOOST_TEST(ask({{"temperature", fine}}).status == 200, fine);
    // The AI SDK sends times with json.
    BOOST_TEST(ask({{"timestamp_granularities[]", "segment"}, {"response_format", "json"}}, "gpt-4o-transcribe").status == 200);
}

BOOST_AUTO_TEST_CASE(the_name_decides_the_format) {
    const auto named = [this](const std::string& name) {
        return post(server.port(), transcriptions, {{"model", "whisper-1"}, {"file", bytes, name, "audio/wav"}});
    };
    for (const char* ending : {"flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm", "WAV"})
        BOOST_TEST(named(std::string("note.") + ending).status == 200, ending);
    for (const char* name : {"note", "blob", "audio/wav", "note.wav.txt", "note.", "", "note.opus"}) {
        const auto answer = named(name);
        BOOST_TEST(answer.status == 400, name);
        BOOST_TEST(std::string(json_of(answer).at("error").at("message").as_string())
                       .starts_with("Invalid file format. Supported formats: ['flac'"));
    }
}

BOOST_AUTO_TEST_CASE(files) {
    BOOST_TEST(error_in(post(server.port(), transcriptions, {{"model", "whisper-1"}})) == "invalid_request_error/file/null");
    BOOST_TEST(error_in(post(server.port(), transcriptions, {{"model", "whisper-1"}, {"file", "", "a.wav", "audio/wav"}})) ==
               "invalid_request_error/file/audio_too_short");
    // Some clients send the bytes twice, under two names.
    BOOST_TEST(post(server.port(), transcriptions, upload(bytes, {{"audio_file", bytes, "@audio.m4a", "audio/mp4"}})).status == 200);
}

BOOST_AUTO_TEST_CASE(forms) {
    raw_client client(server.port());
    client.send("POST " + transcriptions + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    BOOST_TEST(read_answer(client).status == 400);
    const auto cut = form_body("b", upload(bytes));
    client.send(post_form(transcriptions, cut.substr(0, cut.size() - 8), "b"));
    BOOST_TEST(error_in(read_answer(client)) == "invalid_request_error/null/null");
    // Both were read to their end, so the connection goes on.
    client.send(post_form(transcriptions, cut, "b"));
    BOOST_TEST(read_answer(client).status == 200);
    BOOST_TEST(server.seen().of(sha256_of(bytes)) == 1u);
}

BOOST_AUTO_TEST_CASE(keys) {
    settings how;
    how.key = "sk-right";
    const double_server closed(how);
    const auto with = [&](const std::string& header) { return post(closed.port(), transcriptions, upload(bytes), header); };
    BOOST_TEST(with("Authorization: Bearer sk-right\r\n").status == 200);
    BOOST_TEST(with("api-key: sk-right\r\n").status == 200);
    for (const char* wrong : {"", "Authorization: Bearer sk-wrong\r\n", "Authorization: sk-right\r\n"}) {
        BOOST_TEST(with(wrong).status == 401, wrong);
        BOOST_TEST(error_in(with(wrong)) == "invalid_request_error/null/invalid_api_key");
    }
    BOOST_TEST(get(closed.port(), "/v1/models").status == 401);
    BOOST_TEST(get(closed.port(), "/v1/models", "Authorization: Bearer sk-right\r\n").status == 200);
}

// The whole body counts, not the file.
BOOST_AUTO_TEST_CASE(size_to_the_byte) {
    const auto around = form_body("b", upload("")).size();
    const auto with_total = [&](std::size_t total) {
        raw_client client(server.port());
        client.send(post_form(transcriptions, form_body("b", upload(std::string(total - around, 'x'))), "b"));
        return read_answer(client);
    };
    const auto most = static_cast<std::size_t>(upstream::openai_body_bytes_max);
    BOOST_TEST(most == 25u * 1024 * 1024);
    BOOST_TEST(with_total(most - 1).status == 200);
    BOOST_TEST(with_total(most).status == 200);
    const auto more = with_total(most + 1);
    BOOST_TEST(more.status == 413);
    BOOST_TEST(error_in(more) == "server_error/null/null");
    BOOST_TEST(json_of(more).at("error").at("message").as_string() ==
               "Maximum content size limit (26214400) exceeded (26214401 bytes read)");
}

BOOST_AUTO_TEST_CASE(other_paths) {
    const auto answer = get(server.port(), "/v1/nothing");
    BOOST_TEST(answer.status == 404);
    BOOST_TEST(error_in(answer) == "invalid_request_error/null/null");
    BOOST_TEST(json_of(answer).at("error").at("message").as_string() == "Invalid URL (GET /v1/nothing)");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_CASE(models_are_listed, bed) {
    const auto listed = json_of(get(server.port(), "/v1/models"));
    BOOST_TEST(listed.at("object").as_string() == "list");
    for (const auto& one : listed.at("data").as_array()) {
        const std::string id(one.at("id").as_string());
        BOOST_TEST(json_of(get(server.port(), "/v1/models/" + id)) == one);
        BOOST_TEST((upstream::kind_of_model(id) != upstream::model_kind::unknown), id);
        BOOST_TEST(one.as_object().contains("shutdown_date"));
        BOOST_TEST(ask({}, id).status == 200, id);
    }
    BOOST_TEST(get(server.port(), "/v1/models/none").status == 404);
    BOOST_TEST(server.seen().other_requests == 2 + listed.at("data").as_array().size());
}

BOOST_AUTO_TEST_CASE(the_language_can_be_told) {
    settings how;
    how.tell_language = true;
    const double_server server(how);
    BOOST_TEST(text_in(post(server.port(), transcriptions, upload(bytes, {{"language", "de"}}))) == what.text + " [de]");
    BOOST_TEST(text_in(post(server.port(), transcriptions, upload(bytes))) == what.text);
    const auto streamed =
        post(server.port(), transcriptions,
             upload(bytes, {{"language", "de"}, {"stream", "true"}, {"response_format", "diarized_json"}}, "gpt-4o-transcribe-diarize"));
    std::string joined;
    for (const auto& record : records_in(streamed.body)) {
        const auto value = boost::json::parse(record);
        if (value.as_object().contains("delta")) joined += std::string(value.at("delta").as_string());
    }
    BOOST_TEST(joined == what.text + " [de]");
}
