// What every client does: requests, answers, keep-alive, pipelining, bodies, HEAD, HTTP/1.0.
#define BOOST_TEST_MODULE server_basics
#include <server/running_server.hpp>
#include <support/raw_client.hpp>

#include <thread>

using namespace hearonce;
using namespace hearonce::test;
using std::chrono::milliseconds;

namespace {

const std::string get = "GET /x?y=1 HTTP/1.1\r\nHost: h\r\n\r\n";
std::string post(std::string_view body) {
    return "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}
const std::string chunked =
    "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;ext=1\r\n, world\r\n0\r\nTrailer: dropped\r\n\r\n";

}  // namespace

BOOST_AUTO_TEST_CASE(answers_with_the_servers_headers) {
    running_server server(echo);
    raw_client client(server.port());
    client.send(get);
    auto got = client.answer();
    BOOST_TEST(got.status == 200);
    BOOST_TEST(got.body == "GET /x?y=1 0\n");
    BOOST_TEST(got.header("content-length") == "13");
    BOOST_TEST(got.header("content-type") == "text/plain");
    BOOST_TEST(got.header("date").size() == 29U);
    BOOST_TEST(got.header("date").ends_with(" GMT"));
    BOOST_TEST(got.header("x-request-id").size() == 32U);
    BOOST_TEST(!got.has("connection"));
}

BOOST_AUTO_TEST_CASE(keeps_the_connection_and_makes_each_request_its_own_id) {
    running_server server(echo);
    raw_client client(server.port());
    std::string last;
    for (int i = 0; i < 5; ++i) {
        client.send(post("body"));
        auto got = client.answer();
        BOOST_TEST(got.body == "POST /p? 4\nbody");
        BOOST_TEST(got.header("x-request-id") != last);
        last = got.header("x-request-id");
    }
    BOOST_TEST(server.get().accepted_total() == 1U);
}

BOOST_AUTO_TEST_CASE(reads_chunks_and_drops_trailers) {
    running_server server(echo);
    raw_client client(server.port());
    client.send(chunked + get);
    BOOST_TEST(client.answer().body == "POST /p? 12\nhello, world");
    BOOST_TEST(client.answer().body == "GET /x?y=1 0\n");
}

BOOST_AUTO_TEST_CASE(pipelined_requests_split_at_every_byte) {
    running_server server(echo);
    auto all = get + post("hello") + chunked + get;
    for (std::size_t cut = 1; cut < all.size(); ++cut) {
        raw_client client(server.port());
        client.send(all.substr(0, cut));
        if (cut % 8 == 0) std::this_thread::sleep_for(milliseconds(1));  // Either order must do; this makes both happen.
        client.send(all.substr(cut));
        BOOST_TEST_CONTEXT("cut at " << cut) {
            BOOST_TEST(client.answer().body == "GET /x?y=1 0\n");
            BOOST_TEST(client.answer().body == "POST /p? 5\nhello");
            BOOST_TEST(client.answer().body == "POST /p? 12\nhello, world");
            BOOST_TEST(client.answer().body == "GET /x?y=1 0\n");
        }
    }
}
