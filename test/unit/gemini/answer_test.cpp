// From what models say to transcripts: texts, turns, words, times by schema, tokens, and every way an answer can be no
// transcript.
#define BOOST_TEST_MODULE gemini_answer
#include <boost/test/unit_test.hpp>

#include <backends/gemini/answer_reading.hpp>

#include <boost/json.hpp>

#include <limits>
#include <random>

using namespace hearonce;
using namespace hearonce::gemini;
namespace json = boost::json;

namespace {

json::object parts(const std::string& list, const std::string& reason = "STOP") {
    return json::parse(R"({"candidates":[{"content":{"parts":[)" + list + R"(]},"finishReason":")" + reason + "\"}]}").get_object();
}

std::string quoted(const std::string& text) {
    return json::serialize(json::string(text));
}

std::string text_part(const std::string& text) {
    return "{\"text\":" + quoted(text) + "}";
}

std::string spoken(const std::string& members) {
    return "{\"audioTranscription\":{" + members + "}}";
}

wish timed(std::optional<double> seconds = {}) {
    wish made;
    made.class_of_detail = detail::timed;
    made.audio_seconds = seconds;
    return made;
}

wish diarized() {
    wish made;
    made.class_of_detail = detail::diarized;
    return made;
}

result<transcript> heard_from(const json::object& answer, const wish& wanted = {}, bool transcriber = true, bool streamed = false) {
    heard one(transcriber);
    const auto taken = one.take(answer);
    if (!taken) return taken.error();
    return transcript_of(one, wanted, streamed);
}

transcript good(const result<transcript>& made) {
    BOOST_TEST_REQUIRE(made.has_value(), made.error().message());
    return *made;
}

std::string message(const result<transcript>& made) {
    BOOST_TEST_REQUIRE(made.has_error());
    BOOST_TEST((made.error().code() == errc::upstream_error));
    BOOST_TEST((made.error().remedy() == remedy::elsewhere));
    return std::string(made.error().message());
}

// "start-end speaker|text" of each segment.
std::vector<std::string> lines(const transcript& made) {
    std::vector<std::string> out;
    for (const segment& each : made.segments) {
        BOOST_TEST(each.id == static_cast<std::int64_t>(out.size()));
        BOOST_TEST(each.text.starts_with(" "));
        BOOST_TEST(each.end_seconds >= each.start_seconds);
        char times[64];
        std::snprintf(times, sizeof times, "%.2f-%.2f ", each.start_seconds, each.end_seconds);
        out.push_back(times + each.speaker + "|" + each.text.substr(1));
    }
    return out;
}

using strings = std::vector<std::string>;

std::string word(const std::string& text, const std::string& start, const std::string& end, const std::string& more = {}) {
    return R"({"word":)" + quoted(text) + R"(,"startOffset":")" + start + R"(","endOffset":")" + end + "\"" + more + "}";
}

}  // namespace

BOOST_TEST_DONT_PRINT_LOG_VALUE(boost::json::object)

BOOST_AUTO_TEST_SUITE(texts)

BOOST_AUTO_TEST_CASE(parts_are_joined_and_thoughts_left_out) {
    const std::string list =
        R"({"text":"I think","thought":true},)" + text_part("Two bi") + "," + R"({"text":"rds.","thought":false},7,{"inlineData":{}})";
    BOOST_TEST(good(heard_from(parts(list), {}, false)).text == "Two birds.");
    // A transcriber's parts stand apart.
    BOOST_TEST(good(heard_from(parts(text_part("hello") + "," + text_part("world")))).text == "hello world");
    BOOST_TEST(good(heard_from(parts(text_part("hello ") + "," + text_part("world")))).text == "hello world");
}

BOOST_AUTO_TEST_CASE(a_text_and_its_transcription_are_said_once) {
    const std::string spoken_part = spoken(R"("text":"hello world")");
    const std::string both = R"({"text":"hello world","audioTranscription":{"text":"hello world","languageCode":"en-US"}})";
    for (const std::string& list :
         {spoken_part, both, text_part("hello world") + "," + spoken_part, spoken_part + "," + text_part("hello world"),
          spoken(R"("words":[{"word":"hello"},{"word":"world"}])")}) {
        BOOST_TEST_INFO_SCOPE(list);
        BOOST_TEST(good(heard_from(parts(list))).text == "hello world");
    }
    BOOST_TEST(good(heard_from(parts(both))).language == "english");
}

// What the first chunk says it with is what says it.
BOOST_AUTO_TEST_CASE(a_text_that_comes_a_chunk_after_its_transcription) {
    for (const bool text_first : {false, true}) {
        const auto speech = parts(spoken(R"("text":"hello world")"), "");
        const auto text = parts(text_part("hello world"));
        heard one(true);
        BOOST_TEST(*one.take(text_first ? text : speech) == "hello world");
        BOOST_TEST(*one.take(text_first ? speech : text) == "");
        BOOST_TEST(good(transcript_of(one, {}, true)).text == "hello world");
        BOOST_TEST(one.turns().size() == 1U);
    }
}

BOOST_AUTO_TEST_CASE(languages) {
    wish wanted;
    wanted.language = "de";
    BOOST_TEST(good(heard_from(parts(text_part("x")), wanted, false)).language == "german");
    wanted.task = task::translate;
    BOOST_TEST(good(heard_from(parts(text_part("x")), wanted, false)).language == "english");
    BOOST_TEST(good(heard_from(parts(text_part("x")), {}, false)).language.empty());
    BOOST_TEST(good(heard_from(parts(spoken(R"("text":"a","languageCode":"zz")") + "," + spoken(R"("text":"b","languageCode":"fr-CA")"))))
                   .language == "french");
}

BOOST_AUTO_TEST_CASE(tokens) {
    const auto usage = [](const std::string& metadata) {
        auto answer = parts(text_part("x"));
        answer["usageMetadata"] = json::parse(metadata);
        const auto made = good(heard_from(answer));
        return made.more.empty() ? std::string() : made.more[0].json;
    };
    BOOST_TEST(usage("7").empty());
    BOOST_TEST(
        usage(R"({"promptTokenCount":10,"candidatesTokenCount":3,"thoughtsTokenCount":4,"totalTokenCount":17,
                         "promptTokensDetails":[{"modality":"TEXT","tokenCount":2},{"modality":"AUDIO","tokenCount":8},{"modality":"VIDEO","tokenCount":9},1]})") ==
        R"({"type":"tokens","input_tokens":10,"input_token_details":{"text_tokens":2,"audio_tokens":8},"output_tokens":7,"total_tokens":17})");
    BOOST_TEST(
        usage(R"({"promptTokenCount":-1,"candidatesTokenCount":1.5,"thoughtsTokenCount":"4"})") ==
        R"({"type":"tokens","input_tokens":0,"input_token_details":{"text_tokens":0,"audio_tokens":0},"output_tokens":0,"total_tokens":0})");
    BOOST_TEST(usage(R"({"promptTokenCount":9223372036854775807,"candidatesTokenCount":9223372036854775807})").find("2000000000000") !=
               std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(no_transcripts)

BOOST_AUTO_TEST_CASE(reasons_to_end) {
    for (const char* reason : {"SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_RESPONSE",
                               "CONTINUATION", "FINISH_REASON_UNSPECIFIED", "SOMETHING_NEW_2030"})
        BOOST_TEST(message(heard_from(parts(text_part("half of"), reason))) ==
                   "The upstream did not finish the transcript: " + std::string(reason) + ".");
    BOOST_TEST(message(heard_from(parts(text_part("half of"), "MAX_TOKENS"))).find("length limit") != std::string::npos);
    // Words of an upstream's are not told on as they are.
    for (const char* reason : {"<b>x</b>", "stop", "x y"})
        BOOST_TEST(message(heard_from(parts("", reason))).find("an unknown reason") != std::string::npos);
    BOOST_TEST(message(heard_from(parts("", std::string(41, 'A')))).find("an unknown reason") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_end_that_was_not_told) {
    const auto answer = json::parse(R"({"candidates":[{"content":{"parts":[{"text":"hello"}]}}]})").get_object();
    BOOST_TEST(good(heard_from(answer)).text == "hello");
    const auto cut = heard_from(answer, {}, true, true);
    BOOST_TEST_REQUIRE(cut.has_error());
    BOOST_TEST(cut.error().message().find("ended before") != std::string_view::npos);
    BOOST_TEST((cut.error().remedy() == remedy::none));
}

BOOST_AUTO_TEST_CASE(blocked_prompts) {
    for (const char* reason : {"SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR"}) {
        const auto answer = json::parse(R"({"promptFeedback":{"blockReason":")" + std::string(reason) + "\"}}").get_object();
        BOOST_TEST(message(heard_from(answer)) == "The upstream refused the recording: " + std::string(reason) + ".");
    }
    // Feedback that blocks nothing.
    auto answer = parts(text_part("hello"));
    answer["promptFeedback"] = json::object{{"safetyRatings", json::array{}}};
    BOOST_TEST(good(heard_from(answer)).text == "hello");
}

BOOST_AUTO_TEST_CASE(answers_without_candidates) {
    for (const char* text : {"{}", R"({"candidates":[]})", R"({"candidates":{}})", R"({"candidates":[1]})", R"({"candidates":null})"})
        BOOST_TEST(message(heard_from(json::parse(text).get_object())) == "The upstream answered without a transcript.");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(turns)

BOOST_AUTO_TEST_CASE(words_become_segments_by_sentence_pause_and_length) {
    const std::string words = word("Hello,", "0s", "0.5s") + "," + word("world.", "0.500s", "1s") + "," + word("How", "1.1s", "1.2s") +
                              "," + word("are", "1.2s", "1.3s") + "," + word("you", "3s", "3.5s") + "," + word("today?", "3.5s", "4s");
    const auto made =
        good(heard_from(parts(R"({"text":"Hello, world. How are… you today?","audioTranscription":{"words":[)" + words + "]}}"), timed()));
    BOOST_TEST(made.text == "Hello, world. How are… you today?");
    BOOST_TEST(lines(made) == (strings{"0.00-1.00 |Hello, world.", "1.10-1.30 |How are…", "3.00-4.00 |you today?"}),
               boost::test_tools::per_element());
    BOOST_TEST_REQUIRE(made.words.size() == 6U);
    BOOST_TEST(made.words[1].word == "world.");
    BOOST_TEST(made.words[1].start_seconds == 0.5);
    BOOST_TEST(made.duration_seconds == 4.0);
    // Words without punctuation are not cut but for their length.
    std::string many;
    for (int i = 0; i < 40; ++i) many += (i == 0 ? "" : ",") + word("w", std::to_string(i) + "s", std::to_string(i) + ".9s");
    BOOST_TEST(lines(good(heard_from(parts(spoken("\"words\":[" + many + "]")), timed()))).size() == 3U);
}

BOOST_AUTO_TEST_CASE(words_that_are_not_in_the_text_are_joined_themselves) {
    const std::string words = word("two", "0s", "1s") + "," + word("birds.", "1s", "2s");
    const auto made = good(heard_from(parts(R"({"text":"2 birds.","audioTranscription":{"words":[)" + words + "]}}"), timed()));
    BOOST_TEST(made.text == "2 birds.");
    BOOST_TEST(lines(made) == strings{"0.00-2.00 |two birds."}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(languages_without_spaces_have_none_between_words) {
    const std::string words = word("今日", "0s", "1s") + "," + word("は", "1s", "2s");
    const auto made = good(heard_from(parts(spoken(R"("languageCode":"ja-JP","words":[)" + words + "]")), timed()));
    BOOST_TEST(made.text == "今日は");
    BOOST_TEST(made.language == "japanese");
    BOOST_TEST(lines(made) == strings{"0.00-2.00 |今日は"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(speakers_become_letters_in_the_order_they_speak) {
    const auto made = good(
        heard_from(parts(spoken(R"("text":"One oatmilk, please. Thanks.","speakerLabel":"spk_7","startOffset":"0.100s","endOffset":"2s")") +
                         "," + spoken(R"("text":"Coming up.","speakerLabel":"spk:0","startOffset":"2s","endOffset":"1.5s")") + "," +
                         spoken(R"("text":"Thanks.","speakerLabel":"spk_7","startOffset":"3s")")),
                   diarized()));
    BOOST_TEST(made.text == "One oatmilk, please. Thanks. Coming up. Thanks.");
    BOOST_TEST(lines(made) == (strings{"0.10-2.00 A|One oatmilk, please. Thanks.", "2.00-2.00 B|Coming up.", "3.00-3.00 A|Thanks."}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_part_with_words_of_two_speakers) {
    const std::string words = word("Hi.", "0s", "1s", R"(,"speakerLabel":"spk_1")") + "," +
                              word("You", "1s", "2s", R"(,"speakerLabel":"spk_2")") + "," +
                              word("too.", "2s", "3s", R"(,"speakerLabel":"spk_2")");
    const auto made = good(heard_from(parts(spoken("\"words\":[" + words + "]")), diarized()));
    BOOST_TEST(lines(made) == (strings{"0.00-1.00 A|Hi.", "1.00-3.00 B|You too."}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(letters_after_the_last_one) {
    speakers voices;
    BOOST_TEST(voices.letter_of("x") == "A");
    for (int i = 1; i < 26; ++i) voices.letter_of(std::to_string(i));
    BOOST_TEST(voices.letter_of("25") == "Z");
    BOOST_TEST(voices.letter_of("26") == "AA");
    BOOST_TEST(voices.letter_of("27") == "AB");
    BOOST_TEST(voices.letter_of("x") == "A");
}

BOOST_AUTO_TEST_CASE(a_text_without_times) {
    const auto answer = parts(text_part("hello world"));
    BOOST_TEST(message(heard_from(answer, timed())).find("no times") != std::string::npos);
    BOOST_TEST(lines(good(heard_from(answer, timed(3.0)))) == strings{"0.00-3.00 |hello world"}, boost::test_tools::per_element());
    BOOST_TEST(message(heard_from(answer, diarized())).find("no times") != std::string::npos);
    BOOST_TEST(
        message(heard_from(parts(spoken(R"("text":"a","startOffset":"1s")") + "," + spoken(R"("text":"b")")), timed())).find("no times") !=
        std::string::npos);
    // Nothing said needs no times.
    BOOST_TEST(good(heard_from(parts(""), timed())).segments.empty());
    BOOST_TEST(good(heard_from(parts(""), diarized())).segments.empty());
}

BOOST_AUTO_TEST_CASE(offsets) {
    const auto offset = [](const char* text) {
        const json::value value = json::parse(text);
        return offset_of(&value).value_or(-1);
    };
    BOOST_TEST(offset("\"0.100s\"") == 0.1);
    BOOST_TEST(offset("\"2s\"") == 2.0);
    BOOST_TEST(offset("\"2\"") == 2.0);
    BOOST_TEST(offset("2") == 2.0);
    BOOST_TEST(offset("2.5") == 2.5);
    BOOST_TEST(offset("\"1e300s\"") == 1e6);
    for (const char* text :
         {"\"\"", "\"s\"", "\"-1s\"", "-1", "\"1m\"", "\"1ss\"", "\"nan\"", "\"infs\"", "null", "true", "{}", "[]", "\" 1s\"", "\"1s \""})
        BOOST_TEST(offset(text) == -1, text);
    BOOST_TEST(!offset_of(nullptr).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(by_schema)

result<transcript> from_json(const std::string& text, wish wanted = timed()) {
    wanted.structured = true;
    return heard_from(parts(text_part(text)), wanted, false);
}

const std::string two = R"({"language":"en","segments":[{"start":"00:00.500","end":"00:02.000","text":" Hello. "},)"
                        R"({"start":"01:02.250","end":"01:03","text":"Bye."},{"start":"01:04","end":"01:05","text":" "}]})";

BOOST_AUTO_TEST_CASE(segments_and_their_text) {
    const auto made = good(from_json(two));
    BOOST_TEST(made.text == "Hello. Bye.");
    BOOST_TEST(made.language == "english");
    BOOST_TEST(lines(made) == (strings{"0.50-2.00 |Hello.", "62.25-63.00 |Bye."}), boost::test_tools::per_element());
    BOOST_TEST(made.duration_seconds == 63.0);
}

BOOST_AUTO_TEST_CASE(fenced_or_bare) {
    for (const std::string& text : {"```json\n" + two + "\n```", "```\n" + two + "```", "  ```JSON\r\n" + two + "\r\n```  \n",
                                    "\n" + two + "\n", "```json\n" + two}) {
        BOOST_TEST_INFO_SCOPE(text);
        BOOST_TEST(good(from_json(text)).segments.size() == 2U);
    }
    BOOST_TEST(good(from_json(R"([{"start":1,"end":2,"text":"a"}])")).text == "a");
}

BOOST_AUTO_TEST_CASE(cut_anywhere_it_is_an_error) {
    for (std::size_t size = 1; size < two.size(); ++size) {
        BOOST_TEST_INFO_SCOPE(size);
        message(from_json(two.substr(0, size)));
    }
    for (const char* fence : {"`", "```", "```json", "```json\n", "``````"}) message(from_json(fence));
}

BOOST_AUTO_TEST_CASE(not_what_was_asked) {
    for (const char* text :
         {"hello", "{}", "[1]", R"({"segments":{}})", R"({"segments":[{"text":"a"}]})", R"({"segments":[{"start":"x","text":"a"}]})",
          R"({"segments":[{"start":"1:2:3:4","text":"a"}]})", R"({"segments":[{"start":"1:","text":"a"}]})",
          R"({"segments":[{"start":"0:-1","text":"a"}]})", R"({"segments":[{"start":1,"end":2}]})",
          R"({"segments":[{"start":1,"end":2,"text":7}]})", "null", "\"text\"", "1"})
        message(from_json(text));
    BOOST_TEST(good(from_json("")).text.empty());
    BOOST_TEST(good(from_json(R"({"language":"en","segments":[]})")).text.empty());
}

BOOST_AUTO_TEST_CASE(times_in_every_form_models_write) {
    const auto start = [](const std::string& written) {
        return good(from_json(R"([{"start":)" + written + R"(,"end":90000,"text":"a"}])")).segments.at(0).start_seconds;
    };
    BOOST_TEST(start("1") == 1.0);
    BOOST_TEST(start("1.5") == 1.5);
    BOOST_TEST(start("\"1.5\"") == 1.5);
    BOOST_TEST(start("\"1.5s\"") == 1.5);
    BOOST_TEST(start("\"01:01.5\"") == 61.5);
    BOOST_TEST(start("\"1:00:01\"") == 3601.0);
    BOOST_TEST(start("\"00:01:02.250\"") == 62.25);
}

BOOST_AUTO_TEST_CASE(guessed_times_stay_within_the_recording_and_in_order) {
    const std::string text =
        R"([{"start":5,"end":4,"text":"a"},{"start":2,"end":3,"text":"b"},{"start":"10:00","end":"10:01","text":"c"},{"start":8,"text":"d"}])";
    BOOST_TEST(lines(good(from_json(text, timed(9.0)))) == (strings{"5.00-5.00 |a", "5.00-5.00 |b", "9.00-9.00 |c", "9.00-9.00 |d"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(speakers_by_schema) {
    const auto made =
        good(from_json(R"({"segments":[{"start":0,"end":1,"speaker":"Anna","text":"a"},{"start":1,"end":2,"speaker":"B","text":"b"},)"
                       R"({"start":2,"end":3,"speaker":" Anna ","text":"c"},{"start":3,"end":4,"text":"d"}]})",
                       diarized()));
    BOOST_TEST(lines(made) == (strings{"0.00-1.00 A|a", "1.00-2.00 B|b", "2.00-3.00 A|c", "3.00-4.00 C|d"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(pieces)

struct reader {
    explicit reader(wish wanted = {}) : reading(std::move(wanted), false, std::make_shared<const secret>("k"), false, log) {
        head.status = 200;
        head.headers.push_back({"Content-Type", "Text/Event-Stream;charset=utf-8"});
    }
    std::string told() {
        delta_reader from(log);
        std::string all;
        for (const auto* piece : from.take()) {
            BOOST_TEST(!piece->text.empty());
            all += piece->text;
        }
        return all;
    }
    result<transcript> end() {
        std::string line;
        return reading.end(head, line);
    }
    net::http_answer head;
    std::shared_ptr<delta_log> log = std::make_shared<delta_log>();
    answer_reading reading;
};

std::string record(const std::string& data) {
    return "data: " + data + "\r\n\r\n";
}

std::string chunk(const std::string& text, const std::string& more = {}) {
    return record(R"({"candidates":[{"content":{"parts":[)" + text_part(text) + "]}" + more + "}]}");
}

const std::string song =
    chunk(" \n Two ") + chunk("") + chunk("  ") + chunk("b\u00ef") + record(R"({"usageMetadata":{"promptTokenCount":1}})") +
    chunk("rds. \n", R"(,"finishReason":"STOP")") +
    record(R"({"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2}})");

BOOST_AUTO_TEST_CASE(a_stream_in_random_pieces_tells_what_it_ends_with) {
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        reader one;
        for (std::size_t at = 0; at < song.size();) {
            const std::size_t size = std::min<std::size_t>(1 + random() % (1 + static_cast<std::size_t>(round)), song.size() - at);
            BOOST_REQUIRE(one.reading.take(one.head, std::string_view(song).substr(at, size)));
            at += size;
        }
        const auto made = good(one.end());
        BOOST_REQUIRE_EQUAL(made.text, "Two   b\u00efrds.");
        BOOST_REQUIRE_EQUAL(one.told(), made.text);
        // The last count is the one that counts.
        BOOST_REQUIRE(made.more.at(0).json.find("\"input_tokens\":5") != std::string::npos);
        BOOST_REQUIRE(one.reading.told());
    }
}

BOOST_AUTO_TEST_CASE(cut_anywhere_before_its_end_it_is_no_success) {
    const auto last = song.find("\"finishReason\"");
    for (std::size_t size = 1; size < last; ++size) {
        reader one;
        one.reading.take(one.head, std::string_view(song).substr(0, size));
        BOOST_TEST(!one.reading.complete());
        const auto made = one.end();
        BOOST_REQUIRE(made.has_error());
        // What was told stays told, and what was not may have been done: nobody may begin anew.
        BOOST_TEST((made.error().remedy() == remedy::none));
    }
}

BOOST_AUTO_TEST_CASE(complete_before_its_connection_ends) {
    reader one;
    one.reading.take(one.head, chunk("hello", R"(,"finishReason":"STOP")"));
    BOOST_TEST(one.reading.complete());
    BOOST_TEST(good(one.end()).text == "hello");
}

BOOST_AUTO_TEST_CASE(errors_within_a_stream) {
    reader one;
    one.reading.take(one.head, chunk("hel"));
    const std::string refusal = record(R"({"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}})");
    BOOST_TEST(!one.reading.take(one.head, refusal));
    BOOST_TEST(one.reading.stopped());
    BOOST_TEST((one.end().error().remedy() == remedy::none));
    reader early;
    BOOST_TEST(!early.reading.take(early.head, refusal));
    BOOST_TEST((early.end().error().remedy() == remedy::again));
    reader blocked;
    BOOST_TEST(!blocked.reading.take(blocked.head, record(R"({"promptFeedback":{"blockReason":"SAFETY"}})")));
    BOOST_TEST((blocked.end().error().remedy() == remedy::elsewhere));
    reader truncated;
    truncated.reading.take(truncated.head, chunk("hello", R"(,"finishReason":"MAX_TOKENS")"));
    const auto cut = truncated.end();
    BOOST_TEST(cut.error().upstream_status() == 200);
}

BOOST_AUTO_TEST_CASE(records_that_are_none) {
    for (const std::string& data : {std::string("{"), std::string("[]"), std::string("7"), std::string("hello")}) {
        reader one;
        BOOST_TEST(!one.reading.take(one.head, record(data)));
        BOOST_TEST((one.end().error().code() == errc::upstream_error));
    }
    reader large;
    BOOST_TEST(!large.reading.take(large.head, "data: " + std::string(5 * 1024 * 1024, 'x')));
    BOOST_TEST(large.end().has_error());
    reader done;
    BOOST_TEST(done.reading.take(done.head, ": ping\n\n" + chunk("hello", R"(,"finishReason":"STOP")") + "data: [DONE]\n\n"));
    BOOST_TEST(good(done.end()).text == "hello");
    // The last record without the blank line that ends it.
    reader open;
    std::string unended = chunk("hello", R"(,"finishReason":"STOP")");
    unended.resize(unended.size() - 4);
    open.reading.take(open.head, unended);
    BOOST_TEST(good(open.end()).text == "hello");
    BOOST_TEST(open.told() == "hello");
}

BOOST_AUTO_TEST_CASE(an_answer_in_one_piece_to_a_call_for_events) {
    for (
        const std::string& body :
        {R"({"candidates":[{"content":{"parts":[{"text":"hello"}]},"finishReason":"STOP"}]})",
         R"([{"candidates":[{"content":{"parts":[{"text":"hel"}]}}]},{"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}]}])"}) {
        reader one;
        one.head.headers.front().value = "application/json";
        for (const char each : body) one.reading.take(one.head, std::string_view(&each, 1));
        BOOST_TEST(good(one.end()).text == "hello");
        BOOST_TEST(one.told().empty());
    }
    for (const char* body :
         {"", "<html>", "7", "[]", "[1]", R"([{"error":{"code":503}}])", R"([{"candidates":[{"content":{"parts":[{"text":"hel"}]}}]}])"}) {
        reader one;
        one.head.headers.clear();
        one.reading.take(one.head, body);
        const auto made = one.end();
        BOOST_TEST_REQUIRE(made.has_error(), body);
        BOOST_TEST((made.error().code() == errc::upstream_error), body);
        BOOST_TEST(made.error().upstream_status() == 200);
    }
}

BOOST_AUTO_TEST_CASE(a_refusal_is_read_whatever_its_type) {
    reader one;
    one.head.status = 429;
    for (const char each : std::string(R"({"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}})"))
        one.reading.take(one.head, std::string_view(&each, 1));
    const auto made = one.end();
    BOOST_TEST((made.error().code() == errc::rate_limit_exceeded));
    BOOST_TEST(made.error().message() == "slow");
    BOOST_TEST(made.error().upstream_status() == 429);
}

BOOST_AUTO_TEST_CASE(blanks) {
    untold_blanks one;
    BOOST_TEST(one.pass(" \n").empty());
    BOOST_TEST(one.pass("") == "");
    BOOST_TEST(one.pass(" a ") == "a");
    BOOST_TEST(one.pass(" ").empty());
    BOOST_TEST(one.pass("b") == "  b");
    BOOST_TEST(one.pass("c d\n") == "c d");
    BOOST_TEST(one.pass("\n").empty());
}

BOOST_AUTO_TEST_SUITE_END()
