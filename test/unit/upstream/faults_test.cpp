// Each fault as a client sees it, and what is counted of it.
#define BOOST_TEST_MODULE upstream_faults
#include <boost/test/unit_test.hpp>

#include "upstream_bed.hpp"

using namespace hearonce;
using namespace hearonce::test;
using upstream::counts;
using upstream::double_server;
using end_kind = raw_client::end_kind;

BOOST_AUTO_TEST_CASE(the_text_is_that_of_the_hash) {
    double_server server;
    const auto bytes = some_bytes();
    const auto answer = post(server.port(), transcriptions, upload(bytes));
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("content-type") == "application/json");
    BOOST_TEST(text_in(answer) == text_of(bytes));
    const auto seen = server.seen();
    BOOST_TEST(seen.calls == 1u);
    BOOST_TEST(seen.of(sha256_of(bytes)) == 1u);
    BOOST_TEST(seen.by_sha256.size() == 1u);
}
