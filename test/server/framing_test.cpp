// The framing rules as tables: what is let in, what is refused, and that the way bytes arrive changes nothing.
#define BOOST_TEST_MODULE server_framing
#include <server/framing.hpp>
#include <server/request_parser.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace hearonce;
using namespace hearonce::server;
using state = head_scan::state;
using kind = request_parser::step::kind;
using namespace std::string_literals;

namespace {

constexpr head_limits roomy{32 * 1024, 100, 8 * 1024};

// How a head ends when its bytes come one by one; the size is that of what was given when it ended.
std::pair<state, std::size_t> one_by_one(std::string_view bytes, head_limits limits = roomy) {
    head_scan scan(limits);
    for (std::size_t size = 1; size <= bytes.size(); ++size) {
        auto got = scan.resume(bytes.substr(0, size));
        if (got != state::more) return {got, size};
    }
    return {state::more, bytes.size()};
}
state at_once(std::string_view bytes, head_limits limits = roomy) {
    return head_scan(limits).resume(bytes);
}
errc failure_of(std::string_view bytes, head_limits limits = roomy) {
    head_scan scan(limits);
    BOOST_TEST((scan.resume(bytes) == state::failed));
    return scan.failure();
}
std::string lines(std::size_t count) {
    std::string head = "GET / HTTP/1.1\r\n";
    for (std::size_t i = 0; i < count; ++i) head += "A: b\r\n";
    return head + "\r\n";
}

// "ok", or the error's code.
std::string verdict(const std::string& text, http::request_head& head) {
    head_scan scan(roomy);
    if (scan.resume(text) != state::complete) return "scan";
    request_parser parser;
    auto parsed = parser.parse_head(std::string_view(text).substr(0, scan.size()), head);
    return parsed.has_error() ? "parse" : "ok";
}
std::string verdict(const std::string& text) {
    http::request_head head;
    return verdict(text, head);
}
std::string with(const std::string& headers, const std::string& line = "POST / HTTP/1.1") {
    return line + "\r\nHost: h\r\n" + headers + "\r\n";
}
http::request_head head_of(const std::string& text) {
    http::request_head head;
    BOOST_TEST_CONTEXT(text) BOOST_TEST(verdict(text, head) == "ok");
    return head;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_head_ends_at_its_blank_line_however_it_arrives) {
    auto head = with("A: b\r\nC: d\r\n");
    head_scan scan(roomy);
    BOOST_TEST((scan.resume(head + "BODY") == state::complete));
    BOOST_TEST(scan.size() == head.size());
    auto [got, size] = one_by_one(head + "BODY");
    BOOST_TEST((got == state::complete));
    BOOST_TEST(size == head.size());
}

BOOST_AUTO_TEST_CASE(what_can_never_be_a_head_is_refused_as_soon_as_it_shows) {
    struct row {
        std::string bytes;
        std::size_t shows_at;
    };
    const std::vector<row> rows = {
        {"\x16\x03\x01\x02"s, 1},                        // A TLS hello on a plain port.
        {" GET / HTTP/1.1\r\n", 1},                      //
        {"\nGET", 1},                                    //
        {"GET / HTTP/1.1\n", 15},                        // Bare LF
        {"GET / HTTP/1.1\r\nHost: h\nA: b\r\n", 24},     //
        {"GET / HTTP/1.1\r\nA: b\rc\r\n", 24},           // Bare CR
        {"GET / HTTP/1.1\r\nA: b\r\n folded\r\n", 31},   // obs-fold
        {"GET / HTTP/1.1\r\nA: b\r\n\tfolded\r\n", 31},  //
        {"GET / HTTP/1.1\r\n A: b\r\n", 23},             // Blank before the first header.
        {"GET / HTTP/1.1\r\nA: b\0c\r\n"s, 24},          // NUL
        {"GET / HTTP/1.1\r\nA: b\x7f\r\n", 23},          // DEL
        {"GET / HTTP/1.1\r\nA: b\x01\r\n", 23},          //
        {"GET\r\n", 5},                                  // No target.
        {"GET /\r\n", 7},                                // HTTP/0.9
    };
    for (const auto& row : rows) {
        BOOST_TEST_CONTEXT(row.bytes) {
            auto [got, size] = one_by_one(row.bytes);
            BOOST_TEST((got == state::failed));
            BOOST_TEST(size == row.shows_at);
            BOOST_TEST((failure_of(row.bytes) == errc::invalid_http));
        }
    }
}

BOOST_AUTO_TEST_CASE(limits_of_a_head_hold_exactly) {
    auto head = lines(3);
    for (std::size_t limit : {head.size() - 1, head.size(), head.size() + 1}) {
        head_limits limits{limit, 100, 100};
        auto expected = limit < head.size() ? state::failed : state::complete;
        BOOST_TEST((at_once(head, limits) == expected));
        BOOST_TEST((one_by_one(head, limits).first == expected));
    }
    for (std::size_t count : {4U, 5U, 6U}) {
        BOOST_TEST((at_once(lines(count), {1000, 5, 100}) == (count > 5 ? state::failed : state::complete)));
    }
    for (std::size_t length : {9U, 10U, 11U}) {
        auto text = "GET /" + std::string(length - 1, 'a') + " HTTP/1.1\r\n\r\n";
        BOOST_TEST((at_once(text, {1000, 5, 10}) == (length > 10 ? state::failed : state::complete)));
    }
    BOOST_TEST((failure_of(head, {head.size() - 1, 100, 100}) == errc::header_too_large));
    BOOST_TEST((failure_of(lines(6), {1000, 5, 100}) == errc::header_too_large));
    BOOST_TEST((failure_of("GET /aaaaaaaaaa HTTP/1.1\r\n", {1000, 5, 10}) == errc::header_too_large));
    // A line without an end is refused when the limit is reached, not kept waiting for.
    BOOST_TEST((failure_of(std::string(64, 'A'), {64, 5, 10}) == errc::header_too_large));
    BOOST_TEST((at_once(std::string(63, 'A'), {64, 5, 10}) == state::more));
}

BOOST_AUTO_TEST_CASE(scan_is_as_new_after_reset) {
    head_scan scan({1000, 2, 10});
    BOOST_TEST((scan.resume(lines(3)) == state::failed));
    scan.reset();
    BOOST_TEST((scan.resume(lines(2)) == state::complete));
    BOOST_TEST(scan.size() == lines(2).size());
}

BOOST_AUTO_TEST_CASE(framing_headers) {
    const std::vector<std::pair<std::string, std::string>> rows = {
        {with(""), "ok"},
        {with("Content-Length: 0\r\n"), "ok"},
        {with("Content-Length: 5\r\n"), "ok"},
        {with("Content-Length:5\r\n"), "ok"},
        {with("Content-Length:  5 \r\n"), "ok"},
        {with("Content-Length: 18446744073709551615\r\n"), "ok"},
        {with("Content-Length: 18446744073709551616\r\n"), "parse"},
        {with("Content-Length: +5\r\n"), "parse"},
        {with("Content-Length: -5\r\n"), "parse"},
        {with("Content-Length: 0x5\r\n"), "parse"},
        {with("Content-Length: 5 5\r\n"), "parse"},
        {with("Content-Length: 5, 5\r\n"), "parse"},
        {with("Content-Length: \r\n"), "parse"},
        {with("Content-Length: 5\r\nContent-Length: 5\r\n"), "parse"},
        {with("Content-Length: 5\r\nContent-Length: 6\r\n"), "parse"},
        {with("Content-Length: 5\r\ncontent-length: 5\r\n"), "parse"},
        {with("Transfer-Encoding: chunked\r\n"), "ok"},
        {with("transfer-encoding: CHUNKED\r\n"), "ok"},
        {with("Transfer-Encoding: gzip\r\n"), "parse"},
        {with("Transfer-Encoding: gzip, chunked\r\n"), "parse"},
        {with("Transfer-Encoding: chunked, gzip\r\n"), "parse"},
        {with("Transfer-Encoding: chunked, chunked\r\n"), "parse"},
        {with("Transfer-Encoding: identity\r\n"), "parse"},
        {with("Transfer-Encoding: \"chunked\"\r\n"), "parse"},
        {with("Transfer-Encoding: chunked;q=1\r\n"), "parse"},
        {with("Transfer-Encoding: xchunked\r\n"), "parse"},
        {with("Transfer-Encoding: \r\n"), "parse"},
        {with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "parse"},
        {with("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), "parse"},
        {with("Transfer-Encoding : chunked\r\n"), "parse"},
        {with("Transfer-Encoding\t: chunked\r\n"), "parse"},
        {with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), "parse"},
        {with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), "parse"},
        {with("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"), "parse"},
        {with("Transfer-Encoding: chunked\r\n", "POST / HTTP/1.0"), "parse"},
        {with("Content-Length: 5\r\n", "POST / HTTP/1.0"), "ok"},
        {with("Host: h\r\n"), "parse"},
        {with("Host: other\r\n", "POST / HTTP/1.0"), "parse"},
        {"GET / HTTP/1.1\r\n\r\n", "parse"},
        {"GET / HTTP/1.0\r\n\r\n", "ok"},
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n", "ok"},
        {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "parse"},
        {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "parse"},
        {"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", "parse"},
        {"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", "parse"},
        {"GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "ok"},
        {"GET / HTTP/1.1\r\nHost: example.org:80\r\n\r\n", "ok"},
        {"GET / HTTP/1.2\r\nHost: h\r\n\r\n", "parse"},
        {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", "parse"},
        {"GET / HTTP/1.1 \r\nHost: h\r\n\r\n", "parse"},
        {"GET / http/1.1\r\nHost: h\r\n\r\n", "parse"},
        {"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "parse"},
        {"GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", "parse"},
        {"G(T / HTTP/1.1\r\nHost: h\r\n\r\n", "parse"},
        {with("No colon\r\n"), "parse"},
        {with(": no name\r\n"), "parse"},
        {with("Bad name: x\r\n"), "parse"},
        {with("Na(me: x\r\n"), "parse"},
        {with("Umlaut: \xc3\xa4\r\n"), "ok"},
        {with("Empty:\r\n"), "ok"},
    };
    for (const auto& [text, expected] : rows) {
        BOOST_TEST_CONTEXT(text) BOOST_TEST(verdict(text) == expected);
    }
}

BOOST_AUTO_TEST_CASE(a_head_becomes_values) {
    auto head = head_of("POST /v1/a%20b?x=1&y=%3F HTTP/1.1\r\nHost: h\r\nContent-Length: 42\r\nX-Two:  spaced \t\r\nx-two: again\r\n\r\n");
    BOOST_TEST(head.method == "POST");
    BOOST_TEST(head.path == "/v1/a%20b");
    BOOST_TEST(head.query == "x=1&y=%3F");
    BOOST_TEST(head.version == 11U);
    BOOST_TEST(*head.content_length == 42U);
    BOOST_TEST(!head.chunked);
    BOOST_TEST(head.headers.size() == 4U);
    BOOST_TEST(head.headers[2].name == "X-Two");
    BOOST_TEST(*head.find("X-TWO") == "spaced");
    BOOST_TEST(head.count("x-two") == 2U);
    BOOST_TEST(!head.find("x-tw"));
    auto streamed = head_of(with("Transfer-Encoding: chunked\r\n"));
    BOOST_TEST(streamed.chunked);
    BOOST_TEST(!streamed.content_length);
}

BOOST_AUTO_TEST_CASE(targets) {
    struct row {
        std::string method, target, path, query, host;
        bool good;
    };
    const std::vector<row> rows = {
        {"GET", "/", "/", "", "h", true},
        {"GET", "/?", "/", "", "h", true},
        {"GET", "/a?b?c", "/a", "b?c", "h", true},
        {"GET", "//a", "//a", "", "h", true},
        {"GET", "http://other:81/a?b", "/a", "b", "other:81", true},
        {"GET", "HTTPS://other/a", "/a", "", "other", true},
        {"GET", "http://other", "/", "", "other", true},
        {"GET", "http://other?b", "/", "b", "other", true},
        {"GET", "http:///a", "", "", "h", false},
        {"GET", "http://user@other/a", "", "", "h", false},
        {"GET", "ftp://other/a", "", "", "h", false},
        {"GET", "a", "", "", "h", false},
        {"GET", "*", "", "", "h", false},
        {"OPTIONS", "*", "*", "", "h", true},
        {"CONNECT", "other:443", "", "", "h", false},
        {"GET", "/a#b", "", "", "h", false},
        {"GET", "/\xc3\xa4", "", "", "h", false},
        {"GET", "", "", "", "h", false},
    };
    for (const auto& row : rows) {
        BOOST_TEST_CONTEXT(row.method << " " << row.target) {
            http::request_head head;
            head.method = row.method;
            head.headers.push_back({"Host", "h"});
            BOOST_TEST(read_target(row.target, head) == row.good);
            BOOST_TEST(*head.find("host") == row.host);
            if (!row.good) continue;
            BOOST_TEST(head.path == row.path);
            BOOST_TEST(head.query == row.query);
        }
    }
}

BOOST_AUTO_TEST_CASE(keep_alive_expectation_and_request_id) {
    auto keep = [](const std::string& headers, const std::string& version) {
        return wants_keep_alive(head_of(with(headers, "GET / HTTP/" + version)));
    };
    BOOST_TEST(keep("", "1.1"));
    BOOST_TEST(!keep("", "1.0"));
    BOOST_TEST(!keep("Connection: close\r\n", "1.1"));
    BOOST_TEST(!keep("Connection: foo, CLOSE\r\n", "1.1"));
    BOOST_TEST(!keep("Connection: keep-alive\r\nConnection: close\r\n", "1.1"));
    BOOST_TEST(keep("Connection: Keep-Alive\r\n", "1.0"));
    BOOST_TEST(!keep("Connection: keep-alive, close\r\n", "1.0"));
    BOOST_TEST(keep("Connection: closed\r\n", "1.1"));

    auto expects = [](const std::string& headers, const std::string& version) {
        return expectation_of(head_of(with(headers, "POST / HTTP/" + version)));
    };
    BOOST_TEST((expects("", "1.1") == expectation::none));
    BOOST_TEST((expects("Expect: 100-Continue\r\n", "1.1") == expectation::go_on));
    BOOST_TEST((expects("Expect: 100-continue\r\n", "1.0") == expectation::none));
    BOOST_TEST((expects("Expect: tea\r\n", "1.1") == expectation::unknown));
    BOOST_TEST((expects("Expect: 100-continue\r\nExpect: 100-continue\r\n", "1.1") == expectation::unknown));
}

namespace {

struct chunk_reader {
    chunk_reader() {
        http::request_head head;
        auto text = with("Transfer-Encoding: chunked\r\n");
        BOOST_TEST(!parser.parse_head(text, kept).has_error());
    }
    // Feeds more bytes. False: broken.
    bool feed(std::string_view more) {
        pending += more;
        while (!ended) {
            auto step = parser.parse_chunked(pending);
            if (step.has_error()) return false;
            body += step->data;
            pending.erase(0, step->consumed);
            ended = step->is == kind::end;
            if (step->is == kind::more) break;
        }
        return true;
    }
    http::request_head kept;
    request_parser parser;
    std::string pending, body;
    bool ended = false;
};

}  // namespace

BOOST_AUTO_TEST_CASE(chunks_split_at_every_two_bytes) {
    const std::string wire = "5\r\nhello\r\nA;a=b;c=\"d e\"\r\n0123456789\r\n1\r\nx\r\n000\r\nX-Trailer: t\r\n\r\nNEXT";
    for (std::size_t first = 0; first <= wire.size(); ++first) {
        for (std::size_t second = first; second <= wire.size(); ++second) {
            chunk_reader reader;
            bool good =
                reader.feed(wire.substr(0, first)) && reader.feed(wire.substr(first, second - first)) && reader.feed(wire.substr(second));
            if (!good || reader.body != "hello0123456789x" || !reader.ended || reader.pending != "NEXT") {
                BOOST_ERROR("cut at " << first << " and " << second << ": " << reader.body << " | " << reader.pending);
            }
            BOOST_REQUIRE(reader.kept.count("x-trailer") == 0U);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_last_chunk_byte_by_byte) {
    for (std::string wire : {"0\r\n\r\n", "0000\r\n\r\n", "0;x\r\n\r\n", "0\r\nA: b\r\n\r\n", "1\r\nx\r\n0\r\n\r\n"}) {
        chunk_reader reader;
        for (char c : wire) BOOST_TEST(reader.feed(std::string(1, c)));
        BOOST_TEST(reader.ended);
        BOOST_TEST(reader.pending == "");
    }
}

BOOST_AUTO_TEST_CASE(broken_chunks_are_refused) {
    for (std::string wire :
         {"x\r\nhello\r\n", "-1\r\nhello\r\n", "\r\nhello\r\n", "5\nhello\r\n0\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n",
          "5\r\nhelloXX0\r\n\r\n", "5\r\nhello0\r\n\r\n", "FFFFFFFFFFFFFFFFF\r\nhello", "0x5\r\nhello\r\n0\r\n\r\n", "5;\rx\r\nhello\r\n",
          "0\r\nContent-Length: 5\r\n\r\n", "0\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\nno colon\r\n\r\n"}) {
        BOOST_TEST_CONTEXT(wire) {
            chunk_reader reader;
            BOOST_TEST(!reader.feed(wire));
            chunk_reader slow;
            bool good = true;
            for (char c : wire) good = good && slow.feed(std::string(1, c));
            BOOST_TEST(!good);
        }
    }
}
