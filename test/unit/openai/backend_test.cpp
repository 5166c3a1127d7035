// The whole backend against peers that do what they are told: what arrives, what comes back, whose key goes, how each call
// may fail, and that nothing is left behind.
#define BOOST_TEST_MODULE openai_backend
#include <boost/test/unit_test.hpp>

#include "recordings.hpp"

#include <backends/openai/openai_backend.hpp>
#include <net/one_call.hpp>
#include <test/support/certificate.hpp>
#include <test/support/scratch.hpp>
#include <test/support/scripted_server.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <functional>
#include <thread>

using namespace hearonce;
using namespace hearonce::openai;
using namespace hearonce::test;
namespace asio = boost::asio;
using end = scripted_reply::end;
using std::chrono::milliseconds;

namespace {

const std::string operators_key = "sk-operator-0123456789abcdef";
const std::string callers_key = "sk-caller-fedcba9876543210";
const std::string hello = R"({"text":"hello world"})";

scripted_reply json_of(int status, const std::string& body) {
    return answering(http_text(status, "application/json", body));
}

struct bed {
    explicit bed(std::string base_url) {
        settings.base_url = std::move(base_url);
        settings.credential = secret(operators_key);
        settings.log = [this](const std::string& line) { lines.push_back(line); };
        request.model = "whisper-1";
    }

    // One piece of work to its end; the loop must be empty then, and nothing may hold the recording.
    result<transcript> run(asio::cancellation_signal* cancel = nullptr, const std::function<void(asio::io_context&)>& meanwhile = {}) {
        asio::io_context loop(1);
        std::optional<result<transcript>> heard;
        asio::cancellation_signal unused;
        {
            const auto backend = create_openai_backend(settings);
            auto work = backend->transcribe(audio, request, terms);
            asio::co_spawn(loop, deadline_detail::optional_of(std::move(work)),
                           asio::bind_cancellation_slot((cancel ? *cancel : unused).slot(), [&](std::exception_ptr thrown, auto value) {
                               if (thrown) std::rethrow_exception(thrown);
                               heard = std::move(value);
                               net::close_idle_connections(loop);
                           }));
        }
        std::thread other([&] {
            if (meanwhile) meanwhile(loop);
        });
        loop.run_for(std::chrono::seconds(30));
        other.join();
        BOOST_TEST_REQUIRE(heard.has_value(), "the work did not end");
        BOOST_TEST(loop.stopped(), "the work left something behind");
        BOOST_TEST(audio.use_count() == 1, "the work left its recording behind");
        check_silence(*heard);
        return std::move(*heard);
    }

    // No key in anything that is told or logged.
    void check_silence(const result<transcript>& heard) {
        std::string all = heard ? heard->text : std::string(heard.error().message()) + std::string(heard.error().param());
        for (const auto& line : lines) all += line;
        BOOST_TEST(all.find(operators_key.substr(3, 8)) == std::string::npos, all);
        BOOST_TEST(all.find(callers_key.substr(3, 8)) == std::string::npos, all);
    }

    std::string told() {
        std::string all;
        if (!terms.deltas) return all;
        delta_reader reader(terms.deltas);
        for (const auto* piece : reader.take()) all += piece->text;
        return all;
    }

    openai_settings settings;
    transcription_request request;
    attempt terms{deadline::after(std::chrono::seconds(20))};
    std::shared_ptr<recording> audio = recording_of("RIFF some sound");
    std::vector<std::string> lines;
};

std::string header_of(const std::string& request, const std::string& name) {
    const auto at = request.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return request.substr(begin, request.find("\r\n", begin) - begin);
}

error why(const result<transcript>& heard) {
    BOOST_TEST_REQUIRE(!heard.has_value());
    return heard.error();
}

// One call against one reply.
result<transcript> against(scripted_reply reply, const std::function<void(bed&)>& change = {}) {
    scripted_server peer({std::move(reply)});
    bed work(peer.url("/v1"));
    if (change) change(work);
    return work.run();
}

std::string events(const std::string& records) {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n" + records;
}

void stream(bed& work) {
    work.request.model = "gpt-transcribe";
    work.terms.deltas = std::make_shared<delta_log>();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(one_call)

BOOST_AUTO_TEST_CASE(the_form_goes_out_and_the_text_comes_back) {
    scripted_server peer({json_of(200, R"({"text":" hello world\n","usage":{"type":"duration","seconds":2}})")});
    bed work(peer.url("/v1/"));
    work.request.fields = {{"language", "de"}, {"prompt", "x"}};
    const auto heard = work.run();
    BOOST_TEST_REQUIRE(heard.has_value());
    BOOST_TEST(heard->text == "hello world");
    BOOST_TEST(heard->backend == "openai");
    BOOST_TEST(heard->duration_seconds == 2);
    const std::string sent = peer.request(0);
    BOOST_TEST(sent.starts_with("POST /v1/audio/transcriptions HTTP/1.1\r\n"));
    BOOST_TEST(header_of(sent, "Authorization") == "Bearer " + operators_key);
    BOOST_TEST(header_of(sent, "Content-Type").starts_with("multipart/form-data; boundary=hearonce-"));
    BOOST_TEST(header_of(sent, "OpenAI-Organization").empty());
    BOOST_TEST(sent.find("name=\"language\"\r\n\r\nde\r\n") != std::string::npos);
    BOOST_TEST(sent.find("filename=\"note.wav\"\r\nContent-Type: audio/wav\r\n\r\nRIFF some sound\r\n--hearonce-") != std::string::npos);
    BOOST_TEST(sent.ends_with("--\r\n"));
}

BOOST_AUTO_TEST_CASE(a_recording_in_a_file_arrives_as_well) {
    scripted_server peer({json_of(200, hello)});
    bed work(peer.url());
    std::string sound(600'000, 's');
    for (std::size_t i = 0; i < sound.size(); ++i) sound[i] = static_cast<char>('a' + i % 23);
    work.audio = recording_of(std::make_shared<file_bytes>(sound, sound.size()));
    BOOST_TEST(work.run().has_value());
    BOOST_TEST((peer.request(0).find(sound) != std::string::npos));
}

BOOST_AUTO_TEST_CASE(translations_go_to_their_own_path) {
    scripted_server peer({json_of(200, hello)});
    bed work(peer.url("/openai/v1"));
    work.request.task = task::translate;
    BOOST_TEST(work.run().has_value());
    BOOST_TEST(peer.request(0).starts_with("POST /openai/v1/audio/translations HTTP/1.1\r\n"));
}

BOOST_AUTO_TEST_CASE(a_query_stays_behind_the_path) {
    scripted_server peer({json_of(200, hello)});
    bed work(peer.url("/v1?api-version=1"));
    BOOST_TEST(work.run().has_value());
    BOOST_TEST(peer.request(0).starts_with("POST /v1/audio/transcriptions?api-version=1 HTTP/1.1\r\n"));
}

BOOST_AUTO_TEST_CASE(an_alias_names_the_upstreams_model) {
    scripted_server peer({json_of(200, hello)});
    bed work(peer.url("/v1"));
    work.settings.model_alias = {{"whisper-1", "Systran/faster-whisper-small"}};
    BOOST_TEST(work.run().has_value());
    BOOST_TEST(peer.request(0).find("name=\"model\"\r\n\r\nSystran/faster-whisper-small\r\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(whose_key_is_sent) {
    for (const bool has_operators : {true, false}) {
        for (const std::string& callers : {std::string("none"), std::string(), callers_key}) {
            scripted_server peer({json_of(200, hello)});
            bed work(peer.url());
            if (!has_operators) work.settings.credential = secret();
            if (callers != "none") work.terms.key = std::make_shared<secret>(callers);
            work.terms.organization = "org-a";
            work.terms.project = "proj-b";
            BOOST_TEST(work.run().has_value());
            const std::string sent = peer.request(0);
            const std::string expected = callers == "none" ? (has_operators ? operators_key : "") : callers;
            BOOST_TEST(header_of(sent, "Authorization") == (expected.empty() ? "" : "Bearer " + expected));
            BOOST_TEST((callers == "none" || sent.find(operators_key) == std::string::npos));
            BOOST_TEST(header_of(sent, "OpenAI-Organization") == "org-a");
            BOOST_TEST(header_of(sent, "OpenAI-Project") == "proj-b");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_model_that_ends_is_named_in_the_log_once_and_at_openai_only) {
    bed work("http://api.openai.com:1/v1");
    work.terms.limit = deadline::after(milliseconds(0));
    asio::io_context loop(1);
    const auto backend = create_openai_backend(work.settings);
    for (const std::string model : {"whisper-1", "whisper-1", "gpt-transcribe", "gpt-4o-transcribe"}) {
        work.request.model = model;
        asio::co_spawn(loop, deadline_detail::optional_of(backend->transcribe(work.audio, work.request, work.terms)),
                       [](std::exception_ptr thrown, auto heard) { BOOST_TEST((!thrown && !heard->has_value())); });
    }
    loop.run_for(std::chrono::seconds(20));
    std::string ends;
    for (const auto& line : work.lines) {
        if (line.find("2027-02-26") != std::string::npos) ends += line + "|";
    }
    BOOST_TEST(ends ==
               "model whisper-1 ends on 2027-02-26; gpt-transcribe is there to replace it|"
               "model gpt-4o-transcribe ends on 2027-02-26; gpt-transcribe is there to replace it|");
    BOOST_TEST(backend->shutdown_date("whisper-1") == "2027-02-26");
    BOOST_TEST(create_openai_backend(bed("http://127.0.0.1/v1").settings)->shutdown_date("whisper-1") == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(refusals)

BOOST_AUTO_TEST_CASE(an_upstreams_refusal_about_the_request_keeps_status_and_message) {
    const auto reason = why(against(json_of(
        400,
        R"({"error":{"message":"audio duration 1830.53 seconds is longer than 1400 seconds","type":"invalid_request_error","param":null,"code":"invalid_value"}})")));
    BOOST_TEST(reason.status() == 400);
    BOOST_TEST(reason.message() == "audio duration 1830.53 seconds is longer than 1400 seconds");
    BOOST_TEST((reason.remedy() == remedy::none));
}

BOOST_AUTO_TEST_CASE(a_refused_key_is_the_callers_or_the_operators_matter) {
    const std::string body = R"({"error":{"message":"Incorrect API key provided: )" + operators_key + " and " + callers_key +
                             R"(","type":"invalid_request_error","param":null,"code":"invalid_api_key"}})";
    scripted_server peer({json_of(401, body), json_of(401, body)});
    bed work(peer.url());
    const auto operators = why(work.run());
    BOOST_TEST(operators.status() == 502);
    BOOST_TEST((operators.remedy() == remedy::elsewhere));
    BOOST_TEST_REQUIRE(work.lines.size() == 1U);
    BOOST_TEST(work.lines.front().find("refuses the configured key") != std::string::npos);
    work.terms.key = std::make_shared<secret>(callers_key);
    const auto callers = why(work.run());
    BOOST_TEST(callers.status() == 401);
    BOOST_TEST((callers.code() == errc::invalid_api_key));
    BOOST_TEST(work.lines.size() == 1U, "a caller's wrong key is no news for the operator");
}

BOOST_AUTO_TEST_CASE(retry_after_is_handed_on) {
    auto reply = answering("HTTP/1.1 429 X\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}");
    const auto reason = why(against(std::move(reply)));
    BOOST_TEST((reason.code() == errc::rate_limit_exceeded));
    BOOST_TEST((reason.retry_after() == std::chrono::seconds(7)));
    BOOST_TEST((reason.remedy() == remedy::again));
}

BOOST_AUTO_TEST_CASE(a_200_that_is_no_transcript_is_never_told) {
    for (const std::string body : {"<html>sign in</html>", "", "{", R"({"message":"hm"})", R"({"text":null})", R"(["text"])"}) {
        const auto reason = why(against(answering(http_text(200, "text/html", body))));
        BOOST_TEST(reason.status() == 502);
        BOOST_TEST(reason.message() == "The backend's answer is not a transcript.");
        BOOST_TEST((reason.remedy() == remedy::none));
    }
}

BOOST_AUTO_TEST_CASE(a_redirect_is_not_followed) {
    scripted_server other({json_of(200, hello)});
    const auto reason = why(against(answering("HTTP/1.1 307 X\r\nLocation: " + other.url("/v1") + "\r\nContent-Length: 0\r\n\r\n")));
    BOOST_TEST(reason.status() == 502);
    BOOST_TEST((reason.remedy() == remedy::elsewhere));
    BOOST_TEST(other.requests() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(broken_calls)

BOOST_AUTO_TEST_CASE(nobody_listens) {
    std::string nobody;
    {
        const scripted_server gone({});
        nobody = gone.url();
    }
    bed work(nobody);
    const auto reason = why(work.run());
    BOOST_TEST(reason.status() == 502);
    BOOST_TEST(reason.message() == "The backend could not be reached.");
    BOOST_TEST((reason.remedy() == remedy::again));
    BOOST_TEST_REQUIRE(work.lines.size() == 1U);
    BOOST_TEST(work.lines.front().find("cannot connect to 127.0.0.1:") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(cut_while_sending_may_be_sent_again) {
    scripted_reply reply;
    reply.body_bytes = 1000;
    reply.then = end::reset;
    const auto reason = why(against(std::move(reply), [](bed& work) { work.audio = recording_of(std::string(8 * 1024 * 1024, 'x')); }));
    BOOST_TEST(reason.status() == 502);
    BOOST_TEST((reason.remedy() == remedy::again));
}

BOOST_AUTO_TEST_CASE(cut_after_sending_may_not) {
    for (const auto how : {end::close, end::reset}) {
        scripted_reply silent;
        silent.then = how;
        BOOST_TEST((why(against(std::move(silent))).remedy() == remedy::none));
        auto half = answering("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"text\":");
        half.then = how;
        const auto reason = why(against(std::move(half)));
        BOOST_TEST(reason.status() == 502);
        BOOST_TEST((reason.remedy() == remedy::none));
    }
}

BOOST_AUTO_TEST_CASE(the_limit_passes) {
    scripted_reply mute;
    mute.then = end::hold;
    const auto reason = why(against(std::move(mute), [](bed& work) { work.terms.limit = deadline::after(milliseconds(300)); }));
    BOOST_TEST((reason.code() == errc::upstream_timeout));
    BOOST_TEST((reason.remedy() == remedy::none));
}

BOOST_AUTO_TEST_CASE(cancelled_while_it_waits) {
    scripted_reply mute;
    mute.then = end::hold;
    scripted_server peer({std::move(mute)});
    bed work(peer.url());
    asio::cancellation_signal cancel;
    const auto reason = why(work.run(&cancel, [&](asio::io_context& loop) {
        peer.request(0);
        asio::post(loop, [&] { cancel.emit(asio::cancellation_type::terminal); });
    }));
    BOOST_TEST((reason.code() == errc::cancelled));
}

BOOST_AUTO_TEST_CASE(a_recording_that_cannot_be_read_is_nobodys_elses_matter) {
    scripted_reply mute;
    mute.then = end::hold;
    const auto reason =
        why(against(std::move(mute), [](bed& work) { work.audio = recording_of(std::make_shared<file_bytes>("short", 5000)); }));
    BOOST_TEST((reason.code() == errc::internal_error));
    BOOST_TEST((reason.remedy() == remedy::none));
}

BOOST_AUTO_TEST_CASE(a_certificate_nobody_vouches_for_sends_work_elsewhere) {
    const auto strange = make_certificate("IP:127.0.0.1");
    const auto context = server_context(strange);
    scripted_server peer({json_of(200, hello)}, context.get());
    bed work(peer.url());
    work.settings.tls = *net::make_tls_context();
    const auto reason = why(work.run());
    BOOST_TEST(reason.message() == "The backend could not be reached.");
    BOOST_TEST((reason.remedy() == remedy::elsewhere));
    BOOST_TEST_REQUIRE(work.lines.size() == 1U);
    BOOST_TEST(work.lines.front().find("certificate") != std::string::npos, work.lines.front());
}

BOOST_AUTO_TEST_CASE(an_authority_of_ones_own_is_believed) {
    const scratch folder;
    const auto known = make_certificate("IP:127.0.0.1");
    const auto context = server_context(known);
    scripted_server peer({json_of(200, hello)}, context.get());
    bed work(peer.url());
    work.settings.tls = *net::make_tls_context(folder.write("ca.pem", known.pem));
    BOOST_TEST(work.run().has_value());
}

BOOST_AUTO_TEST_CASE(without_a_place_to_go) {
    for (const std::string url : {"nonsense", "ftp://127.0.0.1/v1", "https://127.0.0.1/v1"}) {
        bed work(url);
        BOOST_TEST(!create_openai_backend(work.settings)->state().ready);
        BOOST_TEST(why(work.run()).status() == 502);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(streaming)

BOOST_AUTO_TEST_CASE(pieces_are_told_as_they_come) {
    scripted_server peer(
        {answering(events("data: {\"type\":\"transcript.text.delta\",\"delta\":\" two\"}\n\n"
                          "data: {\"type\":\"transcript.text.delta\",\"delta\":\" birds\"}\n\n"
                          "data: {\"type\":\"transcript.text.done\",\"text\":\"two birds\"}\n\n"))});
    bed work(peer.url());
    stream(work);
    const auto heard = work.run();
    BOOST_TEST_REQUIRE(heard.has_value());
    BOOST_TEST(heard->text == "two birds");
    BOOST_TEST(work.told() == "two birds");
    BOOST_TEST(peer.request(0).find("name=\"stream\"\r\n\r\ntrue\r\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(only_models_that_stream_and_only_for_listeners) {
    for (const auto& [model, listens, asked] : {std::tuple("whisper-1", true, false), std::tuple("gpt-4o-transcribe", false, false),
                                                std::tuple("whisper-large-v3", true, false), std::tuple("gpt-4o-transcribe", true, true)}) {
        scripted_server peer({json_of(200, hello)});
        bed work(peer.url());
        if (listens) stream(work);
        work.request.model = model;
        const auto heard = work.run();
        // An answer in one piece is a success whatever was asked for.
        BOOST_TEST_REQUIRE(heard.has_value());
        BOOST_TEST(heard->text == "hello world");
        BOOST_TEST(work.told().empty());
        BOOST_TEST((peer.request(0).find("name=\"stream\"") != std::string::npos) == asked);
    }
}

BOOST_AUTO_TEST_CASE(a_cut_stream_is_no_success_and_nobody_may_begin_anew) {
    for (const auto how : {end::close, end::reset}) {
        auto reply = answering(events("data: {\"type\":\"transcript.text.delta\",\"delta\":\"two\"}\n\n"));
        reply.then = how;
        const auto reason = why(against(std::move(reply), stream));
        BOOST_TEST(reason.status() == 502);
        BOOST_TEST((reason.remedy() == remedy::none));
    }
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_after_the_end_breaks_nothing) {
    auto reply = answering(
        "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        "36\r\ndata: {\"type\":\"transcript.text.done\",\"text\":\"two\"}\n\n\r\n");
    reply.then = end::reset;
    const auto heard = against(std::move(reply), stream);
    BOOST_TEST_REQUIRE(heard.has_value());
    BOOST_TEST(heard->text == "two");
}

BOOST_AUTO_TEST_CASE(the_last_record_may_lack_its_blank_line) {
    const auto heard = against(answering(events("data: {\"type\":\"transcript.text.done\",\"text\":\"two\"}")), stream);
    BOOST_TEST_REQUIRE(heard.has_value());
    BOOST_TEST(heard->text == "two");
}

BOOST_AUTO_TEST_CASE(an_error_in_the_stream_ends_it) {
    auto reply =
        answering(events("data: {\"type\":\"transcript.text.delta\",\"delta\":\"two\"}\n\n"
                         "data: {\"type\":\"error\",\"error\":{\"message\":\"out of memory with " +
                         operators_key + "\"}}\n\n"));
    reply.then = end::hold;
    const auto reason = why(against(std::move(reply), stream));
    BOOST_TEST(reason.message() == "The backend broke off: out of memory with ***");
    BOOST_TEST((reason.remedy() == remedy::none));
}

BOOST_AUTO_TEST_CASE(a_record_without_an_end_is_bounded) {
    const auto reason = why(against(answering(events("data: " + std::string(9 * 1024 * 1024, 'x'))), stream));
    BOOST_TEST(reason.message() == "The backend's stream is not readable.");
    BOOST_TEST((reason.remedy() == remedy::none));
}

BOOST_AUTO_TEST_CASE(a_refusal_instead_of_a_stream) {
    const auto reason = why(against(json_of(400, R"({"error":{"message":"no"}})"), stream));
    BOOST_TEST(reason.status() == 400);
    BOOST_TEST(reason.message() == "no");
    BOOST_TEST(why(against(answering(events("")), stream)).status() == 502);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(the_face)

BOOST_AUTO_TEST_CASE(ready_with_what_it_needs) {
    openai_settings settings;
    settings.tls = *net::make_tls_context();
    BOOST_TEST(!create_openai_backend(settings)->state().ready);
    BOOST_TEST(create_openai_backend(settings)->state().reason.find("api_key_file") != std::string::npos);
    settings.callers_keys = true;
    BOOST_TEST(create_openai_backend(settings)->state().ready);
    settings.callers_keys = false;
    settings.credential = secret("sk-x");
    BOOST_TEST(create_openai_backend(settings)->state().ready);
    settings.credential = secret();
    settings.base_url = "http://127.0.0.1:9/v1";
    BOOST_TEST(create_openai_backend(settings)->state().ready, "a server of one's own needs no key");
}

BOOST_AUTO_TEST_CASE(published_names_are_listed_at_openai_only) {
    openai_settings settings;
    const std::vector<std::string> all{"gpt-transcribe*",
                                       "gpt-4o*-transcribe*",
                                       "whisper-1",
                                       "gpt-transcribe",
                                       "gpt-4o-transcribe",
                                       "gpt-4o-mini-transcribe",
                                       "gpt-4o-mini-transcribe-2025-12-15",
                                       "gpt-4o-transcribe-diarize"};
    BOOST_TEST(create_openai_backend(settings)->models() == all, boost::test_tools::per_element());
    settings.models = {"whisper-*"};
    const std::vector<std::string> some{"whisper-*", "whisper-1"};
    BOOST_TEST(create_openai_backend(settings)->models() == some, boost::test_tools::per_element());
    settings.base_url = "https://api.groq.com/openai/v1";
    BOOST_TEST(create_openai_backend(settings)->models() == settings.models, boost::test_tools::per_element());
    BOOST_TEST(create_openai_backend(settings)->shutdown_date("whisper-1") == "");
    settings.base_url = "https://eu.api.openai.com/v1";
    BOOST_TEST(create_openai_backend(settings)->models() == some, boost::test_tools::per_element());
    settings.base_url = "https://notapi.openai.com/v1";
    BOOST_TEST(create_openai_backend(settings)->models() == settings.models, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_rest_is_as_it_was_set) {
    openai_settings settings;
    settings.name = "other";
    settings.max_in_flight = 3;
    settings.deadline.base = std::chrono::seconds(1);
    settings.deadline.per_audio_second = 2;
    settings.deadline.cap = std::chrono::seconds(9);
    settings.model_alias = {{"fine", "gpt-4o-transcribe"}};
    const auto made = create_openai_backend(settings);
    BOOST_TEST(made->name() == "other");
    BOOST_TEST((made->provider() == provider::openai));
    BOOST_TEST(made->in_flight_max() == 3U);
    BOOST_TEST(made->default_model() == "gpt-transcribe");
    BOOST_TEST(made->time_allowed(milliseconds(2000)).count() == 5000);
    BOOST_TEST(made->time_allowed(milliseconds(4000)).count() == 9000);
    BOOST_TEST(made->time_allowed(std::nullopt).count() == 9000);
    BOOST_TEST(made->shutdown_date("fine") == "2027-02-26");
    transcription_request request;
    request.model = "fine";
    request.format = response_format::verbose_json;
    BOOST_TEST(!made->supports(request));
    BOOST_TEST(made->supports(request).error().message() ==
               "response_format 'verbose_json' is not compatible with model 'fine'. Use 'json' or 'text' instead.");
}

BOOST_AUTO_TEST_SUITE_END()
