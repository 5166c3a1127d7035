// Frames and messages: whole, cut anywhere, oversized, and nonsense.
#define BOOST_TEST_MODULE whisper_protocol
#include <backends/whisper/protocol.hpp>
#include <backends/whisper/utf8.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <vector>

namespace {

using namespace hearonce;
using namespace hearonce::whisper;
using state = frame_reader::state;

std::vector<std::string> payloads_of(frame_reader& reader) {
    std::vector<std::string> out;
    std::string_view payload;
    while (reader.next(payload) == state::frame) out.emplace_back(payload);
    return out;
}

template <class T>
T there_and_back(const T& what) {
    frame_reader reader;
    reader.feed(encode(what));
    std::string_view payload;
    BOOST_REQUIRE((reader.next(payload) == state::frame));
    auto got = decode(payload);
    BOOST_REQUIRE(got.has_value());
    BOOST_REQUIRE(std::holds_alternative<T>(*got));
    BOOST_REQUIRE((reader.next(payload) == state::more));
    return std::get<T>(std::move(*got));
}

job_done some_result() {
    job_done done;
    done.id = 7;
    done.result.text = "grüße, 世界";
    done.result.language = "german";
    done.result.duration_seconds = 1.585;
    done.result.segments = {{0, 0, 0.2, 1.4, " grüße,", {257, 50363, -1}, 0.2, -0.25, 0.75, 0.01},
                            {1, 140, 1.4, 1.585, " 世界", {}, 0, -1.5, 1.25, 0.9}};
    done.result.words = {{"grüße,", 0.2, 0.7}, {"世界", 0.7, 1.41}};
    return done;
}

std::string head_for(std::size_t size) {
    std::string head;
    for (int shift = 24; shift >= 0; shift -= 8) head.push_back(static_cast<char>(size >> shift & 0xFF));
    return head;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(messages)

BOOST_AUTO_TEST_CASE(a_start_comes_back_as_it_was) {
    const start_job got =
        there_and_back(start_job{std::numeric_limits<std::uint64_t>::max(), "de", "Ärger \"quoted\"\n\x01", 0.25, true, true, true});
    BOOST_TEST(got.id == std::numeric_limits<std::uint64_t>::max());
    BOOST_TEST(got.language == "de");
    BOOST_TEST(got.prompt == "Ärger \"quoted\"\n\x01");
    BOOST_TEST(got.temperature == 0.25);
    BOOST_TEST(got.translate);
    BOOST_TEST(got.word_times);
    BOOST_TEST(got.tell);
    BOOST_TEST(!there_and_back(start_job{}).tell);
    BOOST_TEST(!there_and_back(start_job{}).translate);
}

BOOST_AUTO_TEST_CASE(a_result_comes_back_as_it_was) {
    const job_done sent = some_result();
    const job_done got = there_and_back(sent);
    BOOST_TEST(got.id == 7U);
    BOOST_TEST(got.result.text == sent.result.text);
    BOOST_TEST(got.result.language == "german");
    BOOST_TEST(got.result.duration_seconds == 1.585);
    BOOST_REQUIRE(got.result.segments.size() == 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        const segment& a = sent.result.segments[i];
        const segment& b = got.result.segments[i];
        BOOST_TEST(b.id == a.id);
        BOOST_TEST(b.seek == a.seek);
        BOOST_TEST(b.start_seconds == a.start_seconds);
        BOOST_TEST(b.text == a.text);
        BOOST_TEST(b.tokens == a.tokens, boost::test_tools::per_element());
        BOOST_TEST(b.temperature == a.temperature);
        BOOST_TEST(b.avg_logprob == a.avg_logprob);
        BOOST_TEST(b.compression_ratio == a.compression_ratio);
        BOOST_TEST(b.no_speech_prob == a.no_speech_prob);
    }
    // Times travel as centiseconds.
    BOOST_TEST(got.result.segments[1].end_seconds == 1.59);
    BOOST_REQUIRE(got.result.words.size() == 2U);
    BOOST_TEST(got.result.words[1].word == "世界");
    BOOST_TEST(got.result.words[1].start_seconds == 0.7);
    BOOST_TEST(got.result.words[1].end_seconds == 1.41);
}

// 0.7 must be written 0.7 in a subtitle or a JSON answer, not 0.7000000000000001.
BOOST_AUTO_TEST_CASE(times_keep_their_shortest_form) {
    job_done done;
    for (int cs = 0; cs < 3000; ++cs) done.result.words.push_back({"w", cs / 100.0, cs / 100.0});
    const job_done got = there_and_back(done);
    for (int cs = 0; cs < 3000; ++cs) BOOST_REQUIRE(got.result.words[static_cast<std::size_t>(cs)].start_seconds == cs / 100.0);
}

BOOST_AUTO_TEST_CASE(the_small_ones_come_back_as_they_were) {
    BOOST_TEST(there_and_back(cancel_job{3}).id == 3U);
    BOOST_TEST(there_and_back(job_cancelled{4}).id == 4U);
    BOOST_TEST(there_and_back(job_heard{5, " \"w\x80"}).id == 5U);
    BOOST_TEST(there_and_back(job_heard{5, " \"w\x80"}).text == " \"w\xEF\xBF\xBD");
    BOOST_TEST(there_and_back(helper_ready{"1.9.5", true}).library == "1.9.5");
    BOOST_TEST(there_and_back(helper_ready{"1.9.5", true}).multilingual);
    BOOST_TEST(there_and_back(helper_failed{"why"}).reason == "why");
    BOOST_TEST(there_and_back(job_step{5, 45'000}).audio_milliseconds == 45'000);
    BOOST_TEST(!there_and_back(job_step{5, 45'000}).quiet);
    BOOST_TEST(there_and_back(job_step{5, 45'000, true}).quiet);
}

BOOST_AUTO_TEST_CASE(only_known_failures_keep_their_kind) {
    for (const errc code : {errc::unsupported_audio, errc::empty_audio, errc::audio_too_short, errc::audio_too_large,
                            errc::invalid_parameter, errc::upstream_error, errc::internal_error}) {
        const job_failed got = there_and_back(job_failed{1, code, "text", "language"});
        BOOST_TEST((got.code == code));
        BOOST_TEST(got.message == "text");
        BOOST_TEST(got.param == "language");
    }
    // A helper must not be able to say, for example, that a key is wrong.
    BOOST_TEST((there_and_back(job_failed{1, errc::invalid_api_key, "", ""}).code == errc::internal_error));
}

BOOST_AUTO_TEST_CASE(what_json_cannot_hold_is_mended) {
    job_done done = some_result();
    done.result.text =
        "a\xFF"
        "b\xE4\xB8";
    done.result.segments[0].avg_logprob = std::numeric_limits<double>::quiet_NaN();
    done.result.segments[0].end_seconds = std::numeric_limits<double>::infinity();
    const job_done got = there_and_back(done);
    BOOST_TEST(got.result.text ==
               "a\xEF\xBF\xBD"
               "b\xEF\xBF\xBD");
    BOOST_TEST(got.result.segments[0].avg_logprob == 0);
    BOOST_TEST(got.result.segments[0].end_seconds == 0);
    BOOST_TEST(there_and_back(start_job{1, "\x80", "\xC0", 0, false, false}).prompt == "\xEF\xBF\xBD");
}

BOOST_AUTO_TEST_CASE(nonsense_is_no_message) {
    const std::string good = encode(some_result()).substr(frame_head_bytes);
    BOOST_REQUIRE(decode(good).has_value());
    for (const std::string_view bad :
         {"", "null", "[]", "{}", R"({"type":"other","id":1})", R"({"type":1})", R"({"type":"cancel"})", R"({"type":"cancel","id":-1})",
          R"({"type":"cancel","id":"1"})", R"({"type":"cancel","id":1.5})", R"({"type":"step","id":1,"ms":null})",
          R"({"type":"ready","library":"x"})", R"({"type":"done","id":1,"result":[]})", "{\"type\":\"cancel\",\"id\":1}x",
          "{\"type\":\"broken\",\"reason\":\"\xFF\"}"}) {
        BOOST_TEST_INFO_SCOPE(bad);
        BOOST_TEST(!decode(bad).has_value());
    }
    for (std::size_t n = 0; n < good.size(); ++n) BOOST_REQUIRE(!decode(std::string_view(good).substr(0, n)).has_value());
    // Deep nesting must not use up the stack.
    BOOST_TEST(!decode(std::string(100'000, '[')).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(frames)

BOOST_AUTO_TEST_CASE(a_stream_cut_at_every_byte_gives_the_same_frames) {
    const std::string one = encode(some_result());
    const std::string two = encode(cancel_job{9});
    const std::string stream = one + two;
    const std::vector<std::string> wanted = {one.substr(frame_head_bytes), two.substr(frame_head_bytes)};
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        frame_reader reader;
        reader.feed(std::string_view(stream).substr(0, cut));
        std::vector<std::string> got = payloads_of(reader);
        reader.feed(std::string_view(stream).substr(cut));
        for (std::string& each : payloads_of(reader)) got.push_back(std::move(each));
        BOOST_REQUIRE(got == wanted);
    }
    frame_reader reader;
    std::vector<std::string> got;
    for (const char byte : stream) {
        reader.feed({&byte, 1});
        for (std::string& each : payloads_of(reader)) got.push_back(std::move(each));
    }
    BOOST_TEST((got == wanted));
}

BOOST_AUTO_TEST_CASE(an_empty_frame_is_a_frame) {
    frame_reader reader;
    reader.feed(std::string(8, '\0'));
    std::string_view payload = "x";
    BOOST_TEST((reader.next(payload) == state::frame));
    BOOST_TEST(payload.empty());
    BOOST_TEST((reader.next(payload) == state::frame));
    BOOST_TEST((reader.next(payload) == state::more));
}

BOOST_AUTO_TEST_CASE(the_largest_frame_is_awaited_and_a_larger_one_breaks_the_stream_for_ever) {
    std::string_view payload;
    for (const std::size_t size : {frame_bytes_max - 1, frame_bytes_max}) {
        frame_reader reader;
        reader.feed(head_for(size));
        BOOST_TEST((reader.next(payload) == state::more));
    }
    frame_reader reader;
    reader.feed(encode(cancel_job{1}) + head_for(frame_bytes_max + 1));
    BOOST_TEST((reader.next(payload) == state::frame));
    BOOST_TEST((reader.next(payload) == state::broken));
    reader.feed(encode(cancel_job{1}));
    BOOST_TEST((reader.next(payload) == state::broken));
}

BOOST_AUTO_TEST_CASE(a_result_too_large_for_a_frame_becomes_a_failure) {
    job_done done;
    done.id = 12;
    done.result.text.assign(frame_bytes_max, 'a');
    frame_reader reader;
    reader.feed(encode(done));
    std::string_view payload;
    BOOST_REQUIRE((reader.next(payload) == state::frame));
    const auto got = decode(payload);
    BOOST_REQUIRE(got.has_value());
    BOOST_REQUIRE(std::holds_alternative<job_failed>(*got));
    BOOST_TEST(std::get<job_failed>(*got).id == 12U);
    start_job large;
    large.prompt.assign(frame_bytes_max, 'a');
    BOOST_TEST(encode(large).empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(utf8)

BOOST_AUTO_TEST_CASE(valid_text_stays) {
    const std::string text = "a \xC2\x80 \xDF\xBF \xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xEF\xBF\xBF \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF";
    BOOST_TEST(valid_utf8(text) == text);
    BOOST_TEST(valid_utf8(std::string("a\0b", 3)) == std::string("a\0b", 3));
    BOOST_TEST(valid_utf8("").empty());
}

// The examples of Unicode 15, section 3.9, and the neighbours of each bound.
BOOST_AUTO_TEST_CASE(each_maximal_invalid_piece_becomes_one_mark) {
    const std::string mark = "\xEF\xBF\xBD";
    const auto marks = [&](std::size_t n) {
        std::string out;
        while (n-- > 0) out += mark;
        return out;
    };
    BOOST_TEST(valid_utf8("\xC0\xAF") == marks(2));
    BOOST_TEST(valid_utf8("\xE0\x80\xBF") == marks(3));
    BOOST_TEST(valid_utf8("\xED\xA0\x80") == marks(3));
    BOOST_TEST(valid_utf8("\xF4\x91\x92\x93") == marks(4));
    BOOST_TEST(valid_utf8("\xF0\x8F\xBF\xBF") == marks(4));
    BOOST_TEST(valid_utf8("\xF5\x80") == marks(2));
    BOOST_TEST(valid_utf8("\xC1\x80") == marks(2));
    BOOST_TEST(valid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") == marks(4) + "A");
    BOOST_TEST(valid_utf8("x\xE2\x82") == "x" + mark);
    BOOST_TEST(valid_utf8("\xE2\x82\xAC") == "\xE2\x82\xAC");
}

BOOST_AUTO_TEST_CASE(a_tail_begins_with_a_whole_character) {
    BOOST_TEST(utf8_tail("abc", 4) == "abc");
    BOOST_TEST(utf8_tail("abc", 3) == "abc");
    BOOST_TEST(utf8_tail("abc", 2) == "bc");
    BOOST_TEST(utf8_tail("abc", 0).empty());
    const std::string_view smile = "a\xF0\x9F\x98\x80";
    BOOST_TEST(utf8_tail(smile, 5) == smile);
    BOOST_TEST(utf8_tail(smile, 4) == smile.substr(1));
    for (const std::size_t cut : {3U, 2U, 1U}) BOOST_TEST(utf8_tail(smile, cut).empty());
    // What is no text keeps its length, give or take a character.
    BOOST_TEST(utf8_tail(std::string(100, '\x80'), 50).size() == 47U);
}

BOOST_AUTO_TEST_CASE(an_unfinished_end_is_found) {
    BOOST_TEST(utf8_whole("") == 0U);
    BOOST_TEST(utf8_whole("abc") == 3U);
    BOOST_TEST(utf8_whole("ab\xC3") == 2U);
    BOOST_TEST(utf8_whole("ab\xC3\xA9") == 4U);
    BOOST_TEST(utf8_whole("\xE2") == 0U);
    BOOST_TEST(utf8_whole("a\xE2\x82") == 1U);
    BOOST_TEST(utf8_whole("a\xF0\x9F\x98") == 1U);
    BOOST_TEST(utf8_whole("a\xF0\x9F\x98\x80") == 5U);
    // What nothing can complete is not waited for.
    BOOST_TEST(utf8_whole("a\x80\x80\x80\x80") == 5U);
    BOOST_TEST(utf8_whole("a\xFF") == 2U);
    BOOST_TEST(utf8_whole("a\xED\xA0") == 3U);
}

BOOST_AUTO_TEST_SUITE_END()
