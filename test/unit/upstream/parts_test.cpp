// The pure parts of the upstream double: what is heard, which fault a text names, what base64 stands for, the bytes of an answer.
#define BOOST_TEST_MODULE upstream_parts
#include <boost/test/unit_test.hpp>

#include <bench/upstream/fault.hpp>
#include <bench/upstream/form_reader.hpp>
#include <bench/upstream/gemini_answer.hpp>
#include <bench/upstream/gemini_rules.hpp>
#include <bench/upstream/heard.hpp>
#include <bench/upstream/route.hpp>
#include <bench/upstream/scenario.hpp>
#include <bench/upstream/sending.hpp>

#include "upstream_bed.hpp"

#include <numeric>
#include <set>

using namespace hearonce;
using namespace hearonce::test;
using namespace hearonce::upstream;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(hearing)

BOOST_AUTO_TEST_CASE(the_words_are_64_and_all_different) {
    const std::set<std::string_view> different(word_list.begin(), word_list.end());
    BOOST_TEST(different.size() == 64u);
    for (const auto word : word_list) BOOST_TEST(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos, word);
}

// Other programs know these texts: a change of the list or of the choice is a break.
BOOST_AUTO_TEST_CASE(texts_stay_what_they_are) {
    const sha256_digest zeros{};
    BOOST_TEST(upstream::text_of(zeros) == "amber amber amber amber amber amber amber amber amber amber amber amber");
    sha256_digest counted{};
    for (std::size_t at = 0; at < counted.size(); ++at) counted[at] = static_cast<std::byte>(at * 9);
    BOOST_TEST(upstream::text_of(counted) == "amber breeze circle dragon hazel meadow pillow walnut bottle cherry desert harbor");
    BOOST_TEST(upstream::text_of(sha256_of("")) == "harbor oak autumn apple cradle thunder ember cobalt desert summer paper bottle");
}

BOOST_AUTO_TEST_CASE(only_the_first_twelve_bytes_choose_words) {
    sha256_digest digest{};
    const auto before = upstream::text_of(digest);
    for (std::size_t at = 0; at < digest.size(); ++at) {
        auto changed = digest;
        changed[at] = std::byte{1};
        BOOST_TEST((upstream::text_of(changed) == before) == (at >= words_in_text), at);
    }
}

BOOST_AUTO_TEST_CASE(words_and_segments_are_the_text_and_fit_into_the_duration) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const auto digest = sha256_of(some_bytes(seed));
        const auto what = hear(digest);
        std::string by_words, by_segments;
        std::int64_t now = 0;
        for (const auto& one : what.words) {
            by_words += (by_words.empty() ? "" : " ") + one.word;
            BOOST_TEST(one.begin_ms == now);
            BOOST_TEST(one.end_ms >= one.begin_ms + 200);
            now = one.end_ms;
        }
        BOOST_TEST(what.duration_ms == now + 100);
        now = 0;
        for (const auto& one : what.segments) {
            by_segments += (by_segments.empty() ? "" : " ") + one.text;
            BOOST_TEST(one.begin_ms == now);
            now = one.end_ms;
        }
        BOOST_TEST(now + 100 == what.duration_ms);
        BOOST_TEST(by_words == what.text);
        BOOST_TEST(by_segments == what.text);
        BOOST_TEST(what.text == upstream::text_of(digest));
        BOOST_TEST(what.segments.size() == 3u);
        BOOST_TEST(what.segments[1].speaker == "B");
    }
}

BOOST_AUTO_TEST_CASE(a_note_is_one_more_word_everywhere) {
    const auto digest = sha256_of(some_bytes());
    const auto what = hear(digest, "[de]");
    BOOST_TEST(what.text == upstream::text_of(digest) + " [de]");
    BOOST_TEST(what.words.back().word == "[de]");
    BOOST_TEST(what.segments.back().text.ends_with(" [de]"));
    BOOST_TEST(what.segments.back().end_ms == what.words.back().end_ms);
    BOOST_TEST(what.duration_ms == hear(digest).duration_ms + 200);
}

BOOST_AUTO_TEST_CASE(nothing_has_a_duration) {
    BOOST_TEST(hear_nothing().text.empty());
    BOOST_TEST(hear_nothing().words.empty());
    BOOST_TEST(hear_nothing().duration_ms == 2000);
}

BOOST_AUTO_TEST_CASE(languages_have_names) {
    BOOST_TEST(language_name("de") == "german");
    BOOST_TEST(language_name("english") == "english");
    BOOST_TEST(language_name("") == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(faults)

namespace {

upstream::fault read(std::string_view text) {
    const auto made = parse_fault(text);
    BOOST_TEST_REQUIRE(made.has_value(), text);
    return *made;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_word_means_what_it_says) {
    BOOST_TEST((read("delay=300ms").delay == milliseconds(300)));
    BOOST_TEST((read("delay=2s").delay == milliseconds(2000)));
    BOOST_TEST((read("delay=7").delay == milliseconds(7)));
    BOOST_TEST(read("hang").hang);
    BOOST_TEST((read("reset=before_body").reset == fault::reset_at::before_body));
    BOOST_TEST((read("reset=after_body").reset == fault::reset_at::after_body));
    BOOST_TEST((read("reset=after_head").reset == fault::reset_at::after_head));
    BOOST_TEST(read("half_body").half_body);
    BOOST_TEST(read("status=503").status == 503);
    BOOST_TEST(read("early_401").early_401);
    BOOST_TEST((read("idle_close").idle_close == milliseconds(0)));
    BOOST_TEST((read("idle_close=20ms").idle_close == milliseconds(20)));
    BOOST_TEST((read("cut_sse=mid_record").cut == fault::sse_cut::mid_record));
    BOOST_TEST((read("cut_sse=between").cut == fault::sse_cut::between));
    BOOST_TEST(read("sse_error").sse_error);
    BOOST_TEST((read("drip=2ms").drip == milliseconds(2)));
    BOOST_TEST((read("pace=3ms").pace == milliseconds(3)));
    BOOST_TEST(read("huge_body").huge_bytes == 64u << 20u);
    BOOST_TEST(read("huge_body=3").huge_bytes == 3u << 20u);
    BOOST_TEST(read("retry_after_ms=1.5").retry_after_ms.value() == 1.5);
    for (const char* value : {"0", "17", "date", "date+9", "none"})
        BOOST_TEST(read(std::string("retry_after=") + value).retry_after.value() == value);
}

BOOST_AUTO_TEST_CASE(answers_in_place_of_the_right_one) {
    const std::pair<const char*, fault::instead> all[] = {
        {"html_502", fault::instead::html_502},       {"html_200", fault::instead::html_200},
        {"not_json", fault::instead::not_json},       {"empty_text", fault::instead::empty_text},
        {"huge_body", fault::instead::huge_body},     {"insufficient_quota", fault::instead::insufficient_quota},
        {"key_invalid", fault::instead::key_invalid}, {"blocked", fault::instead::blocked},
        {"no_parts", fault::instead::no_parts},       {"max_tokens", fault::instead::max_tokens},
        {"recitation", fault::instead::recitation},   {"words_only", fault::instead::words_only}};
    for (const auto& [word, meaning] : all) {
        BOOST_TEST((read(word).answer == meaning), word);
        BOOST_TEST(read(word).for_gemini_alone() == (meaning >= fault::instead::blocked), word);
        BOOST_TEST(fault_help.find(word) != std::string_view::npos, word);
    }
}

BOOST_AUTO_TEST_CASE(several_at_once_however_they_are_separated) {
    for (const char* text :
         {"status=429,retry_after=3", "status=429, retry_after=3", " status=429;retry_after=3 ", "status=429 retry_after=3"}) {
        const auto made = read(text);
        BOOST_TEST(made.status == 429);
        BOOST_TEST(made.retry_after.value() == "3");
    }
    for (const char* text : {"", " ", "none", ",;"}) {
        const auto made = read(text);
        BOOST_TEST(made.status == 0);
        BOOST_TEST(!made.delay.has_value());
        BOOST_TEST(!made.hang);
        BOOST_TEST((made.answer == fault::instead::nothing));
    }
}

BOOST_AUTO_TEST_CASE(which_ones_are_early) {
    BOOST_TEST(read("early_401").early());
    BOOST_TEST(read("reset=before_body").early());
    BOOST_TEST(!read("reset=after_body").early());
    BOOST_TEST(!read("status=401").early());
}

BOOST_AUTO_TEST_CASE(what_is_misspelt_is_named) {
    for (const char* wrong : {"hangs",
                              "reset",
                              "reset=later",
                              "status",
                              "status=399",
                              "status=600",
                              "status=200",
                              "status=5x",
                              "delay=",
                              "delay=-1",
                              "delay=1m",
                              "delay=1.5s",
                              "drip",
                              "cut_sse=whole",
                              "retry_after=soon",
                              "retry_after=-1",
                              "retry_after=date+",
                              "retry_after=date+date",
                              "retry_after_ms=nan",
                              "retry_after_ms=-1",
                              "huge_body=0",
                              "huge_body=257",
                              "hang=1",
                              "delay=86400001ms",
                              "delay=86401s",
                              "delay=9223372036854775807s"}) {
        const auto made = parse_fault(std::string("half_body, ") + wrong);
        BOOST_TEST(!made.has_value(), wrong);
        if (made) continue;
        BOOST_TEST((made.error().code() == errc::invalid_parameter));
        BOOST_TEST(made.error().message().find(wrong) != std::string_view::npos, made.error().message());
    }
}

BOOST_AUTO_TEST_CASE(limits_themselves_are_taken) {
    BOOST_TEST(read("status=400").status == 400);
    BOOST_TEST(read("status=599").status == 599);
    BOOST_TEST(read("huge_body=256").huge_bytes == 256u << 20u);
    BOOST_TEST((read("delay=86400s").delay == std::chrono::hours(24)));
    BOOST_TEST((read("delay=86400000").delay == std::chrono::hours(24)));
}

BOOST_AUTO_TEST_CASE(a_prompt_may_hold_one) {
    BOOST_TEST(fault_in_prompt("fault: status=503").value() == " status=503");
    BOOST_TEST(fault_in_prompt("Names: Ann.\nfault: hang\nMore").value() == " hang");
    BOOST_TEST(fault_in_prompt("<context>fault: hang</context> Output the text.").value() == " hang");
    BOOST_TEST(fault_in_prompt("\"fault: hang\" is said").value() == " hang");
    BOOST_TEST(!fault_in_prompt("It is nobody's fault."));
    BOOST_TEST(!fault_in_prompt(""));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(scenarios)

namespace {

http::request_head head_with(std::string name = {}, std::string value = {}) {
    http::request_head made;
    if (!name.empty()) made.headers.push_back({std::move(name), std::move(value)});
    return made;
}

}  // namespace

BOOST_AUTO_TEST_CASE(header_before_script_before_always) {
    settings how;
    how.always = "status=500";
    scenario plot(how);
    BOOST_TEST(plot.script({"status=501", "none"}).has_value());
    BOOST_TEST(plot.fault_of(head_with("X-FAULT", "status=502"))->status == 502);
    BOOST_TEST(plot.script_left() == 2u);
    BOOST_TEST(plot.fault_of(head_with())->status == 501);
    BOOST_TEST(plot.fault_of(head_with())->status == 0);
    BOOST_TEST(plot.fault_of(head_with())->status == 500);
    BOOST_TEST(plot.always("").has_value());
    BOOST_TEST(plot.fault_of(head_with())->status == 0);
}

BOOST_AUTO_TEST_CASE(a_misspelt_script_changes_nothing) {
    scenario plot(settings{});
    BOOST_TEST(plot.script({"status=501"}).has_value());
    BOOST_TEST(!plot.script({"status=502", "stutus=503"}).has_value());
    BOOST_TEST(plot.script_left() == 1u);
    BOOST_TEST(plot.fault_of(head_with())->status == 501);
    BOOST_TEST(!plot.always("hung").has_value());
    BOOST_TEST(!plot.fault_of(head_with("X-Fault", "hung")).has_value());
    settings wrong;
    wrong.always = "hung";
    BOOST_CHECK_THROW(scenario{wrong}, std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(random_delays_are_the_same_every_time_and_have_their_mean) {
    settings how;
    how.delay = milliseconds(5);
    BOOST_TEST((scenario(how).delay() == milliseconds(5)));
    how.delay_exponential = milliseconds(800);
    how.seed = 7;
    scenario one(how), other(how);
    std::vector<std::int64_t> first, second;
    for (int n = 0; n < 20'000; ++n) {
        first.push_back(one.delay().count());
        second.push_back(other.delay().count());
    }
    BOOST_TEST(first == second);
    BOOST_TEST(*std::ranges::min_element(first) >= 5);
    const auto mean = std::accumulate(first.begin(), first.end(), 0.0) / static_cast<double>(first.size());
    BOOST_TEST(mean > 785.0);
    BOOST_TEST(mean < 825.0);
    BOOST_TEST((exponential_delay(milliseconds(800), 7, 3) != exponential_delay(milliseconds(800), 8, 3)));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(base64)

namespace {

void check_bytes(std::string_view text, std::string_view bytes) {
    const auto made = decode_base64(text);
    BOOST_TEST_REQUIRE(made.has_value(), text);
    BOOST_TEST(made->bytes == bytes.size());
    BOOST_TEST(hex_of(made->sha256) == hex_of(sha256_of(bytes)), text);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_examples_of_rfc_4648) {
    check_bytes("", "");
    check_bytes("Zg==", "f");
    check_bytes("Zm8=", "fo");
    check_bytes("Zm9v", "foo");
    check_bytes("Zm9vYg==", "foob");
    check_bytes("Zm9vYmE=", "fooba");
    check_bytes("Zm9vYmFy", "foobar");
    check_bytes("Zm9vYmE", "fooba");
    check_bytes("-_-_", "\xfb\xff\xbf");
    check_bytes("+/+/", "\xfb\xff\xbf");
}

BOOST_AUTO_TEST_CASE(pieces_of_the_buffer_do_not_matter) {
    // Zero bits are 'A's: any number of bytes has a text that needs no encoder.
    for (const std::size_t groups : {4095u, 4096u, 4097u, 12288u}) check_bytes(std::string(4 * groups, 'A'), std::string(3 * groups, '\0'));
}

BOOST_AUTO_TEST_CASE(what_is_none) {
    for (const char* text : {"Z", "Zm9vY", "Zm 9", "Zm9*", "====", "Zg=x", "\xff\xff\xff\xff"}) BOOST_TEST(!decode_base64(text), text);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(routes)

namespace {

route to(std::string method, std::string path, std::string query = {}, bool google_key = false) {
    http::request_head head;
    head.method = std::move(method);
    head.path = std::move(path);
    head.query = std::move(query);
    if (google_key) head.headers.push_back({"X-Goog-Api-Key", "k"});
    return route_of(head);
}

}  // namespace

BOOST_AUTO_TEST_CASE(openai) {
    BOOST_TEST((to("POST", "/v1/audio/transcriptions").what == ask::transcription));
    BOOST_TEST((to("POST", "/openai/v1/audio/transcriptions").what == ask::transcription));
    BOOST_TEST((to("POST", "/v1/audio/translations").what == ask::translation));
    BOOST_TEST((to("GET", "/v1/models").what == ask::openai_models));
    BOOST_TEST((to("GET", "/openai/v1/models").what == ask::openai_models));
    BOOST_TEST(to("GET", "/v1/models/whisper-1").model == "whisper-1");
    const auto azure = to("POST", "/openai/deployments/mine/audio/transcriptions", "api-version=2025");
    BOOST_TEST((azure.what == ask::transcription));
    BOOST_TEST(azure.model == "mine");
    for (const char* path : {"/audio/transcriptions", "/v1/audio/transcription", "/v2/models", "/", "/v1/models/", "/openai/deployments/"})
        BOOST_TEST((to("GET", path).what == ask::unknown), path);
    BOOST_TEST((to("GET", "/v1/audio/transcriptions").what == ask::unknown));
    BOOST_TEST(to("POST", "/v1/audio/transcriptions").is_call());
    BOOST_TEST(!to("GET", "/v1/models").is_call());
}

BOOST_AUTO_TEST_CASE(gemini) {
    for (const char* version : {"/v1beta", "/v1"}) {
        const auto made = to("POST", std::string(version) + "/models/gemini-3.8-flash:generateContent", {}, true);
        BOOST_TEST((made.what == ask::gemini_generate), version);
        BOOST_TEST(made.model == "gemini-3.8-flash");
        BOOST_TEST(made.gemini);
        BOOST_TEST((to("GET", std::string(version) + "/models", {}, true).what == ask::gemini_models));
        BOOST_TEST((to("GET", std::string(version) + "/models/x", {}, true).what == ask::gemini_model));
    }
    BOOST_TEST((to("POST", "/v1/models/x:generateContent").what == ask::gemini_generate));
    const auto sse = to("POST", "/v1beta/models/x:streamGenerateContent", "a=b&alt=sse");
    BOOST_TEST((sse.what == ask::gemini_stream));
    BOOST_TEST(sse.sse);
    BOOST_TEST(!to("POST", "/v1beta/models/x:streamGenerateContent", "alt=json").sse);
    BOOST_TEST(!to("POST", "/v1beta/models/x:generateContent", "alt=sse").sse);
    for (const char* path : {"/v1beta/models/x:countTokens", "/v1beta/models/", "/v1beta/modelsx", "/v1/interactions"}) {
        BOOST_TEST((to("POST", path, {}, true).what == ask::unknown), path);
        BOOST_TEST(to("POST", path, {}, true).gemini, path);
    }
}

BOOST_AUTO_TEST_CASE(any_prefix) {
    for (const char* prefix : {"/openai", "/proxy/one", "/v2", "/v1x"}) {
        const std::string before = prefix;
        BOOST_TEST((to("POST", before + "/v1/audio/transcriptions").what == ask::transcription), prefix);
        BOOST_TEST((to("GET", before + "/v1/models").what == ask::openai_models), prefix);
        BOOST_TEST(to("POST", before + "/openai/deployments/mine/audio/translations").model == "mine", prefix);
        const auto made = to("POST", before + "/v1beta/models/x:generateContent");
        BOOST_TEST((made.what == ask::gemini_generate), prefix);
        BOOST_TEST(made.model == "x");
        BOOST_TEST((to("GET", before + "/v1/models", {}, true).what == ask::gemini_models), prefix);
        BOOST_TEST(!to("GET", before + "/_stats").is_control(), prefix);
    }
    // A base address joined on twice, a version too many, none.
    for (const char* path : {"/v1/v1/models", "/v1/openai/v1/models", "/v1beta/v1/models", "/proxy/models", "/proxyv1/models"})
        BOOST_TEST((to("GET", path).what == ask::unknown), path);
}

BOOST_AUTO_TEST_CASE(control) {
    BOOST_TEST(to("GET", "/_stats").is_control());
    BOOST_TEST(to("POST", "/_reset").is_control());
    BOOST_TEST(to("POST", "/_faults").is_control());
    BOOST_TEST(!to("POST", "/_stats").is_control());
    BOOST_TEST(!to("GET", "/_other").is_control());
}

BOOST_AUTO_TEST_CASE(queries) {
    BOOST_TEST(query_has("key=1", "key"));
    BOOST_TEST(query_has("a&key", "key"));
    BOOST_TEST(query_has("key=1&key=2", "key", "2"));
    BOOST_TEST(!query_has("monkey=1", "key"));
    BOOST_TEST(!query_has("key=12", "key", "1"));
    BOOST_TEST(!query_has("", "key"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(bytes_of_answers)

namespace {

answer right() {
    answer made;
    made.body = "{\"text\":\"so\"}";
    return made;
}

answer stream() {
    answer made;
    made.content_type = "text/event-stream";
    made.records = {"data: 1\n\n", "data: 2\n\n", "data: 3\n\n", "data: 4\n\n"};
    return made;
}

std::string all_of(const sending& what) {
    return std::accumulate(what.pieces.begin(), what.pieces.end(), std::string());
}

std::string body_of(const sending& what) {
    const auto text = all_of(what);
    return text.substr(text.find("\r\n\r\n") + 4);
}

sending sent(const answer& what, std::string_view wrong, bool keep = true) {
    return sending_of(what, *parse_fault(wrong), false, keep, "req_1");
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_small_answer_is_one_piece) {
    const auto made = sent(right(), "");
    BOOST_TEST(made.pieces.size() == 1u);
    BOOST_TEST(made.pieces[0] ==
               "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\nx-request-id: req_1\r\n\r\n{\"text\":\"so\"}");
    BOOST_TEST((made.then == sending::end::keep));
    BOOST_TEST((sent(right(), "", false).then == sending::end::close));
    BOOST_TEST(all_of(sent(right(), "", false)).find("Connection: close\r\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_large_body_is_not_copied_behind_its_head) {
    answer made = right();
    made.body.assign(4096, 'x');
    BOOST_TEST(sent(made, "").pieces.size() == 2u);
    BOOST_TEST(body_of(sent(made, "")) == made.body);
}

BOOST_AUTO_TEST_CASE(streams_are_chunked_and_end) {
    BOOST_TEST(body_of(sent(stream(), "")) == "9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n9\r\ndata: 3\n\n\r\n9\r\ndata: 4\n\n\r\n0\r\n\r\n");
    BOOST_TEST(all_of(sent(stream(), "")).find("Transfer-Encoding: chunked\r\n") != std::string::npos);
    BOOST_TEST(all_of(sent(stream(), "")).find("Content-Length") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(streams_are_cut) {
    const auto mid = sent(stream(), "cut_sse=mid_record");
    BOOST_TEST(body_of(mid) == "9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n4\r\ndata\r\n");
    BOOST_TEST((mid.then == sending::end::close));
    BOOST_TEST(all_of(mid).find("Connection: close") == std::string::npos);
    const auto between = sent(stream(), "cut_sse=between");
    BOOST_TEST(body_of(between) == "9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n");
    BOOST_TEST((between.then == sending::end::close));
    BOOST_TEST(body_of(sent(stream(), "half_body")) == body_of(mid));
}

BOOST_AUTO_TEST_CASE(a_stream_that_tells_an_error_ends_whole) {
    const auto made = sent(stream(), "sse_error");
    BOOST_TEST(body_of(made).find(R"(data: {"type":"error","error":{"message":)") != std::string::npos);
    BOOST_TEST(body_of(made).find("data: 3") == std::string::npos);
    BOOST_TEST(body_of(made).ends_with("\n\n\r\n0\r\n\r\n"));
    BOOST_TEST((made.then == sending::end::keep));
    const auto gemini = sending_of(stream(), *parse_fault("sse_error"), true, true, "r");
    BOOST_TEST(body_of(gemini).find(R"(data: {"error":{"code":503,)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(halves) {
    const auto made = sent(right(), "half_body");
    BOOST_TEST(body_of(made) == "{\"text");
    BOOST_TEST(all_of(made).find("Content-Length: 13\r\n") != std::string::npos);
    BOOST_TEST(all_of(made).find("Connection: close") == std::string::npos);
    BOOST_TEST((made.then == sending::end::close));
    BOOST_TEST(body_of(sent(right(), "cut_sse=between")) == "{\"text");
}

BOOST_AUTO_TEST_CASE(resets_and_silence) {
    BOOST_TEST(sent(right(), "hang").pieces.empty());
    BOOST_TEST((sent(right(), "hang").then == sending::end::hang));
    BOOST_TEST(sent(right(), "reset=after_body").pieces.empty());
    BOOST_TEST((sent(right(), "reset=after_body").then == sending::end::reset));
    const auto head = sent(right(), "reset=after_head");
    BOOST_TEST(all_of(head).ends_with("\r\n\r\n"));
    BOOST_TEST((head.then == sending::end::reset));
}

BOOST_AUTO_TEST_CASE(closing_without_a_word_is_for_kept_connections) {
    const auto made = sent(right(), "idle_close=30ms");
    BOOST_TEST((made.then == sending::end::keep));
    BOOST_TEST((made.idle_close == milliseconds(30)));
    BOOST_TEST(all_of(made).find("Connection") == std::string::npos);
    BOOST_TEST(!sent(right(), "idle_close", false).idle_close.has_value());
}

BOOST_AUTO_TEST_CASE(retry_after_in_all_its_forms) {
    const auto now = std::chrono::system_clock::from_time_t(784111777);
    BOOST_TEST(http_date(now) == "Sun, 06 Nov 1994 08:49:37 GMT");
    const auto header = [now](std::string_view wrong, bool gemini = false) {
        const auto made = with_fault(right(), *parse_fault(wrong), gemini, now);
        std::string all;
        for (const auto& one : made.headers) all += one.name + ": " + one.value + ";";
        return all;
    };
    BOOST_TEST(header("status=503") == "");
    BOOST_TEST(header("status=503,retry_after=7") == "Retry-After: 7;");
    BOOST_TEST(header("status=503,retry_after=date") == "Retry-After: Sun, 06 Nov 1994 08:49:39 GMT;");
    BOOST_TEST(header("status=503,retry_after=date+60") == "Retry-After: Sun, 06 Nov 1994 08:50:37 GMT;");
    BOOST_TEST(header("status=429,retry_after_ms=12.5") == "retry-after-ms: 12.5;");
    BOOST_TEST(header("status=429,retry_after=none", true) == "");
    const auto body = [now](std::string_view wrong) { return with_fault(right(), *parse_fault(wrong), true, now).body; };
    BOOST_TEST(body("status=429").find(R"("retryDelay":"2s")") != std::string::npos);
    BOOST_TEST(body("status=429,retry_after=17").find(R"("retryDelay":"17s")") != std::string::npos);
    BOOST_TEST(body("status=429,retry_after=none").find("RetryInfo") == std::string::npos);
    BOOST_TEST(body("insufficient_quota").find("PerDay") != std::string::npos);
    BOOST_TEST(body("insufficient_quota").find("RetryInfo") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(other_bodies) {
    const auto now = std::chrono::system_clock::now();
    const auto made = [now](std::string_view wrong, const answer& of) { return with_fault(of, *parse_fault(wrong), false, now); };
    BOOST_TEST(made("html_502", right()).status == 502);
    BOOST_TEST(made("html_200", right()).status == 200);
    BOOST_TEST(made("html_200", right()).content_type == "text/html; charset=utf-8");
    boost::system::error_code failed;
    boost::json::parse(made("not_json", stream()).body, failed);
    BOOST_TEST(!!failed);
    BOOST_TEST(!made("not_json", stream()).streamed());
    BOOST_TEST(made("huge_body=1", right()).body.size() > 1u << 20u);
    BOOST_TEST(boost::json::parse(made("huge_body=1", right()).body).at("text").as_string().size() == 1u << 20u);
    BOOST_TEST(made("sse_error", right()).status == 500);
    BOOST_TEST(made("sse_error", stream()).status == 200);
    BOOST_TEST(made("status=418", right()).status == 418);
    // Every status has a body of its API's shape.
    for (int status = 400; status < 600; ++status) {
        BOOST_TEST(boost::json::parse(openai_refusal_of(status).body).at("error").at("message").is_string(), status);
        const auto google = boost::json::parse(gemini_refusal_of(status).body).at("error");
        BOOST_TEST(google.at("code").as_int64() == status);
        BOOST_TEST(google.at("status").is_string());
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(forms)

BOOST_AUTO_TEST_CASE(however_it_is_cut) {
    const auto body = form_body("b", upload("recording", {{"prompt", ""}, {"language", "de"}}));
    for (std::size_t cut = 1; cut < body.size(); cut += 7) {
        form_reader form("b");
        for (std::size_t at = 0; at < body.size(); at += cut) {
            const auto piece = std::string_view(body).substr(at, cut);
            BOOST_TEST(form.feed(std::as_bytes(std::span(piece.data(), piece.size()))).has_value());
        }
        BOOST_TEST(form.finish().has_value());
        BOOST_TEST_REQUIRE(form.fields().size() == 3u);
        BOOST_TEST(*form.field("language") == "de");
        BOOST_TEST(form.field("prompt")->empty());
        BOOST_TEST(form.field("none") == nullptr);
        BOOST_TEST_REQUIRE(form.files().size() == 1u);
        BOOST_TEST(form.files()[0].bytes == 9u);
        BOOST_TEST(hex_of(form.files()[0].sha256) == hex_of(sha256_of("recording")));
    }
}

BOOST_AUTO_TEST_CASE(fields_have_a_limit_and_files_none) {
    const auto takes = [](std::size_t size, std::optional<std::string> file_name) {
        const auto body = form_body("b", {{"a", "12345"}, {"b", std::string(size, 'x'), std::move(file_name)}});
        form_reader form("b");
        return form.feed(std::as_bytes(std::span(body.data(), body.size()))).has_value();
    };
    const auto left = form_reader::fields_bytes_max - 5;
    BOOST_TEST(takes(left - 1, {}));
    BOOST_TEST(takes(left, {}));
    BOOST_TEST(!takes(left + 1, {}));
    BOOST_TEST(takes(left + 1, "a.wav"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(schemas)

BOOST_AUTO_TEST_CASE(members_are_filled_by_their_names) {
    const auto what = hear(sha256_of(some_bytes()));
    const auto filled = [&](std::string_view schema) { return boost::json::parse(filled_in(schema, what, "de")); };
    BOOST_TEST(filled("").at("text").as_string() == what.text);
    BOOST_TEST(filled(R"({"type":"STRING"})").as_string() == what.text);
    BOOST_TEST(filled(R"({"type":"OBJECT","properties":{"language":{"type":"STRING"}}})").at("language").as_string() == "de");
    BOOST_TEST(filled(R"({"properties":{"transcript":{"type":["null","string"]}}})").at("transcript").as_string() == what.text);
    BOOST_TEST(filled(R"({"type":"object","properties":{"duration":{"type":"integer"}}})").at("duration").as_int64() ==
               what.duration_ms / 1000);
    BOOST_TEST(filled(R"({"type":"boolean"})").as_bool() == false);
    BOOST_TEST(filled(R"({"enum":["b","a"]})").as_string() == "b");
    BOOST_TEST(filled(R"({"anyOf":[{"type":"string"},{"type":"null"}]})").as_string() == what.text);
}

BOOST_AUTO_TEST_CASE(lists_have_an_item_a_segment_or_a_word) {
    const auto what = hear(sha256_of(some_bytes()));
    const auto all = boost::json::parse(filled_in(
        R"({"type":"OBJECT","properties":{"segments":{"type":"ARRAY","items":{"type":"OBJECT","properties":{"start":{"type":"STRING"},)"
        R"("end":{"type":"NUMBER"},"speaker":{"type":"STRING"},"text":{"type":"STRING"},"words":{"type":"ARRAY","items":{"type":"STRING"}}}}}}})",
        what, "en"));
    const auto& segments = all.at("segments").as_array();
    BOOST_TEST_REQUIRE(segments.size() == 3u);
    BOOST_TEST(segments[0].at("start").as_string() == "00:00.000");
    BOOST_TEST(segments[1].at("speaker").as_string() == "B");
    BOOST_TEST(segments[2].at("text").as_string() == what.segments[2].text);
    BOOST_TEST(segments[2].at("end").as_double() == static_cast<double>(what.segments[2].end_ms) / 1000.0,
               boost::test_tools::tolerance(1e-9));
    for (std::size_t index = 0; index < 3; ++index) {
        const auto& words = segments[index].at("words").as_array();
        BOOST_TEST_REQUIRE(words.size() == 4u);
        BOOST_TEST(words[0].as_string() == what.words[4 * index].word);
    }
}

BOOST_AUTO_TEST_CASE(a_schema_that_never_ends_does) {
    std::string deep = R"({"type":"string"})";
    for (int level = 0; level < 20; ++level) deep = R"({"type":"object","properties":{"a":)" + deep + "}}";
    const auto made = filled_in(deep, hear_nothing(), "en");
    BOOST_TEST(made.find("null") != std::string::npos);
    BOOST_TEST(filled_in("{", hear_nothing(), "en") == "null");
    BOOST_TEST(filled_in("[]", hear_nothing(), "en") == "null");
}

BOOST_AUTO_TEST_SUITE_END()
