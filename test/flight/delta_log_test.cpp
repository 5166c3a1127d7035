// Pieces for readers of any speed: late ones, leaving ones, on other threads.
#define BOOST_TEST_MODULE delta_log
#include <boost/test/unit_test.hpp>

#include <hearonce/delta_log.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <string>
#include <thread>

using namespace hearonce;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

std::string joined(const std::vector<const transcript_delta*>& pieces) {
    std::string text;
    for (const auto* one : pieces) text += one->text + "|";
    return text;
}

// A reader on a loop: everything it saw, and how its last wait ended.
struct reading {
    explicit reading(std::shared_ptr<delta_log> log) : reader(std::move(log)) {}
    delta_reader reader;
    std::string seen;
    std::size_t waits = 0;
    bool over = false;
};

std::shared_ptr<reading> read_all(asio::io_context& loop, std::shared_ptr<delta_log> log, steady_clock::time_point limit) {
    auto made = std::make_shared<reading>(std::move(log));
    auto body = [made, limit]() -> asio::awaitable<void> {
        for (;;) {
            auto more = co_await made->reader.wait(limit);
            ++made->waits;
            if (!more) break;
            made->seen += joined(made->reader.take());
        }
        made->over = true;
    };
    // Called only while `made` lives: the handler holds it.
    asio::co_spawn(loop, body, [made](std::exception_ptr why) {
        if (why) std::rethrow_exception(why);
    });
    return made;
}

const auto never = steady_clock::time_point::max();

void turn(asio::io_context& loop) {
    loop.restart();
    loop.poll();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_late_reader_gets_all_pieces_at_once_then_live_ones) {
    asio::io_context loop(1);
    const auto log = std::make_shared<delta_log>();
    BOOST_TEST(log->empty());
    log->append({"one"});
    log->append({"two"});
    BOOST_TEST(!log->empty());
    const auto late = read_all(loop, log, never);
    turn(loop);
    BOOST_TEST(late->seen == "one|two|");
    BOOST_TEST(late->waits == 1u);
    log->append({"three"});
    turn(loop);
    BOOST_TEST(late->seen == "one|two|three|");
    BOOST_TEST(!late->over);
    log->close();
    turn(loop);
    BOOST_TEST(late->over);
}

BOOST_AUTO_TEST_CASE(what_comes_before_the_close_is_still_read) {
    asio::io_context loop(1);
    const auto log = std::make_shared<delta_log>();
    const auto early = read_all(loop, log, never);
    turn(loop);
    log->append({"last"});
    log->close();
    log->append({"after the end"});
    log->close();
    turn(loop);
    BOOST_TEST(early->seen == "last|");
    BOOST_TEST(early->over);
    const auto after = read_all(loop, log, never);
    turn(loop);
    BOOST_TEST(after->seen == "last|");
    BOOST_TEST(after->over);
}

BOOST_AUTO_TEST_CASE(a_reader_that_leaves_wakes_alone) {
    asio::io_context loop(1);
    const auto log = std::make_shared<delta_log>();
    const auto leaver = read_all(loop, log, never);
    const auto stayer = read_all(loop, log, never);
    turn(loop);
    leaver->reader.leave();
    turn(loop);
    BOOST_TEST(leaver->over);
    BOOST_TEST(!stayer->over);
    log->append({"x"});
    turn(loop);
    BOOST_TEST(leaver->seen == "");
    BOOST_TEST(stayer->seen == "x|");
    // Pieces that are there do not hold a reader that has left.
    const auto gone = std::make_shared<reading>(log);
    gone->reader.leave();
    bool more = true;
    auto body = [gone, &more]() -> asio::awaitable<void> { more = co_await gone->reader.wait(never); };
    asio::co_spawn(loop, body, [](std::exception_ptr why) { BOOST_TEST(!why); });
    turn(loop);
    BOOST_TEST(!more);
    stayer->reader.leave();
    turn(loop);
    BOOST_TEST(stayer->over);
}

BOOST_AUTO_TEST_CASE(a_limit_that_has_passed_ends_the_wait) {
    asio::io_context loop(1);
    const auto log = std::make_shared<delta_log>();
    const auto late = read_all(loop, log, steady_clock::now() - 1ms);
    loop.run_for(5s);
    BOOST_TEST(late->over);
    // A piece that is there wins over the limit.
    log->append({"x"});
    const auto again = std::make_shared<reading>(log);
    bool more = false;
    auto body = [again, &more]() -> asio::awaitable<void> { more = co_await again->reader.wait(steady_clock::now() - 1ms); };
    asio::co_spawn(loop, body, [](std::exception_ptr why) { BOOST_TEST(!why); });
    turn(loop);
    BOOST_TEST(more);
}

BOOST_AUTO_TEST_CASE(pieces_can_be_read_again) {
    const auto log = std::make_shared<delta_log>();
    log->append({"one"});
    log->append({"two"});
    delta_reader reader(log);
    BOOST_TEST(joined(reader.take()) == "one|two|");
    BOOST_TEST(joined(reader.take()) == "");
    log->append({"three"});
    reader.rewind();
    BOOST_TEST(joined(reader.take()) == "one|two|three|");
}

BOOST_AUTO_TEST_CASE(the_teller_is_named) {
    const auto log = std::make_shared<delta_log>();
    delta_reader reader(log);
    BOOST_TEST(reader.backend() == "");
    log->set_backend("first");
    log->set_backend("second");
    BOOST_TEST(reader.backend() == "second");
}

BOOST_AUTO_TEST_CASE(threads_read_what_another_writes_whole_and_in_order) {
    constexpr int pieces = 2000;
    const auto log = std::make_shared<delta_log>();
    std::string all;
    for (int i = 0; i < pieces; ++i) all += std::to_string(i) + "|";
    std::vector<std::thread> threads;
    std::array<std::string, 3> seen;
    for (auto& each : seen) {
        threads.emplace_back([&each, log] {
            asio::io_context loop(1);
            const auto mine = read_all(loop, log, steady_clock::now() + 60s);
            loop.run();
            each = mine->seen;
        });
    }
    for (int i = 0; i < pieces; ++i) {
        log->append({std::to_string(i)});
        if (i % 100 == 0) std::this_thread::yield();
    }
    log->close();
    for (auto& thread : threads) thread.join();
    for (const auto& each : seen) BOOST_TEST((each == all));
}
