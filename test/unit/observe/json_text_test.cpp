// Strings and numbers against Boost.JSON's parser and against the Unicode standard's own examples.
#define BOOST_TEST_MODULE observe
#include <observe/json_text.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <limits>
#include <random>

using namespace hearonce::observe;

namespace {

// Not called quoted: a string argument would find std::quoted, the better match, wherever a header brings <iomanip>.
std::string json_string(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

std::string number(double value) {
    std::string out;
    append_json_number(out, value);
    return out;
}

std::string seconds(double value) {
    std::string out;
    append_json_seconds(out, value);
    return out;
}

std::string printable(std::string_view text, std::size_t bytes_max = 1000) {
    std::string out;
    append_printable(out, text, bytes_max);
    return out;
}

std::string replaced(std::string_view text) {
    std::string out;
    append_utf8(out, text);
    return out;
}

#define FFFD "\xef\xbf\xbd"

}  // namespace

BOOST_AUTO_TEST_SUITE(strings)

BOOST_AUTO_TEST_CASE(every_ascii_character_at_every_place) {
    // The scan takes eight bytes at a time, so each character is tried at each distance from both ends.
    for (int c = 0; c < 0x80; ++c) {
        for (std::size_t length = 1; length <= 20; ++length) {
            for (std::size_t at = 0; at < length; ++at) {
                std::string text(length, 'x');
                text[at] = static_cast<char>(c);
                const std::string out = json_string(text);
                BOOST_REQUIRE(boost::json::parse(out).as_string() == text);
                const bool plain = c >= 0x20 && c != '"' && c != '\\';
                BOOST_REQUIRE(plain == (out.size() == text.size() + 2));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(escapes) {
    BOOST_TEST(json_string("\b\f\n\r\t") == R"("\b\f\n\r\t")");
    BOOST_TEST(json_string(std::string_view("\0\x1f", 2)) == R"("\u0000\u001f")");
    BOOST_TEST(json_string("\"\\/\x7f") == "\"\\\"\\\\/\x7f\"");
    BOOST_TEST(json_string("") == "\"\"");
    std::string grows = "a";
    append_json_escaped(grows, "\"b\"");
    BOOST_TEST(grows == R"(a\"b\")");
}

// Unicode 15, section 3.9, tables 3-8 to 3-11, and the forms RFC 3629 forbids.
BOOST_AUTO_TEST_CASE(wrong_utf8_is_replaced_piece_by_piece) {
    const std::pair<std::string, std::string> rows[] = {
        {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A"},
        {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A"},
        {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B"},
        {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", FFFD FFFD FFFD FFFD "A"},
        {"\xE2\x82", FFFD},
        {"\xF0\x9F\x98", FFFD},
        {"\xC2", FFFD},
        {"\xF5\x80", FFFD FFFD},
        {"\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xF0\x90\x80\x80\xF4\x8F\xBF\xBF",
         "\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"},
    };
    for (const auto& [bytes, text] : rows) {
        BOOST_TEST(replaced(bytes) == text);
        BOOST_TEST(json_string(bytes) == '"' + text + '"');
        BOOST_TEST(json_string("12345678" + bytes + "12345678") == "\"12345678" + text + "12345678\"");
    }
}

BOOST_AUTO_TEST_CASE(any_bytes_become_a_valid_string) {
    std::mt19937 random(1);
    for (int round = 0; round < 5000; ++round) {
        std::string bytes(random() % 30, '\0');
        for (char& c : bytes) c = static_cast<char>(random() % 3 == 0 ? random() : 'a');
        const std::string text(boost::json::parse(json_string(bytes)).as_string());
        BOOST_REQUIRE(text == replaced(bytes));
        BOOST_REQUIRE(replaced(text) == text);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(numbers)

BOOST_AUTO_TEST_CASE(floating_point) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::pair<double, const char*> rows[] = {{0, "0.0"},
                                                   {-0.0, "0.0"},
                                                   {1, "1.0"},
                                                   {-0.2, "-0.2"},
                                                   {0.1 + 0.2, "0.3"},
                                                   {100, "100.0"},
                                                   {1e-12, "1e-12"},
                                                   {1e300, "1e+300"},
                                                   {0.123456789, "0.123457"},
                                                   {999999.5, "1e+06"},
                                                   {12345.6, "12345.6"},
                                                   {infinity, "0.0"},
                                                   {-infinity, "0.0"},
                                                   {std::numeric_limits<double>::quiet_NaN(), "0.0"}};
    for (const auto& [value, text] : rows) {
        BOOST_TEST(number(value) == text);
        BOOST_TEST(boost::json::parse(number(value)).is_double());
    }
}

BOOST_AUTO_TEST_CASE(times) {
    const std::pair<double, const char*> rows[] = {
        {0, "0.0"},        {3.4, "3.4"}, {3.3999999999999999, "3.4"}, {61.25, "61.25"}, {0.001, "0.001"}, {0.0004, "0.0"}, {0.010, "0.01"},
        {59.9996, "60.0"}, {-3, "0.0"},  {1e20, "1000000000000.0"},   {12, "12.0"},     {0.999, "0.999"}};
    for (const auto& [value, text] : rows) BOOST_TEST(seconds(value) == text);
    BOOST_TEST(seconds(std::numeric_limits<double>::quiet_NaN()) == "0.0");
    BOOST_TEST(milliseconds_of(1e300) == 1'000'000'000'000'000);
}

BOOST_AUTO_TEST_CASE(whole) {
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
        std::string out;
        append_integer(out, value);
        BOOST_TEST(out == std::to_string(value));
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(printable_text)

BOOST_AUTO_TEST_CASE(nothing_a_terminal_obeys_is_left) {
    BOOST_TEST(printable("a\nb\r\tc") == R"(a\nb\r\tc)");
    BOOST_TEST(printable("\x1b[31m\x7f\x08") == R"(\u001b[31m\u007f\b)");
    BOOST_TEST(printable("\xC2\x9B"
                         "31m\xC2\x85\xC2\xA0") == "\\u009b31m\\u0085\xC2\xA0");
    BOOST_TEST(printable("\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA") == "\\u2028\\u2029\xE2\x80\xAA");
    BOOST_TEST(printable("\"\\") == R"(\"\\)");
    BOOST_TEST(printable("na\xC3\xAFve\xff") == "na\xC3\xAFve" FFFD);
}

BOOST_AUTO_TEST_CASE(cut_between_characters) {
    BOOST_TEST(printable("abcd", 3) == "abc");
    BOOST_TEST(printable("abcd", 4) == "abcd");
    BOOST_TEST(printable("abcd", 5) == "abcd");
    BOOST_TEST(printable("", 0) == "");
    BOOST_TEST(printable("\xF0\x9F\x98\x80"
                         "b",
                         4) == "\xF0\x9F\x98\x80");
    for (std::size_t max = 0; max < 4; ++max)
        BOOST_TEST(printable("\xF0\x9F\x98\x80"
                             "b",
                             max) == "");
    // Not UTF-8: cut anyway.
    BOOST_TEST(printable(std::string(10, '\x80'), 6).size() <= 6 * 3);
}

BOOST_AUTO_TEST_SUITE_END()
