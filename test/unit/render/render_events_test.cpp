// The event stream as SDKs read it.
#include <http/error_response.hpp>
#include <http/event_stream.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace json = boost::json;
using namespace hearonce;
using namespace hearonce::http;

namespace {

// Takes a stream apart the way SDKs do: records end with an empty line, each has one data line.
std::vector<json::object> records_of(std::string_view stream) {
    std::vector<json::object> records;
    while (!stream.empty()) {
        const auto end = stream.find("\n\n");
        BOOST_REQUIRE(end != std::string_view::npos);
        std::string_view record = stream.substr(0, end);
        BOOST_REQUIRE(record.starts_with("data: "));
        BOOST_REQUIRE(record.find('\n') == std::string_view::npos);
        record.remove_prefix(6);
        records.push_back(json::parse({record.data(), record.size()}).as_object());
        stream.remove_prefix(end + 2);
    }
    return records;
}

transcript of(std::string text) {
    transcript heard;
    heard.text = std::move(text);
    heard.duration_seconds = 2;
    return heard;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(events)

BOOST_AUTO_TEST_CASE(bytes) {
    BOOST_TEST(render_events(of("two birds")) ==
               "data: {\"type\":\"transcript.text.delta\",\"delta\":\"two birds\"}\n\n"
               "data: {\"type\":\"transcript.text.done\",\"text\":\"two birds\"}\n\n");
}

BOOST_AUTO_TEST_CASE(deltas_joined_are_the_text) {
    for (const std::string text : {"", "one", "line\n\nline\r\ndata: x", "\xe2\x82\xac \"quoted\""}) {
        const auto records = records_of(render_events(of(text)));
        BOOST_REQUIRE(records.size() == 2U);
        BOOST_TEST(records[0].at("type").as_string() == "transcript.text.delta");
        BOOST_TEST(records[0].at("delta").as_string() == text);
        BOOST_TEST(records[1].at("type").as_string() == "transcript.text.done");
        BOOST_TEST(records[1].at("text").as_string() == text);
    }
}

BOOST_AUTO_TEST_CASE(speakers_come_between_delta_and_done) {
    transcript heard = of("Hello. Hi.");
    heard.segments.resize(2);
    heard.segments[0].text = " Hello.";
    heard.segments[0].speaker = "A";
    heard.segments[1].text = " Hi.";
    heard.segments[1].speaker = "B";
    shape wanted;
    wanted.format = response_format::diarized_json;
    const auto records = records_of(render_events(heard, wanted));
    BOOST_REQUIRE(records.size() == 4U);
    BOOST_TEST(records[1].at("type").as_string() == "transcript.text.segment");
    BOOST_TEST(records[1].at("id").as_string() == "seg_001");
    BOOST_TEST(records[2].at("speaker").as_string() == "B");
    BOOST_TEST(records[3].at("type").as_string() == "transcript.text.done");
    BOOST_TEST(records_of(render_events(heard)).size() == 2U);
}

BOOST_AUTO_TEST_CASE(single_events_are_whole_records) {
    BOOST_TEST(delta_event(" birds") == "data: {\"type\":\"transcript.text.delta\",\"delta\":\" birds\"}\n\n");
    BOOST_TEST(done_event(of("x")) == "data: {\"type\":\"transcript.text.done\",\"text\":\"x\"}\n\n");
    const auto failed = records_of(error_event(error_body(error(errc::upstream_error, "line\nbreak"))));
    BOOST_REQUIRE(failed.size() == 1U);
    BOOST_TEST(failed[0].at("error").at("message").as_string() == "line\nbreak");
}

BOOST_AUTO_TEST_CASE(content_type) {
    BOOST_TEST(event_stream_type == "text/event-stream");
}

BOOST_AUTO_TEST_SUITE_END()
