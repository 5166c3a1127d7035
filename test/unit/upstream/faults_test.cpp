// Each fault as a client sees it on the wire, however it was asked for.
#define BOOST_TEST_MODULE upstream_faults
#include <boost/test/unit_test.hpp>

#include "upstream_bed.hpp"

#include <chrono>

using namespace hearonce;
using namespace hearonce::test;
using upstream::counts;
using upstream::double_server;
using upstream::settings;
using end_kind = raw_client::end_kind;
using std::chrono::milliseconds;
using clock_type = std::chrono::steady_clock;

namespace {

const std::string bytes = some_bytes();
const std::string text = text_of(bytes);
const std::string form = form_body("b", upload(bytes));

struct bed {
    double_server server;
    raw_client client{server.port()};

    std::string request(const std::string& fault) { return post_form(transcriptions, form, "b", "X-Fault: " + fault + "\r\n"); }
    raw_answer ask(const std::string& fault) {
        client.send(request(fault));
        return read_answer(client);
    }
    // The connection still serves.
    void goes_on() { BOOST_TEST(text_in(ask("none")) == text); }
    bool ends(end_kind how) { return client.wait_end(milliseconds(10'000)) == how; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(connections, bed)

BOOST_AUTO_TEST_CASE(reset_before_the_body) {
    // The head alone is enough.
    client.send("POST " + transcriptions + " HTTP/1.1\r\nHost: x\r\nX-Fault: reset=before_body\r\nContent-Length: 100000\r\n\r\n");
    BOOST_TEST(ends(end_kind::reset));
    BOOST_TEST(client.rest().empty());
    BOOST_TEST(server.wait_until([](const counts& now) { return now.calls == 1 && now.in_flight == 0 && now.by_sha256.empty(); }));
}

BOOST_AUTO_TEST_CASE(reset_after_the_body) {
    client.send(request("reset=after_body"));
    BOOST_TEST(ends(end_kind::reset));
    BOOST_TEST(client.rest().empty());
    BOOST_TEST(server.seen().of(sha256_of(bytes)) == 1u);
    BOOST_TEST(server.seen().by_status.empty());
}

BOOST_AUTO_TEST_CASE(reset_after_the_head) {
    client.send(request("reset=after_head"));
    BOOST_TEST(ends(end_kind::reset));
    BOOST_TEST(client.rest().starts_with("HTTP/1.1 200 OK\r\n"));
    BOOST_TEST(client.rest().ends_with("\r\n\r\n"));
}

BOOST_AUTO_TEST_CASE(half_a_body) {
    client.send(request("half_body"));
    const auto answer = client.answer();
    BOOST_TEST(!answer.complete);
    BOOST_TEST(answer.body.size() == std::stoul(answer.header("content-length")) / 2);
    BOOST_TEST(ends(end_kind::closed));
}

BOOST_AUTO_TEST_CASE(a_kept_connection_closes_without_a_word) {
    const auto answer = ask("idle_close");
    BOOST_TEST(text_in(answer) == text);
    BOOST_TEST(!answer.has("connection"));
    BOOST_TEST(ends(end_kind::closed));
}

BOOST_AUTO_TEST_CASE(or_after_a_while) {
    const auto began = clock_type::now();
    ask("idle_close=60ms");
    BOOST_TEST(ends(end_kind::closed));
    BOOST_TEST((clock_type::now() - began >= milliseconds(60)));
}

BOOST_AUTO_TEST_CASE(or_not_when_the_next_request_comes_before) {
    ask("idle_close=20s");
    goes_on();
    goes_on();
}

BOOST_AUTO_TEST_CASE(early_401_with_the_body_unsent) {
    client.send("POST " + transcriptions + " HTTP/1.1\r\nHost: x\r\nX-Fault: early_401\r\nContent-Length: 1000000\r\n\r\n");
    const auto answer = read_answer(client);
    BOOST_TEST(answer.status == 401);
    BOOST_TEST(answer.header("connection") == "close");
    client.end_sending();
    BOOST_TEST(ends(end_kind::closed));
    BOOST_TEST(server.seen().by_status.at(401) == 1u);
}

// What is still sent is read and dropped, so that no RST overtakes the answer.
BOOST_AUTO_TEST_CASE(early_401_with_all_of_the_body) {
    const std::string body(8'000'000, 'x');
    client.send("POST " + transcriptions + " HTTP/1.1\r\nHost: x\r\nX-Fault: early_401\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n");
    BOOST_TEST(client.send(body));
    BOOST_TEST(read_answer(client).status == 401);
    client.end_sending();
    BOOST_TEST(ends(end_kind::closed));
}

BOOST_AUTO_TEST_CASE(early_faults_in_a_prompt_before_the_file) {
    const auto head = "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nfault: early_401\r\n--b\r\n";
    client.send("POST " + transcriptions +
                " HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n" + head);
    BOOST_TEST(read_answer(client).status == 401);
}

BOOST_AUTO_TEST_CASE(early_faults_in_a_prompt_behind_the_file) {
    const auto late = form_body("b", {{"model", "whisper-1"}, {"file", bytes, "a.wav"}, {"prompt", "fault: early_401"}});
    client.send(post_form(transcriptions, late, "b"));
    const auto answer = read_answer(client);
    BOOST_TEST(answer.status == 401);
    BOOST_TEST(answer.header("connection") == "close");
}

BOOST_AUTO_TEST_CASE(silence_until_the_client_goes) {
    client.send(request("hang"));
    BOOST_TEST(server.wait_until([](const counts& now) { return now.by_sha256.size() == 1; }));
    BOOST_TEST(!client.anything(milliseconds(30)));
    BOOST_TEST(server.seen().in_flight == 1u);
    client.close();
    BOOST_TEST(server.wait_until([](const counts& now) { return now.in_flight == 0; }));
    BOOST_TEST(server.seen().aborted_by_peer == 1u);
    BOOST_TEST(server.seen().left.front().during == "waiting");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(times, bed)

BOOST_AUTO_TEST_CASE(a_delay_is_no_shorter) {
    const auto began = clock_type::now();
    BOOST_TEST(text_in(ask("delay=80ms")) == text);
    BOOST_TEST((clock_type::now() - began >= milliseconds(80)));
    goes_on();
}

BOOST_AUTO_TEST_CASE(byte_by_byte) {
    const auto began = clock_type::now();
    const auto answer = ask("drip=1ms");
    BOOST_TEST(text_in(answer) == text);
    BOOST_TEST((clock_type::now() - began >= milliseconds(200)));
    goes_on();
    BOOST_TEST(server.seen().aborted_by_peer == 0u);
}

BOOST_AUTO_TEST_CASE(record_by_record) {
    const auto began = clock_type::now();
    client.send(
        post_form(transcriptions, form_body("b", upload(bytes, {{"stream", "true"}}, "gpt-4o-transcribe")), "b", "X-Fault: pace=5ms\r\n"));
    const auto answer = read_answer(client);
    BOOST_TEST((clock_type::now() - began >= milliseconds(60)));
    BOOST_TEST(answer.body.find("transcript.text.done") != std::string::npos);
    goes_on();
}

BOOST_AUTO_TEST_CASE(the_server_s_own_delay_gives_way_to_a_call_s) {
    settings how;
    how.delay = std::chrono::seconds(30);
    const double_server slow(how);
    BOOST_TEST(text_in(post(slow.port(), transcriptions, upload(bytes), "X-Fault: delay=0\r\n")) == text);
    how.delay = milliseconds(50);
    const double_server quick(how);
    const auto began = clock_type::now();
    post(quick.port(), transcriptions, upload(bytes));
    BOOST_TEST((clock_type::now() - began >= milliseconds(50)));
    // Models cost nothing, so they do not wait either.
    const auto free = clock_type::now();
    BOOST_TEST(get(slow.port(), "/v1/models").status == 200);
    BOOST_TEST((clock_type::now() - free < std::chrono::seconds(20)));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(bodies, bed)

BOOST_AUTO_TEST_CASE(what_proxies_say) {
    const auto bad = ask("html_502");
    BOOST_TEST(bad.status == 502);
    BOOST_TEST(bad.header("content-type") == "text/html; charset=utf-8");
    const auto good = ask("html_200");
    BOOST_TEST(good.status == 200);
    BOOST_TEST(good.header("content-type") == "text/html; charset=utf-8");
    goes_on();
}

BOOST_AUTO_TEST_CASE(what_is_no_json) {
    const auto answer = ask("not_json");
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("content-type") == "application/json");
    boost::system::error_code failed;
    boost::json::parse(answer.body, failed);
    BOOST_TEST(!!failed);
    goes_on();
}

BOOST_AUTO_TEST_CASE(no_text) {
    BOOST_TEST(text_in(ask("empty_text")) == "");
    goes_on();
}

BOOST_AUTO_TEST_CASE(too_much_of_it) {
    const auto answer = ask("huge_body=2");
    BOOST_TEST(answer.complete);
    BOOST_TEST(answer.body.size() > 2u << 20u);
    goes_on();
}

BOOST_AUTO_TEST_CASE(statuses) {
    const std::pair<const char*, const char*> all[] = {{"status=400", "invalid_request_error/null/null"},
                                                       {"status=401", "invalid_request_error/null/invalid_api_key"},
                                                       {"status=404", "invalid_request_error/null/model_not_found"},
                                                       {"status=413", "server_error/null/null"},
                                                       {"status=429", "requests/null/rate_limit_exceeded"},
                                                       {"status=500", "server_error/null/null"},
                                                       {"status=503", "service_unavailable_error/null/server_is_overloaded"},
                                                       {"status=599", "server_error/null/null"},
                                                       {"insufficient_quota", "insufficient_quota/null/insufficient_quota"},
                                                       {"key_invalid", "invalid_request_error/null/invalid_api_key"}};
    for (const auto& [fault, error] : all) {
        const auto answer = ask(fault);
        BOOST_TEST(error_in(answer) == error, fault);
        BOOST_TEST(!answer.has("retry-after"));
    }
    BOOST_TEST(ask("insufficient_quota").status == 429);
    BOOST_TEST(ask("key_invalid").status == 401);
    const auto later = ask("status=429,retry_after=3,retry_after_ms=250");
    BOOST_TEST(later.header("retry-after") == "3");
    BOOST_TEST(later.header("retry-after-ms") == "250");
    BOOST_TEST(ask("status=503,retry_after=date").header("retry-after").ends_with(" GMT"));
    goes_on();
}

BOOST_AUTO_TEST_CASE(misspelt_and_misplaced) {
    for (const char* wrong : {"stutus=500", "blocked", "recitation", "words_only"}) {
        const auto answer = ask(wrong);
        BOOST_TEST(answer.status == 400, wrong);
        BOOST_TEST(error_in(answer) == "upstream_double/null/null");
    }
    goes_on();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(streams, bed)

namespace {

std::string streaming(const std::string& fault) {
    return post_form(transcriptions,
                     form_body("b", upload(bytes, {{"prompt", "fault: " + fault}, {"stream", "true"}}, "gpt-4o-transcribe")), "b");
}

}  // namespace

BOOST_AUTO_TEST_CASE(cut_within_a_record) {
    client.send(streaming("cut_sse=mid_record"));
    const auto answer = client.answer();
    BOOST_TEST(!answer.complete);
    BOOST_TEST(answer.body.find("data: ") == 0u);
    BOOST_TEST(!answer.body.ends_with("\n\n"));
    BOOST_TEST(answer.body.find("done") == std::string::npos);
    BOOST_TEST(ends(end_kind::closed));
}

BOOST_AUTO_TEST_CASE(cut_between_records) {
    client.send(streaming("cut_sse=between"));
    const auto answer = client.answer();
    BOOST_TEST(!answer.complete);
    BOOST_TEST(answer.body.ends_with("}\n\n"));
    BOOST_TEST(answer.body.find("done") == std::string::npos);
    BOOST_TEST(ends(end_kind::closed));
}

BOOST_AUTO_TEST_CASE(an_error_in_mid_stream) {
    client.send(streaming("sse_error"));
    const auto answer = read_answer(client);
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.body.find(R"("type":"error","error":{"message":)") != std::string::npos);
    BOOST_TEST(answer.body.find("done") == std::string::npos);
    goes_on();
}

BOOST_AUTO_TEST_CASE(of_an_answer_that_is_none) {
    BOOST_TEST(ask("sse_error").status == 500);
    client.send(request("cut_sse=between"));
    BOOST_TEST(!client.answer().complete);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(asking, bed)

BOOST_AUTO_TEST_CASE(a_script_is_used_up_one_a_call) {
    server.script({"status=500", "none", "status=503"});
    const auto status = [this] { return post(server.port(), transcriptions, upload(bytes)).status; };
    BOOST_TEST(status() == 500);
    BOOST_TEST(get(server.port(), "/v1/models").status == 200);
    BOOST_TEST(status() == 200);
    BOOST_TEST(ask("status=502").status == 502);
    BOOST_TEST(status() == 503);
    BOOST_TEST(status() == 200);
    server.always("status=504");
    BOOST_TEST(status() == 504);
    BOOST_TEST(status() == 504);
    BOOST_CHECK_THROW(server.script({"what"}), std::invalid_argument);
    BOOST_CHECK_THROW(server.always("what"), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_prompt_goes_before_everything_else) {
    server.always("status=500");
    const auto answer =
        post(server.port(), transcriptions, upload(bytes, {{"prompt", "Ann.\nfault: status=502"}}), "X-Fault: status=501\r\n");
    BOOST_TEST(answer.status == 502);
    BOOST_TEST(post(server.port(), transcriptions, upload(bytes, {{"prompt", "fault: none"}})).status == 200);
}

BOOST_AUTO_TEST_CASE(scripts_over_http) {
    const auto set = [this](const std::string& body) {
        raw_client to(server.port());
        to.send("POST /_faults HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
        return read_answer(to);
    };
    BOOST_TEST(set(R"(["status=500","status=502"])").body == R"({"script_left":2})");
    BOOST_TEST(ask("none").status == 200);
    BOOST_TEST(post(server.port(), transcriptions, upload(bytes)).status == 500);
    BOOST_TEST(set(R"({"always":"status=503"})").body == R"({"script_left":1})");
    BOOST_TEST(post(server.port(), transcriptions, upload(bytes)).status == 502);
    BOOST_TEST(post(server.port(), transcriptions, upload(bytes)).status == 503);
    BOOST_TEST(set(R"({"script":[],"always":""})").status == 200);
    BOOST_TEST(post(server.port(), transcriptions, upload(bytes)).status == 200);
    for (const char* wrong : {"", "{}", "[1]", R"(["what"])", R"({"always":1})", R"({"script":"hang"})", R"({"always":"what"})", "true",
                              R"({"others":[]})", R"({"others":"what"})", R"({"others":"empty_text"})", R"({"other":"hang"})"})
        BOOST_TEST(set(wrong).status == 400, wrong);
    BOOST_TEST(post(server.port(), transcriptions, upload(bytes)).status == 200);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(what_is_no_call)

namespace {

const std::string google = "x-goog-api-key: k\r\n";

}  // namespace

BOOST_AUTO_TEST_CASE(meets_what_others_are_given_and_nothing_else) {
    double_server server;
    server.script({"status=500"});
    server.always("status=502");
    BOOST_TEST(get(server.port(), "/v1/models").status == 200);
    server.others("status=503, retry_after=7");
    const auto refused = get(server.port(), "/v1/models");
    BOOST_TEST(refused.status == 503);
    BOOST_TEST(refused.header("retry-after") == "7");
    BOOST_TEST(error_in(refused) == "service_unavailable_error/null/server_is_overloaded");
    BOOST_TEST(get(server.port(), "/v1/models/whisper-1").status == 503);
    BOOST_TEST(json_of(get(server.port(), "/v1beta/models", google)).at("error").at("status").as_string() == "UNAVAILABLE");
    BOOST_TEST(get(server.port(), "/_stats").status == 200);
    const auto seen = server.seen();
    BOOST_TEST(seen.calls == 0u);
    BOOST_TEST(seen.by_status.at(503) == 3u);
    // The script is still whole.
    BOOST_TEST(post(server.port(), transcriptions, upload(bytes)).status == 500);
    BOOST_TEST(post(server.port(), transcriptions, upload(bytes)).status == 502);
    server.others("");
    BOOST_TEST(get(server.port(), "/v1/models").status == 200);
}

BOOST_AUTO_TEST_CASE(a_header_goes_first) {
    settings how;
    how.others = "status=503";
    double_server server(how);
    BOOST_TEST(get(server.port(), "/v1/models").status == 503);
    BOOST_TEST(get(server.port(), "/v1/models", "X-Fault: none\r\n").status == 200);
    BOOST_TEST(get(server.port(), "/v1/models", "X-Fault: html_502\r\n").header("content-type") == "text/html; charset=utf-8");
    for (const char* misplaced : {"what", "empty_text", "blocked"}) {
        const auto fault = std::string("X-Fault: ") + misplaced + "\r\n";
        BOOST_TEST(error_in(get(server.port(), "/v1/models", fault)) == "upstream_double/null/null", misplaced);
        BOOST_TEST(get(server.port(), "/v1beta/models", google + fault).status == 400, misplaced);
    }
    how.others = "what";
    BOOST_CHECK_THROW(double_server{how}, std::invalid_argument);
    BOOST_CHECK_THROW(server.others("blocked"), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(breaks_in_every_way) {
    double_server server;
    const auto end_of = [&](const std::string& fault) {
        raw_client client(server.port());
        client.send("GET /v1/models HTTP/1.1\r\nHost: x\r\nX-Fault: " + fault + "\r\n\r\n");
        return client.wait_end(milliseconds(10'000));
    };
    BOOST_TEST((end_of("reset=before_body") == end_kind::reset));
    BOOST_TEST((end_of("reset=after_body") == end_kind::reset));
    BOOST_TEST((end_of("half_body") == end_kind::closed));
    BOOST_TEST((end_of("idle_close") == end_kind::closed));
    BOOST_TEST(get(server.port(), "/v1/models", "X-Fault: early_401\r\n").status == 401);
    {
        raw_client hanging(server.port());
        hanging.send("GET /v1/models HTTP/1.1\r\nHost: x\r\nX-Fault: hang\r\n\r\n");
        BOOST_TEST(server.wait_until([](const auto& seen) { return seen.other_requests == 6; }));
    }
    BOOST_TEST(server.wait_until([](const auto& seen) { return seen.aborted_by_peer == 1 && seen.connections_open == 0; }));
    const auto begun = clock_type::now();
    BOOST_TEST(get(server.port(), "/v1/models", "X-Fault: delay=50ms\r\n").status == 200);
    BOOST_TEST((clock_type::now() - begun >= milliseconds(50)));
}

BOOST_AUTO_TEST_SUITE_END()
