// The load tool's parts against the upstream double, and `hearonce-bench compare` as people run it.
#define BOOST_TEST_MODULE load
#include <boost/test/unit_test.hpp>

#include <bench/load/connection.hpp>
#include <bench/load/percentiles.hpp>
#include <bench/load/recordings.hpp>
#include <bench/upstream/double_server.hpp>

#include <test/support/program.hpp>

#include <boost/json/parse.hpp>

using namespace hearonce;
using namespace std::chrono_literals;

namespace {

upstream::settings any_model() {
    upstream::settings how;
    how.any_model = true;
    return how;
}

}  // namespace

BOOST_AUTO_TEST_CASE(percentiles_by_nearest_rank) {
    std::vector<std::chrono::nanoseconds> none;
    BOOST_TEST(load::percentile_of(none, 0.5).count() == 0);
    std::vector<std::chrono::nanoseconds> hundred;
    for (int i = 100; i > 0; --i) hundred.emplace_back(i);
    BOOST_TEST(load::percentile_of(hundred, 0).count() == 1);
    BOOST_TEST(load::percentile_of(hundred, 0.5).count() == 50);
    BOOST_TEST(load::percentile_of(hundred, 0.501).count() == 51);
    BOOST_TEST(load::percentile_of(hundred, 0.99).count() == 99);
    BOOST_TEST(load::percentile_of(hundred, 1).count() == 100);
    BOOST_TEST(load::milliseconds_of(1500us) == 1.5);
}

BOOST_AUTO_TEST_CASE(recordings_differ_by_number_and_have_their_size) {
    const auto one = load::make_upload(1, 1000, "whisper-1");
    BOOST_TEST((one.bytes == load::make_upload(1, 1000, "whisper-1").bytes));
    BOOST_TEST(one.text != load::make_upload(2, 1000, "whisper-1").text);
    BOOST_TEST(one.text != load::make_upload(1, 1001, "whisper-1").text);
    BOOST_TEST(load::make_upload(1, 2000, "whisper-1").bytes.size() == one.bytes.size() + 1000);
    // The head of a WAV is the least.
    BOOST_TEST((load::make_upload(1, 0, "m").bytes == load::make_upload(1, 44, "m").bytes));
}

BOOST_AUTO_TEST_CASE(one_connection_asks_again_and_again) {
    const upstream::double_server server(any_model());
    load::connection to(server.port());
    for (std::uint64_t i = 0; i < 5; ++i) {
        const auto upload = load::make_upload(i, 5000 + i, "whisper-1");
        const auto answer = to.ask(upload.bytes);
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(answer.body.find(upload.text) != std::string::npos);
    }
    BOOST_TEST(server.seen().calls == 5u);
    BOOST_CHECK_THROW(load::connection(1), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_is_said) {
    upstream::double_server server(any_model());
    server.script({"reset=after_body"});
    load::connection to(server.port());
    BOOST_CHECK_THROW(to.ask(load::make_upload(1, 100, "whisper-1").bytes), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(compare_measures_both_sides) {
    test::program running(
        HEARONCE_BENCH_PROGRAM,
        {"compare", "--gateway", HEARONCE_PROGRAM, "--requests", "20", "--rounds", "2", "--audio-bytes", "4000", "--json"}, {});
    const auto told = running.wait(60);
    BOOST_TEST(told.code == 0, told.err);
    const auto figures = boost::json::parse(told.out).as_object();
    BOOST_TEST(figures.at("requests").to_number<int>() == 40);
    BOOST_TEST(figures.at("direct_p50_ms").to_number<double>() > 0);
    BOOST_TEST(figures.at("gateway_p50_ms").to_number<double>() > figures.at("direct_p50_ms").to_number<double>());
}

BOOST_AUTO_TEST_CASE(compare_without_a_gateway_says_so) {
    test::program running(HEARONCE_BENCH_PROGRAM, {"compare", "--gateway", "/nonexistent/hearonce"}, {});
    const auto told = running.wait(30);
    BOOST_TEST(told.code == 1);
    BOOST_TEST(told.err.find("/nonexistent/hearonce does not listen") != std::string::npos, told.err);
}
