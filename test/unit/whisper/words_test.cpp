// From tokens to words and from raw text to what may be shown.
#define BOOST_TEST_MODULE whisper_words
#include <backends/whisper/worker/words.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using namespace hearonce;
using namespace hearonce::whisper;

std::string shown(const std::vector<word_time>& words) {
    std::string out;
    for (const word_time& each : words) {
        out += "[" + each.word + " " + std::to_string(static_cast<int>(each.start_seconds * 10 + 0.5)) + "-" +
               std::to_string(static_cast<int>(each.end_seconds * 10 + 0.5)) + "]";
    }
    return out;
}

std::vector<segment> segments_of(const std::vector<std::string>& texts) {
    std::vector<segment> out(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) out[i].text = texts[i];
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words)

BOOST_AUTO_TEST_CASE(a_leading_space_begins_a_word) {
    const auto got = words_of({{" hel", 0, 0.1}, {"lo", 0.1, 0.3}, {",", 0.3, 0.3}, {" world", 0.5, 0.9}}, false);
    BOOST_TEST(shown(got) == "[hello, 0-3][world 5-9]");
}

BOOST_AUTO_TEST_CASE(the_first_word_needs_no_space_and_spaces_alone_are_no_word) {
    BOOST_TEST(shown(words_of({{"so", 0, 0.1}, {" ", 0.1, 0.2}, {" ", 0.2, 0.3}, {"it", 0.3, 0.4}, {" is", 0.4, 0.5}}, false)) ==
               "[so 0-1][it 2-4][is 4-5]");
    BOOST_TEST(words_of({{" ", 0, 1}, {"", 1, 2}}, false).empty());
    BOOST_TEST(words_of({}, false).empty());
}

BOOST_AUTO_TEST_CASE(a_character_cut_between_tokens_is_put_together) {
    BOOST_TEST(shown(words_of({{" caf\xC3", 0, 0.2}, {"\xA9", 0.2, 0.3}, {" au", 0.3, 0.4}}, false)) == "[caf\xC3\xA9 0-3][au 3-4]");
    // Each character of a text without spaces, whole ones only.
    BOOST_TEST(shown(words_of({{"\xE4\xBD\xA0", 0, 0.1}, {"\xE5\xA5", 0.1, 0.2}, {"\xBD", 0.2, 0.3}, {"\xE5\x90\x97", 0.3, 0.4}}, true)) ==
               "[\xE4\xBD\xA0 0-1][\xE5\xA5\xBD 1-3][\xE5\x90\x97 3-4]");
}

BOOST_AUTO_TEST_CASE(what_never_becomes_a_character_is_marked) {
    BOOST_TEST(shown(words_of({{" a\xC3", 0, 0.1}, {" b", 0.1, 0.2}}, false)) == "[a\xEF\xBF\xBD 0-1][b 1-2]");
}

BOOST_AUTO_TEST_CASE(an_end_before_the_start_is_put_right) {
    const auto got = words_of({{" a", 0.5, 0.2}}, false);
    BOOST_REQUIRE(got.size() == 1U);
    BOOST_TEST(got[0].end_seconds == 0.5);
}

BOOST_AUTO_TEST_CASE(which_languages_have_no_spaces) {
    for (const auto each : {"zh", "ja", "th", "yue"}) BOOST_TEST(written_without_spaces(each));
    for (const auto each : {"en", "de", "ko", "", "z"}) BOOST_TEST(!written_without_spaces(each));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(segments)

BOOST_AUTO_TEST_CASE(a_character_cut_by_a_border_goes_to_the_later_segment) {
    auto got = segments_of({" caf\xC3", "\xA9 noir", " fin"});
    mend_segments(got);
    BOOST_TEST(got[0].text == " caf");
    BOOST_TEST(got[1].text == "\xC3\xA9 noir");
    BOOST_TEST(got[2].text == " fin");
    BOOST_TEST(text_of(got) == "caf\xC3\xA9 noir fin");
}

BOOST_AUTO_TEST_CASE(one_cut_by_the_end_is_marked) {
    auto got = segments_of({" a\xE4\xBD"});
    mend_segments(got);
    BOOST_TEST(got[0].text == " a\xEF\xBF\xBD");
    auto none = segments_of({});
    mend_segments(none);
    BOOST_TEST(text_of(none).empty());
}

BOOST_AUTO_TEST_CASE(a_character_may_be_spread_over_many_segments) {
    auto got = segments_of({"\xF0", "\x9F", "\x98", "\x80"});
    mend_segments(got);
    BOOST_TEST(text_of(got) == "\xF0\x9F\x98\x80");
    BOOST_TEST(got[3].text == "\xF0\x9F\x98\x80");
}

BOOST_AUTO_TEST_CASE(text_is_trimmed_outside_only) {
    BOOST_TEST(text_of(segments_of({"  a b\n", " c  "})) == "a b\n c");
    BOOST_TEST(text_of(segments_of({"  ", " \n"})).empty());
}

// Whatever the borders, what is told piece by piece is what the whole comes to.
BOOST_AUTO_TEST_CASE(text_told_while_it_comes_is_the_text) {
    const std::vector<std::vector<std::string>> cases = {
        {" one", " two", " three "}, {"  a b\n", " c  "}, {" a ", "  ", " b"}, {"  ", " \n"},        {" x\xF0\x9F", "\x98", "\x80 y"},
        {" 1\xE2", "\x82\xAC"},      {" a\x80", "b"},     {" cut\xF0\x9F"},    {"", " a", "", " b"}, {" \xF0", " ", "\x9F"},
        {" a", " \n", " \n", " b"}};
    for (const auto& texts : cases) {
        auto all = segments_of({});
        running_text running;
        std::string told;
        for (const std::string& text : texts) {
            segment one;
            one.text = text;
            all.push_back(one);
            told += running.add(text);
            BOOST_TEST(told.find_last_not_of(" \n") == told.size() - 1);
        }
        mend_segments(all);
        std::erase_if(all, [](const segment& each) { return each.text.find_first_not_of(' ') == std::string::npos; });
        const std::string whole = text_of(all);
        BOOST_TEST(whole.starts_with(told), whole << " does not begin with " << told);
        // Only a cut character at the very end is left for the end.
        if (!whole.ends_with("\xEF\xBF\xBD")) BOOST_TEST(told == whole);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(numbers)

BOOST_AUTO_TEST_CASE(repetition_shows_in_the_compression_ratio) {
    std::string loop;
    for (int i = 0; i < 50; ++i) loop += " thank you";
    BOOST_TEST(compression_ratio_of(loop) > 2.4);
    BOOST_TEST(compression_ratio_of(" please send the message today") < 2.4);
    BOOST_TEST(compression_ratio_of(" a") > 0);
    BOOST_TEST(compression_ratio_of("") == 0);
}

BOOST_AUTO_TEST_CASE(times_stay_within_the_audio_and_in_order) {
    const auto clamped = [](double start, double end) {
        clamp_times(start, end, 2.5);
        return std::pair(start, end);
    };
    BOOST_TEST((clamped(0.5, 1) == std::pair(0.5, 1.0)));
    BOOST_TEST((clamped(-1007.26, 30) == std::pair(0.0, 2.5)));
    BOOST_TEST((clamped(3, 4) == std::pair(2.5, 2.5)));
    BOOST_TEST((clamped(2, 1) == std::pair(2.0, 2.0)));
}

BOOST_AUTO_TEST_SUITE_END()
