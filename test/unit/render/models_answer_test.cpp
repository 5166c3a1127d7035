// The list of models as SDKs read it.
#define BOOST_TEST_MODULE answers
#include "heads.hpp"

#include <http/models_answer.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

namespace json = boost::json;
using namespace hearonce::http;

namespace {

const std::chrono::system_clock::time_point started{std::chrono::seconds(1677532384)};

std::vector<listed_backend> two() {
    listed_backend openai{"openai", {"whisper-1", "gpt-*-transcribe", "gpt-transcribe"}, "gpt-transcribe", true, ""};
    listed_backend local{"local", {"tiny.en", "whisper-1", ""}, "tiny.en", false, "still loading"};
    return {openai, local};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(models)

BOOST_AUTO_TEST_CASE(golden) {
    const listed_backend one{"local", {"tiny"}, "", true, ""};
    const response answer = models_answer(std::span(&one, 1), started);
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(header_of(answer, "Content-Type") == "application/json");
    BOOST_TEST(*answer.body ==
               R"({"object":"list","data":[{"id":"tiny","object":"model","created":1677532384,"owned_by":"local","shutdown_date":null}]})");
}

BOOST_AUTO_TEST_CASE(each_name_once_without_wildcards) {
    const auto body = json::parse(*models_answer(two(), started).body);
    std::string ids;
    for (const auto& one : body.at("data").as_array())
        ids += std::string(one.at("id").as_string()) + "@" + std::string(one.at("owned_by").as_string()) + " ";
    BOOST_TEST(ids == "gpt-transcribe@openai whisper-1@openai tiny.en@local ");
}

BOOST_AUTO_TEST_CASE(nothing_configured_is_an_empty_list) {
    BOOST_TEST(*models_answer({}, started).body == R"({"object":"list","data":[]})");
}

BOOST_AUTO_TEST_CASE(one_of_them) {
    const auto backends = two();
    const response listed = model_answer(backends, "tiny.en", started);
    BOOST_TEST(*listed.body == R"({"id":"tiny.en","object":"model","created":1677532384,"owned_by":"local","shutdown_date":null})");
    const response claimed = model_answer(backends, "gpt-4o-transcribe", started);
    BOOST_TEST(claimed.status == 200);
    BOOST_TEST(json::parse(*claimed.body).at("owned_by").as_string() == "openai");
}

BOOST_AUTO_TEST_CASE(the_day_a_model_ends) {
    auto backends = two();
    backends[0].shutdown_date = [](const std::string& model) { return model == "whisper-1" ? std::string("2027-02-26") : std::string(); };
    std::string days;
    const auto body = json::parse(*models_answer(backends, started).body);
    for (const auto& one : body.at("data").as_array()) days += json::serialize(one.at("shutdown_date")) + " ";
    BOOST_TEST(days == "null \"2027-02-26\" null ");
    BOOST_TEST(json::parse(*model_answer(backends, "whisper-1", started).body).at("shutdown_date").as_string() == "2027-02-26");
    BOOST_TEST(json::parse(*model_answer(backends, "gpt-4o-transcribe", started).body).at("shutdown_date").is_null());
}

BOOST_AUTO_TEST_CASE(unknown_ones) {
    const auto backends = two();
    for (const std::string& id :
         {std::string("nope"), std::string(), std::string("tiny.en\0x", 9), std::string("TINY.EN"), std::string("\xff\"")}) {
        const response answer = model_answer(backends, id, started);
        BOOST_TEST(answer.status == 404);
        const auto why = json::parse(*answer.body).at("error");
        BOOST_TEST(why.at("code").as_string() == "model_not_found");
        BOOST_TEST(why.at("param").as_string() == "model");
    }
}

BOOST_AUTO_TEST_SUITE_END()
