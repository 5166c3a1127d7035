// Who waits, by itself: counting, the end, the grace. What only threads can reach through a ticket is reached here directly.
#define BOOST_TEST_MODULE waiting_room
#include <test/flight/fake_clock.hpp>

#include <hearonce/waiting_room.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <limits>

using room = hearonce::waiting_room<int, fake_clock>;
using hearonce::wait_status;
using std::chrono::milliseconds;

namespace {

room::result done(int value) {
    room::result end;
    end.status = wait_status::done;
    end.outcome = std::make_shared<const int>(value);
    return end;
}

constexpr auto forever = fake_clock::time_point::max();
constexpr auto no_limit = std::numeric_limits<std::size_t>::max();

}  // namespace

BOOST_AUTO_TEST_CASE(lets_in_up_to_the_limit_and_nobody_after_the_end) {
    room waiters(milliseconds(10));
    BOOST_TEST((waiters.enter(0) == room::answer::full));
    BOOST_TEST((waiters.enter(2) == room::answer::welcome));
    BOOST_TEST((waiters.enter(2) == room::answer::welcome));
    BOOST_TEST((waiters.enter(2) == room::answer::full));
    waiters.leave(nullptr);
    BOOST_TEST((waiters.enter(2) == room::answer::welcome));
    waiters.finish(done(1));
    BOOST_TEST((waiters.enter(no_limit) == room::answer::closed));
}

BOOST_AUTO_TEST_CASE(nobody_sits_down_to_sleep_after_the_end) {
    boost::asio::io_context loop(1);
    room waiters(milliseconds(10));
    waiters.enter(no_limit);
    BOOST_TEST(waiters.sit_down(loop.get_executor(), forever) != nullptr);
    BOOST_TEST(waiters.finish(done(1)).size() == 1u);
    BOOST_TEST(waiters.sit_down(loop.get_executor(), forever) == nullptr);
}

BOOST_AUTO_TEST_CASE(hands_over_those_who_sit_and_no_others) {
    boost::asio::io_context loop(1);
    room waiters(milliseconds(10));
    for (int i = 0; i != 3; ++i) waiters.enter(no_limit);
    auto stays = waiters.sit_down(loop.get_executor(), forever);
    auto stands = waiters.sit_down(loop.get_executor(), forever);
    auto leaves = waiters.sit_down(loop.get_executor(), forever);
    waiters.stand_up(stands);
    waiters.stand_up(stands);
    BOOST_TEST(waiters.leave(leaves).before_end);
    auto woken = waiters.finish(done(1));
    BOOST_REQUIRE(woken.size() == 1u);
    BOOST_TEST(woken.front() == stays);
    // After the end the seats are the callers' own.
    waiters.stand_up(stays);
    const auto departed = waiters.leave(stays);
    BOOST_TEST(!departed.before_end);
    BOOST_TEST(!departed.lonely);
}

BOOST_AUTO_TEST_CASE(the_first_end_counts) {
    room waiters(milliseconds(10));
    BOOST_TEST(!waiters.ended());
    waiters.finish(done(1));
    waiters.finish(done(2));
    BOOST_TEST(waiters.ended());
    BOOST_TEST(*waiters.end().outcome == 1);
}

BOOST_AUTO_TEST_CASE(closes_only_after_a_whole_grace_without_anyone) {
    fake_clock::reset();
    room waiters(milliseconds(10));
    BOOST_TEST(!waiters.close_if_lonely());  // Nobody has been here yet.
    BOOST_TEST(!waiters.lonely_until());
    waiters.enter(no_limit);
    waiters.enter(no_limit);
    BOOST_TEST(!waiters.leave(nullptr).lonely);
    fake_clock::advance(milliseconds(50));
    BOOST_TEST(!waiters.close_if_lonely());
    BOOST_TEST(waiters.leave(nullptr).lonely);
    BOOST_TEST((*waiters.lonely_until() == fake_clock::now() + milliseconds(10)));
    fake_clock::advance(milliseconds(9));
    BOOST_TEST(!waiters.close_if_lonely());
    fake_clock::advance(milliseconds(1));
    BOOST_TEST(waiters.close_if_lonely());
    BOOST_TEST(!waiters.close_if_lonely());  // Once.
    BOOST_TEST((waiters.enter(no_limit) == room::answer::closed));
    BOOST_TEST(!waiters.lonely_until());
}

BOOST_AUTO_TEST_CASE(does_not_close_after_the_end) {
    fake_clock::reset();
    room waiters(milliseconds(0));
    waiters.enter(no_limit);
    waiters.leave(nullptr);
    waiters.finish(done(1));
    BOOST_TEST(!waiters.close_if_lonely());
    BOOST_TEST(!waiters.lonely_until());
}

BOOST_AUTO_TEST_CASE(a_grace_may_be_ended_and_may_be_endless) {
    fake_clock::reset();
    room waiters(fake_clock::duration::max());
    waiters.enter(no_limit);
    waiters.leave(nullptr);
    fake_clock::advance(std::chrono::hours(100000));
    BOOST_TEST((*waiters.lonely_until() == forever));
    BOOST_TEST(!waiters.close_if_lonely());
    BOOST_TEST(waiters.has_grace());
    waiters.end_grace();
    BOOST_TEST(!waiters.has_grace());
    BOOST_TEST(waiters.close_if_lonely());
}
