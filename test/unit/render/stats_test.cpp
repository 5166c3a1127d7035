// The numbers for the page and for Prometheus.
#include "heads.hpp"

#include <http/stats.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

namespace json = boost::json;
using namespace hearonce;
using namespace hearonce::http;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(stats)

BOOST_AUTO_TEST_CASE(what_was_counted) {
    observe::metrics counted(2, {"local"});
    counted.request(observe::route::transcriptions, 200, 5ms);
    counted.request(observe::route::transcriptions, 404, 5ms);
    counted.work_led();
    counted.work_joined();
    counted.work_saved(2.0004);
    counted.work_hit();
    counted.work_saved(1);
    counted.work_failed();
    counted.work_cancelled();
    counted.upstream_call("local", observe::call_end::ok, 1500ms, 3);
    counted.upstream_call("gone", 500, 1ms, 0);
    const auto in_flight = counted.watch_gauge(observe::gauge::work_in_flight, [] { return 3; });
    const auto below_zero = counted.watch_gauge(observe::gauge::waiters, [] { return -1; });
    const std::vector<listed_backend> backends{{"local", {}, "", true, ""}, {"openai", {}, "", false, "no key"}};

    const response answer = stats_answer(counted.sum(), backends, 61s);
    BOOST_TEST(header_of(answer, "Content-Type") == "application/json");
    const auto body = json::parse(*answer.body);
    BOOST_TEST(body.at("version").as_string() == HEARONCE_VERSION);
    BOOST_TEST(body.at("uptime_seconds").to_number<int>() == 61);
    BOOST_TEST(json::serialize(body.at("requests")) == R"({"total":2,"ok":1})");
    BOOST_TEST(json::serialize(body.at("work")) == R"({"led":1,"joined":1,"hit":1,"failed":1,"cancelled":1,"in_flight":3,"waiters":0})");
    BOOST_TEST(body.at("saved").at("upstream_calls").to_number<int>() == 2);
    BOOST_TEST(body.at("saved").at("audio_seconds").to_number<double>() == 3.0);
    const auto& local = body.at("backends").as_array()[0];
    BOOST_TEST(local.at("calls").to_number<int>() == 1);
    BOOST_TEST(local.at("call_seconds").to_number<double>() == 1.5);
    BOOST_TEST(local.at("reason").is_null());
    const auto& openai = body.at("backends").as_array()[1];
    BOOST_TEST(openai.at("calls").to_number<int>() == 0);
    BOOST_TEST(openai.at("reason").as_string() == "no key");
    BOOST_TEST(body.at("backends").as_array().size() == 2U);
}

BOOST_AUTO_TEST_CASE(prometheus) {
    const observe::metrics counted(1, {});
    const response answer = metrics_answer(counted);
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(header_of(answer, "Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
    BOOST_TEST(answer.body->find("# TYPE hearonce_work_total counter") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
