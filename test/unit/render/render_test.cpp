// Bodies against OpenAI's documented examples, and against a check as strict as the strictest SDK's.
#define BOOST_TEST_MODULE render
#include <http/render.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <limits>
#include <random>

namespace json = boost::json;
using namespace hearonce;
using namespace hearonce::http;

namespace {

segment said(double start, double end, std::string text) {
    segment one;
    one.start_seconds = start;
    one.end_seconds = end;
    one.text = std::move(text);
    return one;
}

// The recording of the documented example.
transcript birds() {
    transcript heard;
    heard.text = "two birds sat";
    heard.language = "english";
    heard.duration_seconds = 3.4;
    segment one = said(0, 3.4, " two birds sat");
    one.tokens = {50364, 732};
    one.avg_logprob = -0.2;
    one.compression_ratio = 0.9;
    one.no_speech_prob = 0.01;
    heard.segments.push_back(one);
    heard.words.push_back({"two", 0.0, 0.3});
    heard.backend = "local";
    return heard;
}

shape as(response_format format, bool words = false, bool segments = true, task kind = task::transcribe) {
    return {format, kind, words, segments};
}

json::object parsed(const transcript& heard, const shape& wanted) {
    return json::parse(render(heard, wanted)).as_object();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden)

BOOST_AUTO_TEST_CASE(json_with_usage) {
    BOOST_TEST(render(birds(), as(response_format::json)) == R"({"text":"two birds sat","usage":{"type":"duration","seconds":4}})");
}

BOOST_AUTO_TEST_CASE(json_of_unknown_duration_has_no_usage) {
    transcript heard = birds();
    heard.duration_seconds = 0;
    BOOST_TEST(render(heard, as(response_format::json)) == R"({"text":"two birds sat"})");
}

BOOST_AUTO_TEST_CASE(verbose_with_both_granularities) {
    BOOST_TEST(render(birds(), as(response_format::verbose_json, true, true)) ==
               R"({"task":"transcribe","language":"english","duration":3.4,"text":"two birds sat",)"
               R"("words":[{"word":"two","start":0.0,"end":0.3}],)"
               R"("segments":[{"id":0,"seek":0,"start":0.0,"end":3.4,"text":" two birds sat","tokens":[50364,732],"temperature":0.0,)"
               R"("avg_logprob":-0.2,"compression_ratio":0.9,"no_speech_prob":0.01}],"usage":{"type":"duration","seconds":4}})");
}

BOOST_AUTO_TEST_CASE(text_ends_its_line) {
    BOOST_TEST(render(birds(), as(response_format::text)) == "two birds sat\n");
    BOOST_TEST(render(transcript{}, as(response_format::text)) == "\n");
}

BOOST_AUTO_TEST_CASE(srt_and_vtt) {
    transcript heard = birds();
    heard.segments = {said(0, 1.5, " Hello."), said(1.5, 3661.25, " World.")};
    BOOST_TEST(render(heard, as(response_format::srt)) ==
               "1\n00:00:00,000 --> 00:00:01,500\nHello.\n\n2\n00:00:01,500 --> 01:01:01,250\nWorld.\n\n");
    BOOST_TEST(render(heard, as(response_format::vtt)) ==
               "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello.\n\n00:00:01.500 --> 01:01:01.250\nWorld.\n\n");
}

BOOST_AUTO_TEST_CASE(diarized) {
    transcript heard;
    heard.text = "Hello. Hi.";
    heard.duration_seconds = 27.4;
    heard.segments = {said(0, 4.7, " Hello."), said(4.7, 5, " Hi.")};
    heard.segments[0].speaker = "A";
    heard.segments[1].speaker = "agent";
    BOOST_TEST(render(heard, as(response_format::diarized_json)) ==
               R"({"task":"transcribe","duration":27.4,"text":"Hello. Hi.","segments":[)"
               R"({"type":"transcript.text.segment","id":"seg_001","start":0.0,"end":4.7,"text":"Hello.","speaker":"A"},)"
               R"({"type":"transcript.text.segment","id":"seg_002","start":4.7,"end":5.0,"text":"Hi.","speaker":"agent"}],)"
               R"("usage":{"type":"duration","seconds":28}})");
}

BOOST_AUTO_TEST_CASE(diarized_ids_grow_past_three_digits) {
    transcript heard;
    heard.segments.assign(1000, said(0, 1, " a"));
    const auto body = parsed(heard, as(response_format::diarized_json));
    const auto& segments = body.at("segments").as_array();
    BOOST_TEST(segments[8].at("id").as_string() == "seg_009");
    BOOST_TEST(segments[98].at("id").as_string() == "seg_099");
    BOOST_TEST(segments[99].at("id").as_string() == "seg_100");
    BOOST_TEST(segments[999].at("id").as_string() == "seg_1000");
}

BOOST_AUTO_TEST_CASE(content_types) {
    for (const auto format : {response_format::json, response_format::verbose_json, response_format::diarized_json}) {
        BOOST_TEST(content_type_of(format) == "application/json");
    }
    for (const auto format : {response_format::text, response_format::srt, response_format::vtt}) {
        BOOST_TEST(content_type_of(format) == "text/plain; charset=utf-8");
    }
}

BOOST_AUTO_TEST_CASE(shape_is_what_was_asked) {
    transcription_request asked;
    asked.format = response_format::verbose_json;
    asked.task = task::translate;
    asked.word_times = true;
    asked.segment_times = false;
    const shape wanted = shape_of(asked);
    BOOST_TEST((wanted.format == response_format::verbose_json && wanted.task == task::translate));
    BOOST_TEST((wanted.words && !wanted.segments));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(verbose)

// As strict as the AI SDK's schema: all keys there, numbers numbers, nothing null, nothing else beside.
void check_segment(const json::value& value) {
    const auto& one = value.as_object();
    BOOST_TEST(one.size() == 10U);
    for (const char* key : {"id", "seek", "start", "end", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob"}) {
        BOOST_TEST_CONTEXT(key) BOOST_TEST(one.at(key).is_number());
    }
    BOOST_TEST(one.at("text").is_string());
    for (const auto& token : one.at("tokens").as_array()) BOOST_TEST(token.is_int64());
}

BOOST_AUTO_TEST_CASE(keys_follow_what_was_asked) {
    for (const bool words : {false, true}) {
        for (const bool segments : {false, true}) {
            const auto body = parsed(birds(), as(response_format::verbose_json, words, segments));
            BOOST_TEST(body.contains("words") == words);
            BOOST_TEST(body.contains("segments") == segments);
            BOOST_TEST(body.at("task").as_string() == "transcribe");
            BOOST_TEST(body.at("language").as_string() == "english");
            BOOST_TEST(body.at("duration").is_double());
            BOOST_TEST(body.at("text").is_string());
        }
    }
}

BOOST_AUTO_TEST_CASE(asked_for_but_not_there_is_an_empty_list) {
    const auto body = parsed(transcript{}, as(response_format::verbose_json, true, true));
    BOOST_TEST(body.at("words").as_array().empty());
    BOOST_TEST(body.at("segments").as_array().empty());
    BOOST_TEST(body.at("language").as_string() == "");
    BOOST_TEST(body.at("duration").as_double() == 0.0);
}

BOOST_AUTO_TEST_CASE(a_translation_is_english) {
    transcript heard = birds();
    heard.language = "german";
    const auto body = parsed(heard, as(response_format::verbose_json, false, true, task::translate));
    BOOST_TEST(body.at("task").as_string() == "translate");
    BOOST_TEST(body.at("language").as_string() == "english");
}

BOOST_AUTO_TEST_CASE(a_bare_segment_has_all_keys) {
    transcript heard = birds();
    heard.segments.assign(3, segment{});
    const auto body = parsed(heard, as(response_format::verbose_json));
    BOOST_TEST(body.at("segments").as_array().size() == 3U);
    for (const auto& one : body.at("segments").as_array()) check_segment(one);
}

BOOST_AUTO_TEST_CASE(numbers_json_cannot_say_become_zero) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double bad : {nan, infinity, -infinity}) {
        transcript heard = birds();
        heard.duration_seconds = bad;
        segment& one = heard.segments[0];
        one.start_seconds = one.end_seconds = one.temperature = one.avg_logprob = one.compression_ratio = one.no_speech_prob = bad;
        heard.words[0].start_seconds = heard.words[0].end_seconds = bad;
        const auto body = parsed(heard, as(response_format::verbose_json, true, true));
        BOOST_TEST(body.at("duration").as_double() == 0.0);
        check_segment(body.at("segments").as_array()[0]);
        BOOST_TEST(body.at("words").as_array()[0].at("end").as_double() == 0.0);
    }
}

BOOST_AUTO_TEST_CASE(float_noise_is_not_shown) {
    transcript heard = birds();
    heard.duration_seconds = 3.3999999999999999;
    heard.segments[0].start_seconds = 0.1 + 0.2;
    heard.segments[0].end_seconds = static_cast<double>(59.98F);
    heard.segments[0].avg_logprob = static_cast<double>(-0.2F);
    heard.segments[0].no_speech_prob = 1.0e-12;
    const std::string body = render(heard, as(response_format::verbose_json));
    BOOST_TEST(body.find(R"("duration":3.4,)") != std::string::npos);
    BOOST_TEST(body.find(R"("start":0.3,"end":59.98,)") != std::string::npos);
    BOOST_TEST(body.find(R"("avg_logprob":-0.2,)") != std::string::npos);
    BOOST_TEST(body.find(R"("no_speech_prob":1e-12)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_end_is_never_before_its_start) {
    transcript heard = birds();
    heard.segments[0].start_seconds = 2;
    heard.segments[0].end_seconds = 1;
    heard.words[0] = {"two", 2, 1};
    const auto body = parsed(heard, as(response_format::verbose_json, true, true));
    BOOST_TEST(body.at("segments").as_array()[0].at("end").as_double() == 2.0);
    BOOST_TEST(body.at("words").as_array()[0].at("end").as_double() == 2.0);
}

BOOST_AUTO_TEST_CASE(usage_counts_seconds_begun) {
    const std::pair<double, std::int64_t> table[] = {{0.001, 1}, {0.999, 1}, {1, 1}, {1.0004, 1}, {1.001, 2}, {59.9996, 60}, {3600, 3600}};
    for (const auto& [duration, seconds] : table) {
        transcript heard = birds();
        heard.duration_seconds = duration;
        BOOST_TEST_CONTEXT(duration) BOOST_TEST(parsed(heard, as(response_format::json)).at("usage").at("seconds").as_int64() == seconds);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(subtitles)

struct timed {
    double seconds;
    const char* clock;
};
std::ostream& operator<<(std::ostream& out, const timed& one) {
    return out << one.seconds;
}

const timed clocks[] = {{0, "00:00:00,000"},         {0.0004, "00:00:00,000"},      {0.0005, "00:00:00,001"},
                        {0.009, "00:00:00,009"},     {0.01, "00:00:00,010"},        {0.1, "00:00:00,100"},
                        {59.9994, "00:00:59,999"},   {59.9996, "00:01:00,000"},     {3599.9996, "01:00:00,000"},
                        {35999.999, "09:59:59,999"}, {360000, "100:00:00,000"},     {3599999.9999, "1000:00:00,000"},
                        {-1, "00:00:00,000"},        {1e300, "277777777:46:40,000"}};

BOOST_DATA_TEST_CASE(clock_rounds_and_carries, boost::unit_test::data::make(clocks)) {
    transcript heard;
    heard.segments = {said(sample.seconds, sample.seconds, " a")};
    const std::string expected = std::string("1\n") + sample.clock + " --> " + sample.clock + "\na\n\n";
    BOOST_TEST(render(heard, as(response_format::srt)) == expected);
}

BOOST_AUTO_TEST_CASE(without_segments_one_cue_spans_everything) {
    transcript heard;
    heard.text = "all of it";
    heard.duration_seconds = 2;
    BOOST_TEST(render(heard, as(response_format::srt)) == "1\n00:00:00,000 --> 00:00:02,000\nall of it\n\n");
}

BOOST_AUTO_TEST_CASE(nothing_said) {
    BOOST_TEST(render(transcript{}, as(response_format::srt)) == "");
    BOOST_TEST(render(transcript{}, as(response_format::vtt)) == "WEBVTT\n\n");
}

BOOST_AUTO_TEST_CASE(silent_segments_take_no_number) {
    transcript heard;
    heard.segments = {said(0, 1, " "), said(1, 2, " a"), said(2, 3, ""), said(3, 4, " b\n")};
    BOOST_TEST(render(heard, as(response_format::srt)) == "1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:00:03,000 --> 00:00:04,000\nb\n\n");
}

BOOST_AUTO_TEST_CASE(text_cannot_end_or_forge_a_cue) {
    transcript heard;
    heard.segments = {said(0, 1, " one\n\n2\r\n00:00:09,000 --> 00:00:10,000 ----> x")};
    const std::string body = render(heard, as(response_format::srt));
    BOOST_TEST(body == "1\n00:00:00,000 --> 00:00:01,000\none  2  00:00:09,000 -> 00:00:10,000 -> x\n\n");
}

// Of hh:mm:ss,mmm or hh:mm:ss.mmm, checked digit by digit.
long clock_milliseconds(const std::string& text) {
    long hours = 0;
    long minutes = 0;
    long seconds = 0;
    long rest = 0;
    char mark = 0;
    int used = 0;
    const int read = std::sscanf(text.c_str(), "%2ld:%2ld:%2ld%c%3ld%n", &hours, &minutes, &seconds, &mark, &rest, &used);
    BOOST_REQUIRE(read == 5);
    BOOST_REQUIRE(static_cast<std::size_t>(used) == text.size());
    BOOST_REQUIRE(text.size() == 12U);
    BOOST_REQUIRE((mark == ',' || mark == '.'));
    BOOST_REQUIRE((minutes < 60 && seconds < 60));
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + rest;
}

BOOST_AUTO_TEST_CASE(times_never_go_back) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> seconds(-10, 10000);
    for (int round = 0; round < 50; ++round) {
        transcript heard;
        for (int i = 0; i < 40; ++i) heard.segments.push_back(said(seconds(random), seconds(random), " a"));
        for (const auto format : {response_format::srt, response_format::vtt}) {
            const std::string body = render(heard, as(format));
            long before = 0;
            int cues = 0;
            for (auto arrow = body.find(" --> "); arrow != std::string::npos; arrow = body.find(" --> ", arrow + 1), ++cues) {
                const auto line = body.rfind('\n', arrow);
                const long start = clock_milliseconds(body.substr(line + 1, arrow - line - 1));
                const long end = clock_milliseconds(body.substr(arrow + 5, body.find('\n', arrow) - arrow - 5));
                BOOST_REQUIRE(start >= before);
                BOOST_REQUIRE(end >= start);
                before = start;
            }
            BOOST_TEST(cues == 40);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(characters)

// Random text of every length of character, biased to what needs care.
std::string random_text(std::mt19937& random) {
    static const char32_t special[] = {0,   1,    8,    9,     10,    12,     13,     27,     31,     32,     '"',     '\\',
                                       '/', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0x2028, 0xfffd, 0xffff, 0x10000, 0x10ffff};
    std::string out;
    const auto length = random() % 80;
    for (unsigned i = 0; i < length; ++i) {
        char32_t c = 0;
        switch (random() % 4) {
            case 0: c = special[random() % std::size(special)]; break;
            case 1: c = random() % 0x110000; break;
            default: c = 0x20 + random() % 0x5f; break;
        }
        if (c >= 0xd800 && c <= 0xdfff) c = 0xd7ff;
        if (c < 0x80) {
            out += static_cast<char>(c);
        } else if (c < 0x800) {
            out += static_cast<char>(0xc0 | (c >> 6));
            out += static_cast<char>(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            out += static_cast<char>(0xe0 | (c >> 12));
            out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
            out += static_cast<char>(0x80 | (c & 0x3f));
        } else {
            out += static_cast<char>(0xf0 | (c >> 18));
            out += static_cast<char>(0x80 | ((c >> 12) & 0x3f));
            out += static_cast<char>(0x80 | ((c >> 6) & 0x3f));
            out += static_cast<char>(0x80 | (c & 0x3f));
        }
    }
    return out;
}

BOOST_AUTO_TEST_CASE(every_text_survives_the_way_through_json) {
    std::mt19937 random(42);
    for (int round = 0; round < 3000; ++round) {
        transcript heard;
        heard.text = random_text(random);
        heard.segments = {said(0, 1, random_text(random))};
        heard.words.push_back({random_text(random), 0, 1});
        BOOST_REQUIRE(parsed(heard, as(response_format::json)).at("text").as_string() == heard.text);
        const auto verbose = parsed(heard, as(response_format::verbose_json, true, true));
        BOOST_REQUIRE(verbose.at("text").as_string() == heard.text);
        BOOST_REQUIRE(verbose.at("segments").as_array()[0].at("text").as_string() == heard.segments[0].text);
        BOOST_REQUIRE(verbose.at("words").as_array()[0].at("word").as_string() == heard.words[0].word);
        BOOST_REQUIRE(render(heard, as(response_format::text)) == heard.text + "\n");
    }
}

// What is no UTF-8 is replaced everywhere; the parser, which checks, takes every body.
BOOST_AUTO_TEST_CASE(any_bytes_make_valid_json) {
    std::mt19937 random(43);
    for (int round = 0; round < 3000; ++round) {
        std::string bytes(random() % 40, '\0');
        for (char& c : bytes) c = static_cast<char>(random());
        transcript heard;
        heard.text = heard.language = bytes;
        heard.segments = {said(0, 1, bytes)};
        heard.segments[0].speaker = bytes;
        for (const auto format : {response_format::json, response_format::verbose_json, response_format::diarized_json}) {
            BOOST_REQUIRE_NO_THROW(json::parse(render(heard, as(format))));
        }
    }
}

BOOST_AUTO_TEST_CASE(wrong_bytes_in_plain_formats) {
    transcript heard;
    heard.text =
        "a\xff"
        "b\xe2\x82";
    heard.segments = {said(0, 1,
                           " a\xff"
                           "b\xe2\x82")};
    BOOST_TEST(render(heard, as(response_format::text)) ==
               "a\xef\xbf\xbd"
               "b\xef\xbf\xbd\n");
    BOOST_TEST(render(heard, as(response_format::vtt)) ==
               "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na\xef\xbf\xbd"
               "b\xef\xbf\xbd\n\n");
}

BOOST_AUTO_TEST_SUITE_END()
