// The server's small pure parts: the answer's head, the input buffer, the counts of what is open.
#define BOOST_TEST_MODULE server_parts
#include <server/answer_head.hpp>
#include <server/descriptors.hpp>
#include <server/input.hpp>
#include <server/loop.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

using namespace hearonce;
using namespace hearonce::server;
using namespace std::string_literals;

namespace {

std::string head_text(const http::response& answer, answer_framing how) {
    how.request_id = "id";
    how.date = "now";
    std::string text;
    write_answer_head(text, answer, how);
    return text;
}
void put(input& in, std::string_view bytes) {
    auto room = in.prepare();
    BOOST_REQUIRE(room.size() >= bytes.size());
    bytes.copy(room.data(), bytes.size());
    in.commit(bytes.size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(answer_heads) {
    http::response answer;
    answer.headers = {{"Content-Type", "text/plain"}};
    BOOST_TEST(head_text(answer, {.content_length = 5}) ==
               "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 5\r\nX-Request-Id: id\r\nContent-Type: text/plain\r\n\r\n");
    answer.status = 503;
    BOOST_TEST(head_text(answer, {.keep_alive = false, .content_length = 0}) ==
               "HTTP/1.1 503 Service Unavailable\r\nDate: now\r\nContent-Length: 0\r\nConnection: close\r\nX-Request-Id: "
               "id\r\nContent-Type: text/plain\r\n\r\n");
    answer.status = 299;
    answer.headers.clear();
    BOOST_TEST(head_text(answer, {.version = 10, .content_length = 1}) ==
               "HTTP/1.1 299 \r\nDate: now\r\nContent-Length: 1\r\nConnection: keep-alive\r\nX-Request-Id: id\r\n\r\n");
    BOOST_TEST(head_text(answer, {.chunked = true}) ==
               "HTTP/1.1 299 \r\nDate: now\r\nTransfer-Encoding: chunked\r\nX-Request-Id: id\r\n\r\n");
}

BOOST_AUTO_TEST_CASE(an_answer_cannot_break_its_own_framing) {
    http::response answer;
    answer.headers = {{"Content-Length", "99"},
                      {"content-length", "99"},
                      {"DATE", "x"},
                      {"Connection", "upgrade"},
                      {"X-Request-ID", "x"},
                      {"Transfer-Encoding", "gzip"},
                      {"A", "b\r\nEvil: 1"},
                      {"A\nEvil", "1"},
                      {"", "x"},
                      {"A: b", "c"},
                      {"N", "\0"s},
                      {"Good", "1"}};
    BOOST_TEST(head_text(answer, {.content_length = 0}) ==
               "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 0\r\nX-Request-Id: id\r\nGood: 1\r\n\r\n");
}

BOOST_AUTO_TEST_CASE(statuses_without_a_body) {
    for (int status : {100, 101, 199, 204, 304}) BOOST_TEST(has_no_body(static_cast<std::uint16_t>(status)));
    for (int status : {200, 201, 205, 206, 301, 400, 500}) BOOST_TEST(!has_no_body(static_cast<std::uint16_t>(status)));
}

BOOST_AUTO_TEST_CASE(input_keeps_unconsumed_bytes_through_everything) {
    block_pool pool;
    input in(pool);
    BOOST_TEST(in.empty());
    BOOST_TEST(in.bytes() == "");
    put(in, "hello ");
    in.park();
    BOOST_TEST(in.bytes() == "hello ");
    put(in, "world");
    BOOST_TEST(in.bytes() == "hello world");
    in.consume(6);
    in.park();
    in.park();
    BOOST_TEST(in.bytes() == "world");
    in.consume(1);  // While parked.
    BOOST_TEST(in.bytes() == "orld");
    put(in, "!");
    BOOST_TEST(in.bytes() == "orld!");
    in.consume(5);
    BOOST_TEST(in.empty());
    in.park();
    put(in, "again");
    BOOST_TEST(in.bytes() == "again");
    in.clear();
    BOOST_TEST(in.empty());
}

BOOST_AUTO_TEST_CASE(input_makes_room_by_moving_and_ends_at_a_block) {
    block_pool pool;
    input in(pool);
    std::string half(block_bytes / 2 + 1, 'a');
    put(in, half);
    put(in, std::string(block_bytes - half.size(), 'b'));
    BOOST_TEST(in.prepare().size() == 0U);
    in.consume(half.size());
    BOOST_TEST(in.prepare().size() == half.size());  // Moved to the front.
    BOOST_TEST(in.bytes() == std::string(block_bytes - half.size(), 'b'));
    in.consume(in.size());
    BOOST_TEST(in.prepare().size() == block_bytes);
}

BOOST_AUTO_TEST_CASE(blocks_are_reused) {
    block_pool pool;
    const char* first = nullptr;
    {
        input in(pool);
        first = in.prepare().data();
    }
    input in(pool);
    BOOST_TEST(static_cast<const void*>(in.prepare().data()) == static_cast<const void*>(first));
}

BOOST_AUTO_TEST_CASE(connections_that_fit) {
    auto enough = descriptors_for(100);
    BOOST_TEST(connections_within(enough, 100) == 100U);
    BOOST_TEST(connections_within(enough - 1, 100) == 99U);
    BOOST_TEST(connections_within(enough + 1000, 100) == 100U);
    BOOST_TEST(connections_within(0, 100) == 1U);
    BOOST_TEST(connections_within(descriptors_reserved, 100) == 1U);
    BOOST_TEST(connections_within(1048576, 16384) == 16384U);
    auto now = raise_descriptor_limit(0);
    BOOST_TEST(now > 0U);
    BOOST_TEST(raise_descriptor_limit(0) == now);  // Never lowered.
}

BOOST_AUTO_TEST_CASE(what_is_counted_ends_once_and_is_heard_of_where_somebody_waits) {
    auto shared = std::make_shared<shared_state>();
    int told = 0;
    std::size_t open_when_told = 99;
    shared->ended = [&] {
        ++told;
        open_when_told = shared->open;
    };
    static_assert(!std::is_copy_constructible_v<counted> && std::is_nothrow_move_constructible_v<counted>);
    {
        counted one(shared, &shared_state::open);
        counted two(shared, &shared_state::held);
        BOOST_TEST(shared->open == 1U);
        BOOST_TEST(shared->held == 1U);
        counted moved = std::move(one);
        BOOST_TEST(shared->open == 1U);
        two = std::move(moved);  // Ends what it was.
        BOOST_TEST(shared->open == 1U);
        BOOST_TEST(shared->held == 0U);
        auto& same = two;
        two = std::move(same);
        BOOST_TEST(shared->open == 1U);
    }
    BOOST_TEST(shared->open == 0U);
    BOOST_TEST(told == 0);  // Nobody waits.
    for (auto* waits : {&shared->draining, &shared->crowded}) {
        *waits = true;
        told = 0;
        {
            counted one(shared, &shared_state::open);
        }
        BOOST_TEST(told == 1);
        BOOST_TEST(open_when_told == 0U);  // Told after it went down.
        *waits = false;
    }
    // An exception on the way takes it down, and one in the telling stays there.
    shared->draining = true;
    shared->ended = [] { throw std::bad_alloc(); };
    try {
        counted one(shared, &shared_state::open);
        throw std::bad_alloc();
    } catch (const std::bad_alloc&) {
    }
    BOOST_TEST(shared->open == 0U);
}
