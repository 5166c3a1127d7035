// What comes back in one piece: OpenAI's own answers and the dialects of the servers that are like it, and what is no answer.
#define BOOST_TEST_MODULE openai_answer
#include <boost/test/unit_test.hpp>

#include <backends/openai/answer.hpp>
#include <backends/openai/json_reading.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

using namespace hearonce;
using namespace hearonce::openai;

namespace {

transcript heard(const std::string& body, detail wanted = detail::plain, double seconds = 0, bool whisper_server = false) {
    answer_terms terms;
    terms.detail = wanted;
    terms.recording_seconds = seconds;
    terms.whisper_server = whisper_server;
    auto made = parse_response(body, terms);
    BOOST_TEST_REQUIRE(made.has_value(), body);
    return std::move(*made);
}

std::string text_in(const std::string& json_text, bool whisper_server = false) {
    return heard(R"({"text":")" + json_text + "\"}", detail::plain, 0, whisper_server).text;
}

std::string words_in(const transcript& made) {
    std::string all;
    for (const auto& one : made.words) all += "[" + one.word + "]";
    return all;
}

std::string more_in(const transcript& made) {
    std::string all;
    for (const auto& one : made.more) all += one.name + "=" + one.json + ";";
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(openai)

BOOST_AUTO_TEST_CASE(json_with_usage_and_logprobs_as_they_came) {
    const auto made = heard(R"({"text":"two birds sat","usage":{ "type":"tokens","input_tokens":18,
        "input_token_details":{"text_tokens":0,"audio_tokens":18},"output_tokens":9,"total_tokens":27 },
        "logprobs":[{"token":" s, \"a}]t","logprob":-0.01,"bytes":[32, 115]}],"languages":[{"code":"en"}],"other":{"usage":1}})");
    BOOST_TEST(made.text == "two birds sat");
    BOOST_TEST(more_in(made) ==
               R"(usage={"type":"tokens","input_tokens":18,"input_token_details":{"text_tokens":0,"audio_tokens":18},)"
               R"("output_tokens":9,"total_tokens":27};logprobs=[{"token":" s, \"a}]t","logprob":-0.01,"bytes":[32,115]}];)"
               R"(languages=[{"code":"en"}];)");
    BOOST_TEST(made.segments.empty());
    BOOST_TEST(made.had_audio);
}

BOOST_AUTO_TEST_CASE(verbose_json) {
    const auto made = heard(R"({"task":"transcribe","language":"english","duration":3.4,"text":"two birds sat",)"
                            R"("words":[{"word":"two","start":0.0,"end":0.3}],"segments":[{"id":0,"seek":7,"start":0.0,"end":3.4,)"
                            R"("text":" two birds sat","tokens":[50364,732],"temperature":0.5,"avg_logprob":-0.2,)"
                            R"("compression_ratio":0.9,"no_speech_prob":0.01}],"usage":{"type":"duration","seconds":4}})",
                            detail::timed, 9);
    BOOST_TEST(made.language == "english");
    BOOST_TEST(made.duration_seconds == 3.4);
    BOOST_TEST(words_in(made) == "[two]");
    BOOST_TEST(made.words[0].end_seconds == 0.3);
    BOOST_TEST_REQUIRE(made.segments.size() == 1U);
    const segment& one = made.segments[0];
    BOOST_TEST(one.id == 0);
    BOOST_TEST(one.seek == 7);
    BOOST_TEST(one.end_seconds == 3.4);
    BOOST_TEST(one.text == " two birds sat");
    BOOST_TEST(one.tokens == (std::vector<std::int64_t>{50364, 732}), boost::test_tools::per_element());
    BOOST_TEST(one.temperature == 0.5);
    BOOST_TEST(one.avg_logprob == -0.2);
    BOOST_TEST(one.compression_ratio == 0.9);
    BOOST_TEST(one.no_speech_prob == 0.01);
    BOOST_TEST(more_in(made) == R"(usage={"type":"duration","seconds":4};)");
}

BOOST_AUTO_TEST_CASE(diarized_json) {
    const auto made = heard(R"({"task":"transcribe","duration":27.4,"text":"Hello. Hi.","segments":[)"
                            R"({"type":"transcript.text.segment","id":"seg_001","start":0.0,"end":4.7,"text":"Hello.","speaker":"A"},)"
                            R"({"type":"transcript.text.segment","id":"seg_002","start":4.7,"end":9,"text":"Hi.","speaker":"Ann"}]})",
                            detail::diarized);
    BOOST_TEST_REQUIRE(made.segments.size() == 2U);
    BOOST_TEST(made.segments[0].speaker == "A");
    BOOST_TEST(made.segments[0].text == "Hello.");
    BOOST_TEST(made.segments[1].speaker == "Ann");
    BOOST_TEST(made.segments[1].id == 1);
    BOOST_TEST(made.segments[1].end_seconds == 9);
}

BOOST_AUTO_TEST_CASE(whose_duration) {
    BOOST_TEST(heard(R"({"text":"x","duration":"3.5"})", detail::plain, 9).duration_seconds == 3.5);
    BOOST_TEST(heard(R"({"text":"x","usage":{"type":"duration","seconds":4}})", detail::plain, 9).duration_seconds == 4);
    BOOST_TEST(heard(R"({"text":"x","duration":0,"usage":{"type":"tokens"}})", detail::plain, 9).duration_seconds == 9);
    BOOST_TEST(heard(R"({"text":"x","duration":null,"usage":null})").duration_seconds == 0);
    BOOST_TEST(heard(R"({"text":"x","duration":-1})", detail::plain, 2).duration_seconds == 2);
    BOOST_TEST(heard(R"({"text":"x","duration":"nan"})", detail::plain, 2).duration_seconds == 2);
    BOOST_TEST(heard(R"({"text":"x","duration":"1e999"})", detail::plain, 2).duration_seconds == 2);
}

BOOST_AUTO_TEST_CASE(an_empty_text_is_an_answer) {
    BOOST_TEST(text_in("") == "");
    BOOST_TEST(text_in(" \\n\\t ") == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(dialects)

BOOST_AUTO_TEST_CASE(numbers_in_quotes_nulls_and_gaps) {
    const auto made = heard(R"({"text":"a b","language":"de","duration":"2.5","segments":[{"id":"3","start":"0.5","end":"1.5","text":"a",)"
                            R"("no_speech_prob":null,"tokens":null,"avg_logprob":"x"},{"text":"b","tokens":["7",8,null,1.0]},{},5,null]})",
                            detail::timed);
    BOOST_TEST(made.language == "german");
    BOOST_TEST(made.duration_seconds == 2.5);
    BOOST_TEST_REQUIRE(made.segments.size() == 3U);
    BOOST_TEST(made.segments[0].id == 3);
    BOOST_TEST(made.segments[0].start_seconds == 0.5);
    BOOST_TEST(made.segments[0].no_speech_prob == 0);
    BOOST_TEST(made.segments[0].avg_logprob == 0);
    BOOST_TEST(made.segments[0].text == " a");
    BOOST_TEST(made.segments[1].id == 1);
    BOOST_TEST(made.segments[1].tokens == (std::vector<std::int64_t>{7, 8, 1}), boost::test_tools::per_element());
    BOOST_TEST(made.segments[2].text == "");
}

BOOST_AUTO_TEST_CASE(absurd_numbers_are_none) {
    const auto made =
        heard(R"({"text":"a","segments":[{"id":1e300,"seek":18446744073709551615,"start":1e999999,"text":"a"}]})", detail::timed);
    BOOST_TEST(made.segments.at(0).id == 0);
    BOOST_TEST(made.segments.at(0).seek == 0);
    BOOST_TEST(made.segments.at(0).start_seconds == 0);
}

BOOST_AUTO_TEST_CASE(verbose_where_json_was_asked) {
    const auto made = heard(R"({"text":"a","language":"en","duration":1,"segments":[{"text":"a"}],"words":[{"text":"a"}]})");
    BOOST_TEST(made.text == "a");
    BOOST_TEST(made.segments.empty());
    BOOST_TEST(made.words.empty());
    BOOST_TEST(made.duration_seconds == 1);
}

BOOST_AUTO_TEST_CASE(words_named_text) {
    const auto made =
        heard(R"({"text":"a b","words":[{"text":" a ","start":0,"end":"0.5"},{"word":"b"},{"word":""},{},3]})", detail::timed);
    BOOST_TEST(words_in(made) == "[a][b]");
    BOOST_TEST(made.words[0].end_seconds == 0.5);
}

BOOST_AUTO_TEST_CASE(words_inside_segments) {
    const auto made =
        heard(R"({"text":"a b c","segments":[{"text":" a b","words":[{"word":" a","start":0,"end":1},{"word":" b","end":2}]},)"
              R"({"text":" c","words":[{"word":"c"}]},{"text":""}]})",
              detail::timed);
    BOOST_TEST(words_in(made) == "[a][b][c]");
}

BOOST_AUTO_TEST_CASE(tokens_of_whisper_cpp_become_words) {
    const std::string segments =
        R"("segments":[{"text":" fellow Ameri","words":[{"word":" fel","start":0,"end":1,"t_dtw":-1},{"word":"low","end":2,"t_dtw":-1},)"
        R"({"word":" Ameri","end":3,"t_dtw":-1}]},{"text":"cans,","words":[{"word":"cans","end":4,"t_dtw":-1},{"word":",","end":5,"t_dtw":-1}]}]})";
    const auto made = heard(R"({"text":" fellow Ameri\ncans,\n","language":"english",)" + segments, detail::timed, 0, true);
    BOOST_TEST(made.text == "fellow Americans,");
    BOOST_TEST(words_in(made) == "[fellow][Americans,]");
    BOOST_TEST(made.words[0].end_seconds == 2);
    BOOST_TEST(made.words[1].end_seconds == 5);
    // It goes on in the middle of a word, so it gets no space.
    BOOST_TEST(made.segments[1].text == "cans,");
    const auto chinese = heard(R"({"text":"x","language":"zh",)" + segments, detail::timed);
    BOOST_TEST(chinese.words.size() == 5U);
    BOOST_TEST(chinese.segments[1].text == "cans,");
}

BOOST_AUTO_TEST_CASE(lines_of_whisper_cpp_are_joined) {
    BOOST_TEST(text_in(" And so my\\n fellow\\n") == "And so my fellow");
    BOOST_TEST(text_in(" And so my fel\\nlow\\n", true) == "And so my fellow");
    // Elsewhere line ends are what was said.
    BOOST_TEST(text_in("One.\\n\\nTwo.") == "One.\n\nTwo.");
    BOOST_TEST(text_in("One.\\nTwo.\\n") == "One.\nTwo.");
    BOOST_TEST(text_in("One.\\n") == "One.");
}

BOOST_AUTO_TEST_CASE(segments_end_without_line_feeds_and_begin_with_a_space) {
    const auto made = heard(R"({"text":"a","segments":[{"text":"a\n"},{"text":"b"}]})", detail::timed);
    BOOST_TEST(made.segments[0].text == " a");
    BOOST_TEST(made.segments[1].text == " b");
    const auto japanese = heard(R"({"text":"a","language":"ja","segments":[{"text":"a"}]})", detail::timed);
    BOOST_TEST(japanese.segments[0].text == "a");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(what_is_no_transcript) {
    std::string deep = R"({"text":"x","a":)";
    for (std::size_t i = 0; i < json_depth_max; ++i) deep += '[';
    for (std::size_t i = 0; i < json_depth_max; ++i) deep += ']';
    deep += '}';
    for (const std::string& body : std::vector<std::string>{
             "", " ", "<html>", "hello", "\"hello\"", "5", "null", "[]", "{}", R"({"text":5})", R"({"text":null})", R"({"text":{"a":1}})",
             R"({"text":"x"} y)", R"({"text":"x")", R"({"error":{"message":"x"}})", "{\"text\":\"\xFF\"}", R"({"text":"\ud800"})", deep}) {
        const auto made = parse_response(body, {});
        BOOST_TEST_REQUIRE(!made.has_value(), body);
        BOOST_TEST((made.error().code() == errc::upstream_error));
        BOOST_TEST((made.error().remedy() == remedy::none));
        BOOST_TEST(made.error().message() == "The backend's answer is not a transcript.");
    }
}

BOOST_AUTO_TEST_CASE(nesting_up_to_the_bound) {
    std::string deep = R"({"text":"x","a":)";
    for (std::size_t i = 1; i < json_depth_max; ++i) deep += '[';
    for (std::size_t i = 1; i < json_depth_max; ++i) deep += ']';
    BOOST_TEST(heard(deep + "}").text == "x");
}

BOOST_AUTO_TEST_CASE(members_of_a_wrong_shape_are_left_out) {
    BOOST_TEST(more_in(heard(R"({"text":"x","usage":null,"logprobs":null,"languages":{}})")).empty());
    BOOST_TEST(more_in(heard(R"({"text":"x","usage":[1],"logprobs":"a","languages":[]})")) == "languages=[];");
    BOOST_TEST(heard(R"({"text":"x","words":{},"segments":"a"})", detail::timed).segments.empty());
}

BOOST_AUTO_TEST_CASE(kept_members_are_found_wherever_they_stand) {
    const std::string body =
        "\r\n{ \"a\" : [ {\"usage\":{}} , \"}\\\\\\\"\" ] , \"usage\" : { \"x\" :\t1.50e+1 , \"y z\" : \" , \" } ,\"b\":true ,"
        "\"usage\":{\"last\":\"wins\"}, \"logprobs\" : [ ] }\n";
    std::string all;
    for (const auto& one : kept_members(body)) all += one.name + "=" + one.json + ";";
    BOOST_TEST(all == R"(usage={"last":"wins"};logprobs=[];)");
    BOOST_TEST(kept_members("{}").empty());
    BOOST_TEST(kept_members(R"({"usage":{"n":1.50e+1}})").at(0).json == R"({"n":1.50e+1})");
}

BOOST_AUTO_TEST_CASE(kept_members_are_valid_json_in_one_line) {
    const auto made = heard("{\"text\":\"x\",\"usage\":{\n\"a\" : [ 1 ,\n 2 ] , \"b\" : \"\\n\" }}");
    BOOST_TEST_REQUIRE(made.more.size() == 1U);
    BOOST_TEST(made.more[0].json == R"({"a":[1,2],"b":"\n"})");
    BOOST_TEST(boost::json::parse(made.more[0].json).is_object());
}

BOOST_AUTO_TEST_SUITE_END()
