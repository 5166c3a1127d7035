// The contract's table, row by row.
#include <http/cache_status.hpp>

#include <boost/test/unit_test.hpp>

using hearonce::http::cache_status;
using hearonce::observe::came;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(cache_status_header)

BOOST_AUTO_TEST_CASE(table) {
    struct row {
        came how;
        bool anew;
        std::optional<std::chrono::seconds> ttl;
        const char* value;
    };
    const row rows[] = {
        {came::led, false, 600s, "hearonce; fwd=miss; stored; ttl=600"},
        {came::led, false, std::nullopt, "hearonce; fwd=miss"},
        {came::joined, false, std::nullopt, "hearonce; fwd=miss; collapsed"},
        {came::joined, false, 600s, "hearonce; fwd=miss; collapsed"},
        {came::hit, false, 512s, "hearonce; hit; ttl=512"},
        {came::hit, false, 0s, "hearonce; hit; ttl=0"},
        {came::hit, false, -1s, "hearonce; hit; ttl=0"},
        {came::hit, false, std::nullopt, "hearonce; hit"},
        {came::led, true, 600s, "hearonce; fwd=request; stored; ttl=600"},
        {came::led, true, std::nullopt, "hearonce; fwd=request"},
    };
    for (const row& one : rows) BOOST_TEST(cache_status(one.how, one.anew, one.ttl) == one.value);
}

// RFC 9211: hit and fwd exclude each other, collapsed and stored need fwd.
BOOST_AUTO_TEST_CASE(never_contradicts_itself) {
    for (const came how : {came::led, came::joined, came::hit}) {
        for (const auto& ttl : {std::optional<std::chrono::seconds>(), std::optional<std::chrono::seconds>(5s)}) {
            const std::string value = cache_status(how, false, ttl);
            const auto has = [&](const char* word) { return value.find(word) != std::string::npos; };
            BOOST_TEST(has("; hit") != has("; fwd="));
            BOOST_TEST((!has("; collapsed") || has("; fwd=")));
            BOOST_TEST((!has("; stored") || has("; fwd=")));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
