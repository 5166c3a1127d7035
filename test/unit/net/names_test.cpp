// Looking names up: kept for a while, asked once for all who wait, bounded, and left behind when time is up.
#define BOOST_TEST_MODULE names
#include <boost/test/unit_test.hpp>

#include <net/names.hpp>
#include <net/one_call.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <list>

using namespace hearonce::net;
using hearonce::deadline;
namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

looked_up at(const std::string& address) {
    looked_up found;
    found.addresses.push_back(asio::ip::make_address(address));
    return found;
}

looked_up failing(boost::system::error_code why) {
    looked_up found;
    found.failure = why;
    return found;
}

// A loop whose resolver answers when the test says so.
struct resolver_double {
    struct question {
        std::string host;
        names::finished answer;
    };
    // Before the loop, whose destruction ends who still waits.
    std::list<question> asked;
    asio::io_context loop{1};
    names* book = nullptr;

    explicit resolver_double(name_limits limits = {}) {
        book =
            &asio::make_service<names>(loop, limits, [this](const asio::any_io_executor&, const std::string& host, names::finished done) {
                asked.push_back({host, std::move(done)});
            });
    }

    struct waiting {
        std::optional<looked_up> found;
        asio::cancellation_signal cancel;
    };
    std::shared_ptr<waiting> ask(const std::string& host, deadline limit = deadline::never()) {
        auto one = std::make_shared<waiting>();
        auto ended = [one](std::exception_ptr thrown, looked_up found) {
            if (thrown) std::rethrow_exception(thrown);
            one->found = std::move(found);
        };
        asio::co_spawn(loop, book->addresses_of(host, limit), asio::bind_cancellation_slot(one->cancel.slot(), ended));
        turn();
        return one;
    }
    void answer(looked_up with) {
        auto next = std::move(asked.front());
        asked.pop_front();
        next.answer(std::move(with));
        turn();
    }
    bool turn() {
        loop.restart();
        loop.poll();
        return loop.stopped();
    }
};

std::string address_of(const std::shared_ptr<resolver_double::waiting>& one) {
    BOOST_TEST_REQUIRE(one->found.has_value());
    BOOST_TEST_REQUIRE(!one->found->failure, one->found->failure.message());
    return one->found->addresses.front().to_string();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cache)

BOOST_AUTO_TEST_CASE(keeps_answers_for_their_time) {
    const auto now = name_cache::time_point() + std::chrono::hours(1);
    name_cache known({seconds(30), seconds(1), 10, 1});
    known.put("a", at("1.2.3.4"), now);
    known.put("b", failing(asio::error::host_not_found), now);
    BOOST_TEST(known.find("c", now) == nullptr);
    BOOST_TEST(known.find("a", now)->addresses.front().to_string() == "1.2.3.4");
    BOOST_TEST(known.find("a", now + seconds(30) - milliseconds(1)) != nullptr);
    BOOST_TEST((known.find("b", now + milliseconds(999))->failure == asio::error::host_not_found));
    BOOST_TEST(known.find("b", now + milliseconds(1000)) == nullptr);
    BOOST_TEST(known.find("a", now + seconds(30)) == nullptr);
    BOOST_TEST(known.size() == 0);
}

BOOST_AUTO_TEST_CASE(replaces_and_forgets) {
    const name_cache::time_point now;
    name_cache known({});
    known.put("a", failing(asio::error::try_again), now);
    known.put("a", at("1.2.3.4"), now);
    BOOST_TEST(known.size() == 1);
    BOOST_TEST(!known.find("a", now + seconds(2))->failure);
    known.forget("a");
    known.forget("b");
    BOOST_TEST(known.find("a", now) == nullptr);
}

BOOST_AUTO_TEST_CASE(is_bounded_and_drops_who_would_end_first) {
    const name_cache::time_point now;
    for (const int count : {2, 3, 4}) {
        name_cache known({seconds(30), seconds(1), 3, 1});
        for (int i = 0; i < count; ++i) known.put(std::to_string(i), at("1.2.3.4"), now + milliseconds(i));
        BOOST_TEST(known.size() == static_cast<std::size_t>(std::min(count, 3)));
        BOOST_TEST((known.find("0", now) == nullptr) == (count > 3));
        BOOST_TEST(known.find(std::to_string(count - 1), now) != nullptr);
    }
    name_cache none({seconds(30), seconds(1), 0, 1});
    none.put("a", at("1.2.3.4"), now);
    BOOST_TEST(none.find("a", now) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(look_ups)

BOOST_AUTO_TEST_CASE(are_made_once_for_all_who_wait_and_kept) {
    resolver_double one;
    const auto first = one.ask("a");
    const auto second = one.ask("a");
    const auto other = one.ask("b");
    BOOST_TEST(one.asked.size() == 2);
    BOOST_TEST(!first->found.has_value());
    one.answer(at("1.1.1.1"));
    BOOST_TEST(address_of(first) == "1.1.1.1");
    BOOST_TEST(address_of(second) == "1.1.1.1");
    BOOST_TEST(!other->found.has_value());
    one.answer(at("2.2.2.2"));
    BOOST_TEST(address_of(other) == "2.2.2.2");
    BOOST_TEST(address_of(one.ask("a")) == "1.1.1.1");
    BOOST_TEST(one.asked.empty());
    BOOST_TEST(one.book->running() == 0);
    one.book->forget("a");
    one.ask("a");
    BOOST_TEST(one.asked.size() == 1);
}

BOOST_AUTO_TEST_CASE(that_fail_fail_for_all_who_wait) {
    resolver_double one;
    const auto first = one.ask("a"), second = one.ask("a");
    one.answer(failing(asio::error::host_not_found));
    BOOST_TEST((first->found->failure == asio::error::host_not_found));
    BOOST_TEST((second->found->failure == asio::error::host_not_found));
    // For a moment it is not asked again.
    BOOST_TEST((one.ask("a")->found->failure == asio::error::host_not_found));
    BOOST_TEST(one.asked.empty());
}

BOOST_AUTO_TEST_CASE(are_left_at_the_deadline_without_the_others) {
    resolver_double one;
    const auto stays = one.ask("a");
    const auto leaves = one.ask("a", deadline::after(milliseconds(5)));
    one.loop.restart();
    while (!leaves->found) one.loop.run_one();
    BOOST_TEST((leaves->found->failure == asio::error::timed_out));
    BOOST_TEST(!stays->found.has_value());
    BOOST_TEST(one.asked.size() == 1);
    // Who left leaves no place behind: a resolver that hangs must not gather them.
    BOOST_TEST(one.book->waiting("a") == 1);
    BOOST_TEST(one.book->waiting("b") == 0);
    // What nobody waits for any more is still worth keeping.
    one.answer(at("1.1.1.1"));
    BOOST_TEST(address_of(stays) == "1.1.1.1");
    const auto alone = one.ask("b", deadline::after(milliseconds(0)));
    one.loop.restart();
    while (!alone->found) one.loop.run_one();
    BOOST_TEST((alone->found->failure == asio::error::timed_out));
    one.answer(at("2.2.2.2"));
    BOOST_TEST(address_of(one.ask("b")) == "2.2.2.2");
    BOOST_TEST(one.turn());
}

BOOST_AUTO_TEST_CASE(are_left_by_who_is_cancelled) {
    resolver_double one;
    const auto stays = one.ask("a"), leaves = one.ask("a");
    leaves->cancel.emit(asio::cancellation_type::terminal);
    one.turn();
    BOOST_TEST((leaves->found->failure == asio::error::operation_aborted));
    BOOST_TEST(!stays->found.has_value());
    one.answer(at("1.1.1.1"));
    BOOST_TEST(address_of(stays) == "1.1.1.1");
}

BOOST_AUTO_TEST_CASE(are_few_at_one_time) {
    resolver_double one({seconds(30), seconds(1), 10, 2});
    const auto a = one.ask("a"), b = one.ask("b"), c = one.ask("c");
    BOOST_TEST(!a->found.has_value());
    BOOST_TEST(!b->found.has_value());
    BOOST_TEST_REQUIRE(c->found.has_value());
    BOOST_TEST((c->found->failure == asio::error::try_again));
    BOOST_TEST(one.asked.size() == 2);
    // Who joins needs no room; who comes when there is room again has it, as being refused is not kept.
    const auto joins = one.ask("a");
    BOOST_TEST(!joins->found.has_value());
    one.answer(at("1.1.1.1"));
    BOOST_TEST(address_of(joins) == "1.1.1.1");
    BOOST_TEST(!one.ask("c")->found.has_value());
    BOOST_TEST(one.asked.size() == 2);
}

BOOST_AUTO_TEST_CASE(are_made_again_after_none_of_the_addresses_answered) {
    resolver_double one;
    asio::ip::tcp::acceptor taken(one.loop, {asio::ip::address_v4::loopback(), 0});
    call_request request;
    request.url = *parse_url("http://a:" + std::to_string(taken.local_endpoint().port()));
    taken.close();
    for (int round = 0; round < 2; ++round) {
        std::optional<call_stage> failed_at;
        auto ended = [&](std::exception_ptr thrown, std::optional<call_result> result) {
            if (thrown) std::rethrow_exception(thrown);
            failed_at = result->error().stage;
        };
        asio::co_spawn(one.loop, hearonce::deadline_detail::optional_of(call(request, {})), ended);
        one.turn();
        BOOST_TEST_REQUIRE(one.asked.size() == 1);
        one.answer(at("127.0.0.1"));
        one.loop.run_for(seconds(30));
        BOOST_TEST((failed_at == call_stage::connecting));
    }
}

BOOST_AUTO_TEST_CASE(end_with_their_loop) {
    std::shared_ptr<resolver_double::waiting> left;
    {
        resolver_double one;
        left = one.ask("a");
    }
    BOOST_TEST(!left->found.has_value());
    BOOST_TEST(left.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(of_the_system)

BOOST_AUTO_TEST_CASE(names_and_addresses_become_endpoints) {
    for (const auto& [host, found] : {std::pair("127.0.0.1", "127.0.0.1:8"), std::pair("::1", "[::1]:8"), std::pair("localhost", ":8")}) {
        asio::io_context loop(1);
        std::string all;
        auto ended = [&](std::exception_ptr thrown, boost::system::result<endpoints> result) {
            if (thrown) std::rethrow_exception(thrown);
            BOOST_TEST_REQUIRE(result.has_value());
            for (const auto& one : *result)
                all += (one.address().is_v6() ? "[" + one.address().to_string() + "]" : one.address().to_string()) + ":" +
                       std::to_string(one.port());
        };
        asio::co_spawn(loop, resolve(host, 8, deadline::after(seconds(10))), ended);
        loop.run();
        BOOST_TEST(all.find(found) != std::string::npos, all);
        BOOST_TEST(asio::has_service<names>(loop) == (std::string_view(host) == "localhost"));
    }
}

BOOST_AUTO_TEST_SUITE_END()
