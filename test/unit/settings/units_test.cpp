// Sizes, durations, addresses and secrets, at their limits and past them.
#define BOOST_TEST_MODULE units
#include <boost/test/unit_test.hpp>

#include <app/settings_units.hpp>
#include <app/settings_value.hpp>
#include <hearonce/secret.hpp>

#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

using namespace hearonce::app;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(sizes)

BOOST_AUTO_TEST_CASE(are_read) {
    const std::pair<const char*, std::uint64_t> table[] = {
        {"0", 0},
        {"1", 1},
        {"512B", 512},
        {"25MiB", 26214400},
        {"25mib", 26214400},
        {"25 MiB", 26214400},
        {"1KiB", 1024},
        {"1kB", 1000},
        {"1MB", 1'000'000},
        {"1GB", 1'000'000'000},
        {"1TB", 1'000'000'000'000},
        {"8GiB", 8589934592},
        {"1TiB", 1099511627776},
        {"1.5GiB", 1610612736},
        {"0.5KiB", 512},
        {"1.001kB", 1001},
        {"9223372036854775807", 9223372036854775807ULL},
        {"8388607TiB", 8388607ULL * 1099511627776ULL},
    };
    for (const auto& [text, bytes] : table) {
        BOOST_TEST_CONTEXT(text) {
            const auto read = parse_size(text);
            BOOST_REQUIRE(read.has_value());
            BOOST_TEST(*read == bytes);
        }
    }
}

BOOST_AUTO_TEST_CASE(are_refused) {
    const char* table[] = {"",
                           " ",
                           "MiB",
                           "-1",
                           "-1MiB",
                           "1 ",
                           " 1",
                           "1  MiB",
                           "1MiB ",
                           "1XiB",
                           "1K",
                           "1M",
                           "0.5B",
                           "1.0001kB",
                           "1.",
                           ".5",
                           "1e6",
                           "0x10",
                           "+5",
                           "1,5MiB",
                           "1..5MiB",
                           "9223372036854775808",
                           "8388608TiB",
                           "99999999999999999999",
                           "18446744073709551616",
                           "1.0000000000GiB",
                           "1MiB\n",
                           "nan"};
    for (const char* text : table) BOOST_TEST(!parse_size(text).has_value(), "accepted: " << text);
}

BOOST_AUTO_TEST_CASE(are_shown_as_they_are_read) {
    for (const std::uint64_t bytes : {0ULL, 1ULL, 1023ULL, 1024ULL, 1025ULL, 1048576ULL, 26214400ULL, 26214401ULL, 8589934592ULL,
                                      1099511627776ULL, 9223372036854775807ULL}) {
        const auto read = parse_size(show_size(bytes));
        BOOST_REQUIRE(read.has_value());
        BOOST_TEST(*read == bytes);
    }
    BOOST_TEST(show_size(26214400) == "25MiB");
    BOOST_TEST(show_size(26214401) == "26214401");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(durations)

BOOST_AUTO_TEST_CASE(are_read) {
    const std::pair<const char*, std::int64_t> table[] = {
        {"0", 0},
        {"0s", 0},
        {"500ms", 500},
        {"2s", 2000},
        {"10m", 600'000},
        {"1h", 3'600'000},
        {"1d", 86'400'000},
        {"90", 90'000},
        {"1.5s", 1500},
        {"0.5", 500},
        {"1h30m", 5'400'000},
        {"1m1s1ms", 61'001},
        {"1d1h1m1s1ms", 90'061'001},
        {"0.25h", 900'000},
        {"36500d", 36500LL * 86'400'000},
    };
    for (const auto& [text, length] : table) {
        BOOST_TEST_CONTEXT(text) {
            const auto read = parse_duration(text);
            BOOST_REQUIRE(read.has_value());
            BOOST_TEST(read->count() == length);
        }
    }
}

BOOST_AUTO_TEST_CASE(are_refused) {
    const char* table[] = {"",      "s",     "ms",      "-1s",  "1 s", "2S",  "1w",   "30m1h",  "1s1s",      "1m30",
                           "1ms1s", "0.5ms", "0.0001s", "1e3s", "1s ", " 1s", "infs", "36501d", "36500d1ms", "99999999999999999999s",
                           "1h-1m", "1.s",   "1hour"};
    for (const char* text : table) BOOST_TEST(!parse_duration(text).has_value(), "accepted: " << text);
}

BOOST_AUTO_TEST_CASE(are_shown_as_they_are_read) {
    for (const std::int64_t length : {0LL, 1LL, 999LL, 1000LL, 1001LL, 60'000LL, 90'000LL, 3'600'000LL, 86'400'000LL}) {
        const auto read = parse_duration(show_duration(milliseconds(length)));
        BOOST_REQUIRE(read.has_value());
        BOOST_TEST(read->count() == length);
    }
    BOOST_TEST(show_duration(milliseconds(90'000)) == "90s");
    BOOST_TEST(show_duration(milliseconds(120'000)) == "2m");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(addresses)

BOOST_AUTO_TEST_CASE(endpoints) {
    const std::pair<const char*, const char*> good[] = {{"127.0.0.1:8080", "127.0.0.1:8080"},
                                                        {"localhost:0", "127.0.0.1:0"},
                                                        {"[::1]:65535", "[::1]:65535"},
                                                        {"0.0.0.0:80", "0.0.0.0:80"},
                                                        {"[fe80:0::1]:1", "[fe80::1]:1"}};
    for (const auto& [text, shown] : good) {
        const auto read = parse_endpoint(text);
        BOOST_TEST_REQUIRE(read.has_value(), text);
        BOOST_TEST(show_endpoint(*read) == shown);
    }
    const char* bad[] = {"",
                         ":",
                         ":8080",
                         "8080",
                         "127.0.0.1",
                         "127.0.0.1:",
                         "127.0.0.1:65536",
                         "127.0.0.1:-1",
                         "127.0.0.1:80x",
                         "::1:8080",
                         "[127.0.0.1]:80",
                         "[localhost]:80",
                         "example.org:80",
                         "256.0.0.1:80",
                         "[::1]",
                         "*:80",
                         "127.0.0.1: 80"};
    for (const char* text : bad) BOOST_TEST(!parse_endpoint(text).has_value(), "accepted: " << text);
}

BOOST_AUTO_TEST_CASE(networks) {
    const std::pair<const char*, const char*> good[] = {{"10.0.0.0/8", "10.0.0.0/8"}, {"192.0.2.7", "192.0.2.7/32"},
                                                        {"0.0.0.0/0", "0.0.0.0/0"},   {"fd00::/8", "fd00::/8"},
                                                        {"::1", "::1/128"},           {"192.0.2.7/32", "192.0.2.7/32"}};
    for (const auto& [text, shown] : good) {
        const auto read = parse_network(text);
        BOOST_TEST_REQUIRE(read.has_value(), text);
        BOOST_TEST(show_network(*read) == shown);
    }
    const char* bad[] = {"",          "/8",         "10.0.0.0/33",  "fd00::/129", "10.1.0.0/8", "fd00::1/8",
                         "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/8/8", "host",       "fe80::1%lo", "10.0.0.0/-1"};
    for (const char* text : bad) BOOST_TEST(!parse_network(text).has_value(), "accepted: " << text);
}

BOOST_AUTO_TEST_CASE(network_holds_addresses_up_to_its_edge) {
    const auto inside = [](const char* range, const char* address) {
        return parse_network(range)->contains(boost::asio::ip::make_address(address));
    };
    BOOST_TEST(inside("10.0.0.0/8", "10.255.255.255"));
    BOOST_TEST(!inside("10.0.0.0/8", "11.0.0.0"));
    BOOST_TEST(!inside("10.0.0.0/8", "9.255.255.255"));
    BOOST_TEST(inside("192.0.2.8/29", "192.0.2.15"));
    BOOST_TEST(!inside("192.0.2.8/29", "192.0.2.16"));
    BOOST_TEST(inside("0.0.0.0/0", "255.1.2.3"));
    BOOST_TEST(!inside("0.0.0.0/0", "2001:db8::1"));
    BOOST_TEST(inside("10.0.0.0/8", "::ffff:10.1.2.3"));
    BOOST_TEST(!inside("10.0.0.0/8", "::ffff:11.1.2.3"));
    BOOST_TEST(inside("2001:db8::/33", "2001:db8:7fff::1"));
    BOOST_TEST(!inside("2001:db8::/33", "2001:db8:8000::1"));
    BOOST_TEST(inside("::1", "::1"));
    BOOST_TEST(!inside("::1", "::2"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(values)

BOOST_AUTO_TEST_CASE(text_is_toml_where_it_can_be_and_itself_elsewhere) {
    BOOST_TEST(std::get<std::int64_t>(read_text("5").held) == 5);
    BOOST_TEST(std::get<bool>(read_text("true").held) == true);
    BOOST_TEST(std::get<double>(read_text("0.5").held) == 0.5);
    BOOST_TEST(std::get<std::string>(read_text("\"a b\"").held) == "a b");
    BOOST_TEST(*read_text("\"a b\"").bare == "a b");
    BOOST_TEST(std::get<std::string>(read_text("25MiB").held) == "25MiB");
    BOOST_TEST(std::get<std::string>(read_text("127.0.0.1:8080").held) == "127.0.0.1:8080");
    BOOST_TEST(std::get<std::string>(read_text("").held) == "");
    BOOST_TEST(std::get<value::list>(read_text("[1, 2]").held).size() == 2U);
    BOOST_TEST(std::get<value::table>(read_text("{ a = 1 }").held).size() == 1U);
    BOOST_TEST(*read_text("123").bare == "123");
}

BOOST_AUTO_TEST_CASE(a_line_break_smuggles_no_second_key) {
    BOOST_TEST(std::get<std::string>(read_text("1\nb = 2").held) == "1\nb = 2");
    BOOST_TEST(std::get<std::string>(read_text("1\rb = 2").held) == "1\rb = 2");
}

BOOST_AUTO_TEST_CASE(quoting_survives_every_byte_below_128) {
    std::string all;
    for (char c = 1; c < 127; ++c) all += c;
    const auto table = read_toml("v = " + toml_string(all));
    BOOST_REQUIRE(table.has_value());
    BOOST_TEST(std::get<std::string>(table->front().what.held) == all);
}

BOOST_AUTO_TEST_CASE(a_broken_file_names_line_and_column) {
    const auto table = read_toml("a = 1\nb = = 2\n");
    BOOST_REQUIRE(!table.has_value());
    BOOST_TEST(table.error().starts_with("line 2, column 5"), table.error());
    BOOST_TEST(table.error().find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_text_is_refused) {
    BOOST_TEST(!read_toml(std::string("a = \"\xff\xfe\"")).has_value());
    BOOST_TEST(!read_toml("a = " + std::string(10'000, '[')).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(secrets)

using hearonce::secret;

BOOST_AUTO_TEST_CASE(print_as_stars_and_only_say_whether_they_are_there) {
    std::ostringstream out;
    out << secret("sk-very-secret") << '|' << secret();
    BOOST_TEST(out.str() == "***|");
    static_assert(!std::is_convertible_v<secret, std::string>);
    static_assert(!std::is_convertible_v<std::string, secret>);
}

BOOST_AUTO_TEST_CASE(compare_by_their_bytes) {
    BOOST_TEST((secret("abc") == secret("abc")));
    BOOST_TEST(!(secret("abc") == secret("abd")));
    BOOST_TEST(!(secret("abc") == secret("ab")));
    BOOST_TEST(!(secret("abc") == secret()));
    BOOST_TEST((secret() == secret("")));
}

BOOST_AUTO_TEST_CASE(copy_move_and_assign_keep_the_text) {
    secret first("abc");
    const secret copy = first;
    const secret moved = std::move(first);
    BOOST_TEST(copy.reveal() == "abc");
    BOOST_TEST(moved.reveal() == "abc");
    BOOST_TEST(first.empty());  // NOLINT: a moved-from secret is empty, and that is the point.
    secret other("long enough to be somewhere else");
    other = copy;
    BOOST_TEST(other.reveal() == "abc");
    secret& same = other;
    other = same;
    BOOST_TEST(other.reveal() == "abc");
}

BOOST_AUTO_TEST_SUITE_END()
