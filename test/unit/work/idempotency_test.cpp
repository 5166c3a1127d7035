// One name stands for one piece of work, for a while, within a bound.
#define BOOST_TEST_MODULE idempotency
#include <work/idempotency.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using hearonce::sha256_digest;
using hearonce::work::idempotency_table;
using std::chrono::seconds;

sha256_digest digest(unsigned n) {
    sha256_digest made{};
    made[0] = static_cast<std::byte>(n & 0xff);
    made[1] = static_cast<std::byte>(n >> 8);
    return made;
}

const idempotency_table::clock::time_point start{seconds(1000)};

BOOST_AUTO_TEST_CASE(same_work_is_no_conflict_and_other_work_is) {
    idempotency_table table(10, seconds(60));
    BOOST_TEST(table.claim(digest(1), digest(7), start));
    BOOST_TEST(table.claim(digest(1), digest(7), start));
    BOOST_TEST(!table.claim(digest(1), digest(8), start));
    BOOST_TEST(table.claim(digest(2), digest(8), start));
    BOOST_TEST(table.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_refused_claim_changes_nothing) {
    idempotency_table table(10, seconds(60));
    table.claim(digest(1), digest(7), start);
    table.claim(digest(1), digest(8), start + seconds(59));
    // The refusal did not renew the entry either.
    BOOST_TEST(table.claim(digest(1), digest(8), start + seconds(60)));
}

BOOST_AUTO_TEST_CASE(it_expires_exactly_at_the_end_of_its_life) {
    idempotency_table table(10, seconds(60));
    table.claim(digest(1), digest(7), start);
    BOOST_TEST(!table.claim(digest(1), digest(8), start + seconds(60) - std::chrono::nanoseconds(1)));
    BOOST_TEST(table.claim(digest(1), digest(8), start + seconds(60)));
}

BOOST_AUTO_TEST_CASE(use_renews_it) {
    idempotency_table table(10, seconds(60));
    table.claim(digest(1), digest(7), start);
    table.claim(digest(1), digest(7), start + seconds(50));
    BOOST_TEST(!table.claim(digest(1), digest(8), start + seconds(109)));
    BOOST_TEST(table.claim(digest(1), digest(8), start + seconds(110)));
}

BOOST_AUTO_TEST_CASE(failure_frees_the_name_of_just_that_work) {
    idempotency_table table(10, seconds(60));
    table.claim(digest(1), digest(7), start);
    table.release(digest(1), digest(8));
    BOOST_TEST(!table.claim(digest(1), digest(8), start));
    table.release(digest(2), digest(7));
    BOOST_TEST(table.size() == 1u);
    table.release(digest(1), digest(7));
    BOOST_TEST(table.size() == 0u);
    BOOST_TEST(table.claim(digest(1), digest(8), start));
}

BOOST_AUTO_TEST_CASE(the_bound_holds_and_the_least_recently_used_goes) {
    constexpr unsigned bound = 4;
    idempotency_table table(bound, seconds(60));
    for (unsigned i = 0; i < bound - 1; ++i) table.claim(digest(i), digest(7), start);
    BOOST_TEST(table.size() == bound - 1);
    table.claim(digest(bound - 1), digest(7), start);
    BOOST_TEST(table.size() == bound);
    table.claim(digest(0), digest(7), start + seconds(1));  // 0 is used: 1 is the oldest now.
    table.claim(digest(bound), digest(7), start + seconds(1));
    BOOST_TEST(table.size() == bound);
    BOOST_TEST(!table.claim(digest(0), digest(9), start + seconds(1)));
    BOOST_TEST(table.claim(digest(1), digest(9), start + seconds(1)));
}

}  // namespace
