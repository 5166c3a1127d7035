// Server-sent events: every line end, every split, records that are none, bounds.
#define BOOST_TEST_MODULE event_stream
#include <boost/test/unit_test.hpp>

#include <net/event_stream.hpp>

#include <random>
#include <string>
#include <utility>
#include <vector>

using hearonce::net::event_record;
using hearonce::net::event_stream;

namespace {

using records = std::vector<std::pair<std::string, std::string>>;

struct outcome {
    records got;
    std::optional<std::pair<std::string, std::string>> unfinished;
    bool too_large = false;
    friend bool operator==(const outcome&, const outcome&) = default;
};

outcome read(const std::vector<std::string>& pieces, std::size_t bound = 1000) {
    outcome all;
    event_stream stream(bound);
    for (const auto& piece : pieces) {
        stream.feed(piece, [&](const event_record& one) {
            all.got.emplace_back(std::string(one.event), std::string(one.data));
            return true;
        });
    }
    if (const auto last = stream.finish()) all.unfinished = {std::string(last->event), std::string(last->data)};
    all.too_large = stream.too_large();
    return all;
}

records data_of(const std::vector<std::string>& texts) {
    records made;
    for (const auto& one : texts) made.emplace_back("", one);
    return made;
}

std::vector<std::string> bytes_of(const std::string& text) {
    std::vector<std::string> pieces;
    for (const char c : text) pieces.emplace_back(1, c);
    return pieces;
}

}  // namespace

BOOST_AUTO_TEST_CASE(records_are_read) {
    struct row {
        const char* name;
        std::string text;
        std::vector<std::string> data;
    };
    const row table[] = {
        {"nothing", "", {}},
        {"one", "data: a\n\n", {"a"}},
        {"two", "data: a\n\ndata: b\n\n", {"a", "b"}},
        {"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", {"a", "b"}},
        {"CR", "data: a\r\rdata: b\r\r", {"a", "b"}},
        {"mixed", "data: a\r\n\ndata: b\n\rdata: c\r\r\n", {"a", "b", "c"}},
        {"several lines", "data: a\ndata: b\ndata:\ndata: c\n\n", {"a\nb\n\nc"}},
        {"no blank", "data:a\n\n", {"a"}},
        {"one blank only", "data:  a \n\n", {" a "}},
        {"empty data", "data\n\n", {""}},
        {"empty data, too", "data:\n\n", {""}},
        {"two empty lines of data", "data\ndata\n\n", {"\n"}},
        {"comments", ": hi\ndata: a\n:\n: x: y\n\n:keep-alive\n\n", {"a"}},
        {"other fields", "id: 1\nretry: 10\nfoo: bar\nfoo\ndata: a\n\nid: 2\n\n", {"a"}},
        {"names are exact", "Data: a\ndat: b\ndata2: c\n data: d\n\n", {}},
        {"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", {"a"}},
        {"colons", "data: a: b:c\n\n", {"a: b:c"}},
        {"byte order mark",
         "\xEF\xBB\xBF"
         "data: a\n\ndata: \xEF\xBB\xBF\n\n",
         {"a", "\xEF\xBB\xBF"}},
        {"byte order mark later is part of a name",
         "data: a\n\n\xEF\xBB\xBF"
         "data: b\n\n",
         {"a"}},
        {"JSON", "data: {\"type\":\"x\"}\n\ndata: [DONE]\n\n", {"{\"type\":\"x\"}", "[DONE]"}},
        {"zero byte", std::string("data: a\0b\n\n", 11), {std::string("a\0b", 3)}},
    };
    for (const row& one : table) {
        BOOST_TEST_CONTEXT(one.name) {
            outcome expected;
            expected.got = data_of(one.data);
            BOOST_TEST((read({one.text}) == expected));
            BOOST_TEST((read(bytes_of(one.text)) == expected));
            for (std::size_t cut = 0; cut <= one.text.size(); ++cut)
                BOOST_TEST((read({one.text.substr(0, cut), one.text.substr(cut)}) == expected), "cut at " << cut);
        }
    }
}

BOOST_AUTO_TEST_CASE(events_are_named) {
    const auto all = read({"event: error\ndata: a\n\ndata: b\n\nevent: x\n\nevent:y\nevent: z\ndata: c\n\n"});
    const records expected{{"error", "a"}, {"", "b"}, {"z", "c"}};
    BOOST_TEST((all.got == expected));
}

BOOST_AUTO_TEST_CASE(an_unfinished_record_is_told_apart) {
    for (const std::string text : {"data: a\n\nevent: e\ndata: b", "data: a\n\nevent: e\ndata: b\n", "data: a\n\nevent: e\ndata: b\r",
                                   "data: a\n\nevent: e\ndata: b\n: comment", "data: a\r\n\r\nevent: e\r\ndata: b\r\n"}) {
        for (const auto& all : {read({text}), read(bytes_of(text))}) {
            BOOST_TEST((all.got == data_of({"a"})));
            BOOST_TEST_REQUIRE(all.unfinished.has_value(), text);
            BOOST_TEST(all.unfinished->first == "e");
            BOOST_TEST(all.unfinished->second == "b");
        }
    }
    for (const char* text : {"", "data: a\n\n", "data: a\n\n: comment", "data: a\n\nevent: e\n", "event", "\n"})
        BOOST_TEST(!read({text}).unfinished.has_value(), text);
}

BOOST_AUTO_TEST_CASE(whoever_wants_no_more_gets_no_more) {
    event_stream stream;
    int calls = 0;
    const auto once = [&](const event_record&) { return ++calls < 2; };
    BOOST_TEST(stream.feed("data: a\n\n", once));
    BOOST_TEST(!stream.feed("data: b\n\ndata: c\n\ndata: d", once));
    BOOST_TEST(!stream.feed("\n\ndata: e\n\n", once));
    BOOST_TEST(calls == 2);
    BOOST_TEST(!stream.finish().has_value());
    BOOST_TEST(!stream.too_large());
}

BOOST_AUTO_TEST_CASE(records_are_bounded) {
    for (const std::size_t size : {99U, 100U, 101U}) {
        const bool fits = size <= 100;
        const std::string bytes(size, 'x');
        const std::string half(size - size / 2 - 1, 'y');
        for (const std::string& text : {"data: " + bytes + "\n\n", "data: " + std::string(size / 2, 'x') + "\ndata: " + half + "\n\n"}) {
            for (const auto& pieces : {std::vector{"data: a\n\n" + text}, bytes_of("data: a\n\n" + text)}) {
                const auto all = read(pieces, 100);
                BOOST_TEST(all.too_large == !fits);
                BOOST_TEST(all.got.size() == (fits ? 2 : 1));
            }
        }
        // Without its end it is no different.
        const auto unfinished = read({"data: " + bytes}, 100);
        BOOST_TEST(unfinished.unfinished.has_value() == fits);
    }
    // Nor may one line of no use be endless: 100 and 16 for a field's name.
    for (const std::size_t size : {115U, 116U, 117U}) {
        const std::string comment = ":" + std::string(size - 1, 'x');
        for (const auto& pieces : {std::vector{comment + "\ndata: a\n\n"}, bytes_of(comment + "\ndata: a\n\n")}) {
            const auto all = read(pieces, 100);
            BOOST_TEST(all.too_large == (size > 116));
            BOOST_TEST(all.got.size() == (size > 116 ? 0 : 1));
        }
    }
    // Many records are not bounded together.
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "data: " + std::string(90, 'x') + "\n\n";
    BOOST_TEST(read({many}, 100).got.size() == 1000);
}

BOOST_AUTO_TEST_CASE(any_bytes_in_any_pieces_read_the_same) {
    std::mt19937 random(7);
    const std::vector<std::string> parts{"data: ", "data", "event: x",     ":", " ",  "\n",   "\r",
                                         "\r\n",   "\n\n", "\xEF\xBB\xBF", "a", "bc", "\xEF", std::string(1, '\0')};
    std::size_t read_records = 0;
    for (int round = 0; round < 10'000; ++round) {
        std::string text;
        for (std::size_t i = random() % 30; i > 0; --i) text += parts[random() % parts.size()];
        std::vector<std::string> pieces;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t size = random() % 5;
            pieces.push_back(text.substr(at, size));
            at += size;
        }
        const auto whole = read({text}, 20);
        read_records += whole.got.size();
        BOOST_TEST_REQUIRE((read(pieces, 20) == whole), "round " << round);
        BOOST_TEST_REQUIRE((read(bytes_of(text), 20) == whole), "round " << round);
    }
    BOOST_TEST(read_records > 2000);
}
