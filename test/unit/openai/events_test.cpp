// Streams of the three dialects, cut anywhere, broken everywhere; what was told is the text, whatever the last record says.
#define BOOST_TEST_MODULE openai_events
#include <boost/test/unit_test.hpp>

#include <backends/openai/events.hpp>
#include <net/event_stream.hpp>

#include <random>

using namespace hearonce;
using namespace hearonce::openai;

namespace {

const std::string key = "sk-0123456789abcdef";

struct told {
    std::string deltas;  // Each in brackets.
    std::string joined;
    std::string more;
    std::vector<segment> turns;
    std::optional<error> failed;
    std::optional<transcript> heard;
};

answer_terms of(detail wanted, double seconds = 0) {
    answer_terms terms;
    terms.detail = wanted;
    terms.recording_seconds = seconds;
    return terms;
}

void note(told& all, const transcript_delta& piece) {
    if (!piece.text.empty()) all.deltas += "[" + piece.text + "]";
    all.joined += piece.text;
    for (const auto& one : piece.more) all.more += one.name + "=" + one.json + ";";
    if (piece.turn) all.turns.push_back(*piece.turn);
}

// What must hold of every reading, however it ends.
void check(const told& all) {
    BOOST_TEST(all.heard.has_value() != all.failed.has_value());
    if (all.heard) BOOST_TEST(all.heard->text == all.joined);
    if (!all.failed) return;
    BOOST_TEST((all.failed->code() == errc::upstream_error));
    BOOST_TEST((all.failed->remedy() == remedy::none), "the upstream had begun");
    BOOST_TEST(std::string(all.failed->message()).find(key.substr(3, 8)) == std::string::npos);
}

told read_records(const std::vector<std::string>& records, answer_terms terms = {}, const std::string& event = {}) {
    told all;
    event_reading reading(terms, key);
    for (const auto& record : records) {
        auto piece = reading.take(event, record);
        if (!piece) {
            all.failed = piece.error();
            check(all);
            return all;
        }
        if (*piece) note(all, **piece);
    }
    auto heard = std::move(reading).finish();
    if (heard) {
        all.heard = std::move(*heard);
    } else {
        all.failed = heard.error();
    }
    check(all);
    return all;
}

std::string delta(const std::string& json_text) {
    return R"({"type":"transcript.text.delta","delta":")" + json_text + "\"}";
}

std::string done(const std::string& json_text) {
    return R"({"type":"transcript.text.done","text":")" + json_text + "\"}";
}

std::string chunk(const std::string& json_text) {
    return R"({"id":"t","object":"transcription.chunk","choices":[{"delta":{"content":")" + json_text + R"("},"finish_reason":null}]})";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(openai)

BOOST_AUTO_TEST_CASE(deltas_then_done) {
    const auto all = read_records({delta("two"), delta(" birds"),
                                   R"({"type":"transcript.text.done","text":"two birds","usage":{"type":"tokens","input_tokens":14},)"
                                   R"("languages":[{"code":"en"}],"logprobs":[{"token":"two"}]})"},
                                  of(detail::plain, 2.5));
    BOOST_TEST(all.deltas == "[two][ birds]");
    BOOST_TEST_REQUIRE(all.heard.has_value());
    BOOST_TEST(all.heard->duration_seconds == 2.5);
    BOOST_TEST_REQUIRE(all.heard->more.size() == 3U);
    BOOST_TEST(all.heard->more[0].json == R"({"type":"tokens","input_tokens":14})");
}

BOOST_AUTO_TEST_CASE(probabilities_stay_with_their_piece) {
    const auto all = read_records({R"({"type":"transcript.text.delta","delta":"a","logprobs":[{"token":"a","logprob":-0.1}],"usage":{}})",
                                   R"({"type":"transcript.text.delta","delta":" ","logprobs":[{"token":" "}]})",
                                   R"({"type":"transcript.text.delta","delta":"b","logprobs":null})", done("a b")});
    BOOST_TEST(all.deltas == "[a][ b]");
    BOOST_TEST(all.more == R"(logprobs=[{"token":"a","logprob":-0.1}];logprobs=[{"token":" "}];)");
}

BOOST_AUTO_TEST_CASE(speakers_turns) {
    const auto all = read_records(
        {R"({"type":"transcript.text.delta","delta":"Hello.","segment_id":"seg_001"})",
         R"({"type":"transcript.text.segment","id":"seg_001","start":0,"end":"1.5","text":"Hello.","speaker":"A"})",
         R"({"type":"transcript.text.segment","id":"seg_002","start":2,"end":3,"text":"Hi.","speaker":"B"})", done("Hello. Hi.")},
        of(detail::diarized));
    BOOST_TEST(all.deltas == "[Hello.][ Hi.]");
    BOOST_TEST_REQUIRE(all.turns.size() == 2U);
    BOOST_TEST(all.turns[0].speaker == "A");
    BOOST_TEST(all.turns[0].end_seconds == 1.5);
    BOOST_TEST(all.turns[1].id == 1);
    BOOST_TEST_REQUIRE(all.heard.has_value());
    BOOST_TEST(all.heard->segments.size() == 2U);
    BOOST_TEST(read_records({R"({"type":"transcript.text.segment","text":"x"})", done("x")}).turns.empty(), "nobody asked for speakers");
}

BOOST_AUTO_TEST_CASE(a_done_alone_is_told_as_a_piece) {
    BOOST_TEST(read_records({done(" two birds\\n")}).deltas == "[two birds]");
    BOOST_TEST(read_records({done("")}).deltas == "");
    BOOST_TEST(read_records({done("")}).heard.has_value());
}

BOOST_AUTO_TEST_CASE(what_done_adds_is_told_and_what_it_changes_is_not) {
    BOOST_TEST(read_records({delta("two"), done("two birds")}).deltas == "[two][ birds]");
    BOOST_TEST(read_records({delta("two"), done("too birds")}).heard->text == "two");
    BOOST_TEST(read_records({delta("two birds"), done("two")}).heard->text == "two birds");
    BOOST_TEST(read_records({delta("two"), R"({"type":"transcript.text.done"})"}).heard->text == "two");
}

BOOST_AUTO_TEST_CASE(blanks_at_both_ends_are_never_told) {
    BOOST_TEST(
        read_records({delta(" "), delta(" two"), delta(" "), delta("\\n"), delta("birds "), delta(" "), done(" two \\nbirds ")}).deltas ==
        "[two][ \nbirds]");
    BOOST_TEST(read_records({delta(""), delta("  "), done("  ")}).deltas == "");
}

BOOST_AUTO_TEST_CASE(unknown_records_and_what_comes_after_the_end) {
    const auto all = read_records({R"({"type":"transcript.text.started"})", R"({})", delta("a"), done("a"), delta("b"), "[DONE]",
                                   R"({"error":{"message":"late"}})", "not json"});
    BOOST_TEST(all.deltas == "[a]");
    BOOST_TEST(all.heard.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(others)

BOOST_AUTO_TEST_CASE(vllms_chunks_end_with_the_marker) {
    const auto all = read_records(
        {chunk(""), chunk(" two"), R"({"object":"transcription.chunk","choices":[{"delta":{"content":" birds"},"finish_reason":"stop"}]})",
         R"({"object":"transcription.chunk","choices":[],"usage":{"total_tokens":3}})", "[DONE]"},
        of(detail::plain, 3));
    BOOST_TEST(all.deltas == "[two][ birds]");
    BOOST_TEST_REQUIRE(all.heard.has_value());
    BOOST_TEST(all.heard->duration_seconds == 3);
    BOOST_TEST(all.heard->more.empty(), "its usage is another one's");
    // A reason to finish stands behind each half minute.
    BOOST_TEST(read_records({R"({"object":"transcription.chunk","choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]})"})
                   .failed.has_value());
}

BOOST_AUTO_TEST_CASE(chunks_of_a_wrong_shape_tell_nothing) {
    BOOST_TEST(read_records({R"({"object":"transcription.chunk"})", R"({"object":"transcription.chunk","choices":{}})",
                             R"({"object":"transcription.chunk","choices":[5]})", R"({"object":"transcription.chunk","choices":[{}]})",
                             R"({"object":"transcription.chunk","choices":[{"delta":"a"}]})",
                             R"({"object":"transcription.chunk","choices":[{"delta":{"content":null}}]})", "[DONE]"})
                   .heard->text.empty());
}

BOOST_AUTO_TEST_CASE(localais_members) {
    const auto all = read_records(
        {delta("two"), R"({"type":"transcript.text.done","text":"two","language":"de","duration":"3.5","segments":[{"text":"two"}]})",
         "[DONE]"},
        of(detail::timed));
    BOOST_TEST_REQUIRE(all.heard.has_value());
    BOOST_TEST(all.heard->language == "german");
    BOOST_TEST(all.heard->duration_seconds == 3.5);
    BOOST_TEST(all.heard->segments.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(a_stream_that_stops_is_no_success) {
    for (const auto& records : std::vector<std::vector<std::string>>{
             {}, {delta("two")}, {delta("two"), "[DONE]"}, {"[DONE]"}, {chunk("two")}, {R"({"type":"transcript.text.segment"})"}}) {
        const auto all = read_records(records);
        BOOST_TEST_REQUIRE(all.failed.has_value());
        BOOST_TEST(all.failed->message() == "The backend's stream ended before its end.");
    }
}

BOOST_AUTO_TEST_CASE(errors_in_the_stream) {
    const std::pair<std::string, std::string> rows[] = {
        {R"({"type":"error","error":{"message":"out of memory"}})", "The backend broke off: out of memory"},
        {R"({"error":{"message":"out of memory","code":500}})", "The backend broke off: out of memory"},
        {R"({"error":"out of memory"})", "The backend broke off: out of memory"},
        {R"({"error":true,"message":"out of memory"})", "The backend broke off: out of memory"},
        {R"({"type":"error","message":"out of memory"})", "The backend broke off: out of memory"},
        {R"({"type":"error","error":null})", "The backend broke off"},
        {R"({"error":{}})", "The backend broke off"},
        {R"({"error":{"message":"bad key )" + key + R"("}})", "The backend broke off: bad key ***"}};
    for (const auto& [record, message] : rows) {
        const auto all = read_records({delta("two"), record, done("two")});
        BOOST_TEST_REQUIRE(all.failed.has_value());
        BOOST_TEST(all.failed->message() == message);
    }
    BOOST_TEST(read_records({R"({"message":"x"})"}, {}, "error").failed->message() == "The backend broke off: x");
    for (const std::string fine : {"null", "false", "\"\""})
        BOOST_TEST(read_records({R"({"error":)" + fine + "}", done("a")}).heard.has_value());
}

BOOST_AUTO_TEST_CASE(records_that_cannot_be_read) {
    for (const std::string record : {"", "x", "[]", "5", "{", "{\"delta\":\"\xFF\"}", "[DONE", "<html>"}) {
        const auto all = read_records({delta("two"), record});
        BOOST_TEST_REQUIRE(all.failed.has_value(), record);
        BOOST_TEST(all.failed->message() == "The backend's stream is not readable.");
    }
    BOOST_TEST(read_records({R"({"type":"transcript.text.delta","delta":5})", R"({"type":5})", done("a")}).heard->text == "a");
}

BOOST_AUTO_TEST_CASE(cut_anywhere_it_reads_the_same) {
    const std::string whole = ": hello\r\n\r\ndata: " + delta(" zwei V\xC3\xB6gel") + "\r\n\r\ndata: " + delta(" \\ud83d\\ude00 ") +
                              "\n\ndata: " + delta("da") + "\n\nevent: x\ndata: " + done("zwei V\xC3\xB6gel \xF0\x9F\x98\x80 da") +
                              "\n\ndata: [DONE]\n\n";
    std::mt19937 random(20);
    for (unsigned round = 0; round < 500; ++round) {
        event_reading reading({}, key);
        hearonce::net::event_stream records;
        told all;
        const auto take = [&](const hearonce::net::event_record& one) {
            auto piece = reading.take(one.event, one.data);
            BOOST_TEST_REQUIRE(piece.has_value());
            if (*piece) note(all, **piece);
            return true;
        };
        for (std::size_t at = 0; at < whole.size();) {
            const std::size_t length = 1 + random() % (round % 40 + 1);
            records.feed(std::string_view(whole).substr(at, length), take);
            at += length;
        }
        all.heard = *std::move(reading).finish();
        check(all);
        BOOST_TEST_REQUIRE(all.deltas == "[zwei V\xC3\xB6gel][ \xF0\x9F\x98\x80][ da]");
    }
}

BOOST_AUTO_TEST_SUITE_END()
