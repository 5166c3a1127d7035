// Letters, digits and blanks: ASCII's alone, for every byte there is.
#include <hearonce/ascii.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace ascii = hearonce::ascii;

namespace {

constexpr std::string_view upper_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view lower_letters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view digits = "0123456789";

bool one_of(std::string_view all, char c) {
    return all.find(c) != std::string_view::npos;
}

template <class Check>
void each_byte(Check check) {
    for (int byte = 0; byte < 256; ++byte) check(static_cast<char>(byte));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ascii_text)

BOOST_AUTO_TEST_CASE(every_byte_is_what_ascii_says_and_nothing_else) {
    each_byte([](char c) {
        BOOST_TEST_CONTEXT("byte " << static_cast<int>(static_cast<unsigned char>(c))) {
            BOOST_TEST(ascii::is_digit(c) == one_of(digits, c));
            BOOST_TEST(ascii::is_letter(c) == (one_of(upper_letters, c) || one_of(lower_letters, c)));
            BOOST_TEST(ascii::is_letter_or_digit(c) == (ascii::is_letter(c) || ascii::is_digit(c)));
        }
    });
}

BOOST_AUTO_TEST_CASE(only_capital_letters_change) {
    each_byte([](char c) {
        const auto at = upper_letters.find(c);
        const char wanted = at == std::string_view::npos ? c : lower_letters[at];
        BOOST_TEST(ascii::lower(c) == wanted);
    });
    BOOST_TEST(ascii::lowered("Content-TYPE 1\xc3\x84") == "content-type 1\xc3\x84");
    BOOST_TEST(ascii::lowered("").empty());
}

BOOST_AUTO_TEST_CASE(names_are_equal_in_any_case_and_only_as_a_whole) {
    BOOST_TEST(ascii::equal_in_any_case("X-Device-Id", "x-DEVICE-id"));
    BOOST_TEST(ascii::equal_in_any_case("", ""));
    BOOST_TEST(!ascii::equal_in_any_case("host", "hos"));
    BOOST_TEST(!ascii::equal_in_any_case("hos", "host"));
    // What lies 32 apart without being letters: a mask in the place of a comparison would take these for equal.
    BOOST_TEST(!ascii::equal_in_any_case("@", "`"));
    BOOST_TEST(!ascii::equal_in_any_case("[", "{"));
    BOOST_TEST(!ascii::equal_in_any_case("\xc3\x84", "\xc3\xa4"));
}

BOOST_AUTO_TEST_CASE(a_text_loses_white_space_at_its_ends_alone) {
    BOOST_TEST(ascii::trimmed(" \t\r\n\v\fa b\n c \t\r\n\v\f") == "a b\n c");
    BOOST_TEST(ascii::trimmed("a") == "a");
    BOOST_TEST(ascii::trimmed(" \n ").empty());
    BOOST_TEST(ascii::trimmed("").empty());
    // No-break space in UTF-8: text like any other.
    BOOST_TEST(ascii::trimmed("\xc2\xa0") == "\xc2\xa0");
    BOOST_TEST(ascii::trimmed(std::string_view("\0", 1)) == std::string_view("\0", 1));
}

BOOST_AUTO_TEST_CASE(a_value_keeps_its_line_ends) {
    BOOST_TEST(ascii::without_blanks(" \tchunked\t ") == "chunked");
    BOOST_TEST(ascii::without_blanks(" \rchunked\n ") == "\rchunked\n");
    BOOST_TEST(ascii::without_blanks("\t ").empty());
}

BOOST_AUTO_TEST_CASE(a_trimmed_text_is_a_view_into_the_whole) {
    const std::string whole = "  text ";
    BOOST_TEST(static_cast<const void*>(ascii::trimmed(whole).data()) == static_cast<const void*>(whole.data() + 2));
}

BOOST_AUTO_TEST_SUITE_END()
