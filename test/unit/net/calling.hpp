// Calls run to their end on a loop of the test's own, and what every test of them asks.
//
// Holds: get(), post(), text(), caller, run(), good(), bad(), name_of().
#pragma once

#include <net/one_call.hpp>
#include <test/support/scripted_server.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

using namespace hearonce::net;
using namespace hearonce::test;
namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr std::size_t large = 8 * 1024 * 1024;  // More than both sockets' buffers hold.

inline call_request get(const std::string& url) {
    call_request made;
    made.url = *parse_url(url);
    return made;
}

inline call_request post(const std::string& url, std::shared_ptr<body_source> body) {
    call_request made = get(url);
    made.method = "POST";
    made.body = std::move(body);
    return made;
}

inline std::shared_ptr<body_source> text(std::string bytes) {
    return std::make_shared<text_body>(std::move(bytes));
}

inline call_request kept(call_request request) {
    request.keep_alive = true;
    return request;
}

// One event loop and the calls made on it, one after the other or beside each other.
class caller {
public:
    asio::io_context loop{1};

    struct pending {
        std::optional<call_result> result;
        asio::cancellation_signal cancel;
    };
    std::shared_ptr<pending> start(call_request request, call_limits limits = {}) {
        const auto one = std::make_shared<pending>();
        auto ended = [one](std::exception_ptr thrown, std::optional<call_result> value) {
            if (thrown) std::rethrow_exception(thrown);
            one->result = std::move(value);
        };
        asio::co_spawn(loop, hearonce::deadline_detail::optional_of(call(std::move(request), limits)),
                       asio::bind_cancellation_slot(one->cancel.slot(), ended));
        return one;
    }
    call_result finish(const std::shared_ptr<pending>& one) {
        until([&] { return one->result.has_value(); });
        BOOST_TEST_REQUIRE(one->result.has_value(), "the call did not end");
        return std::move(*one->result);
    }
    call_result run(call_request request, call_limits limits = {}) { return finish(start(std::move(request), limits)); }
    // Runs the loop until something is so; false after 30 s.
    bool until(const std::function<bool()>& so) {
        loop.restart();
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!so()) {
            loop.restart();
            if (loop.run_one_until(limit) == 0 && std::chrono::steady_clock::now() >= limit) return false;
            if (loop.stopped() && !so()) return false;
        }
        return true;
    }
    // True if nothing is left to be done.
    bool idle() {
        loop.restart();
        loop.poll();
        return loop.stopped();
    }
};

// Runs one call to its end; the loop must then be empty, and nothing may hold the body any more.
inline call_result run(call_request request, call_limits limits = {}, asio::cancellation_signal* cancel = nullptr,
                       const std::function<void(asio::io_context&)>& meanwhile = {}) {
    asio::io_context loop(1);
    const std::weak_ptr<body_source> body = request.body;
    std::optional<call_result> result;
    asio::cancellation_signal unused;
    auto ended = [&](std::exception_ptr thrown, std::optional<call_result> value) {
        if (thrown) std::rethrow_exception(thrown);
        result = std::move(value);
    };
    asio::co_spawn(loop, hearonce::deadline_detail::optional_of(call(std::move(request), limits)),
                   asio::bind_cancellation_slot((cancel ? *cancel : unused).slot(), ended));
    if (meanwhile) meanwhile(loop);
    loop.run_for(std::chrono::seconds(30));
    BOOST_TEST_REQUIRE(result.has_value(), "the call did not end");
    BOOST_TEST(loop.stopped(), "the call left work behind");
    BOOST_TEST(body.expired(), "the call left its body behind");
    return std::move(*result);
}

inline http_answer good(const call_result& result) {
    BOOST_TEST_REQUIRE(result.has_value(), result.error().message);
    return *result;
}

inline call_failure bad(const call_result& result) {
    BOOST_TEST_REQUIRE(!result.has_value());
    return result.error();
}

inline std::string name_of(call_stage stage) {
    switch (stage) {
        case call_stage::connecting: return "connecting";
        case call_stage::sending: return "sending";
        case call_stage::waiting: return "waiting";
        case call_stage::receiving: return "receiving";
    }
    return "?";
}
