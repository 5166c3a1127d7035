// Connections between calls: which are kept, for whom and how long, and what happens when the peer has given one up.
#define BOOST_TEST_MODULE kept_connection
#include <boost/test/unit_test.hpp>

#include <net/idle_connections.hpp>
#include <test/support/certificate.hpp>
#include <test/support/scratch.hpp>
#include <test/unit/net/calling.hpp>

#include <future>
#include <list>
#include <thread>

using end = scripted_reply::end;

namespace {

scripted_reply keeping(std::string bytes = http_text(200, "text/plain", "x")) {
    scripted_reply made = answering(std::move(bytes));
    made.then = end::keep;
    return made;
}

// Does something with the connection without an answer, after the request was read as far as it says.
scripted_reply silent(end how) {
    scripted_reply made;
    made.then = how;
    return made;
}

idle_connections& pool_of(caller& one) {
    return asio::use_service<idle_connections>(one.loop);
}

// A body that counts how often it was begun.
class counted_body final : public body_source {
public:
    explicit counted_body(std::string text) : inner_(std::move(text)) {}
    std::uint64_t size_bytes() const noexcept override { return inner_.size_bytes(); }
    body_batch next() override { return inner_.next(); }
    void rewind() override {
        ++rewinds;
        inner_.rewind();
    }
    int rewinds = 0;

private:
    text_body inner_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(reuse)

BOOST_AUTO_TEST_CASE(one_connection_serves_many_calls) {
    scripted_server server({keeping(), keeping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
                            keeping("HTTP/1.1 204 No Content\r\n\r\n"), keeping("HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\nno"),
                            keeping("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), keeping()});
    caller one;
    BOOST_TEST(good(one.run(kept(post(server.url("/1"), text("a"))))).body == "x");
    BOOST_TEST(good(one.run(kept(get(server.url("/2"))))).body == "abc");
    BOOST_TEST(good(one.run(kept(post(server.url("/3"), text(std::string(large, 'x')))))).status == 204);
    BOOST_TEST(good(one.run(kept(get(server.url("/4"))))).status == 500);
    BOOST_TEST(good(one.run(kept(get(server.url("/5"))))).body.empty());
    auto head = kept(get(server.url("/6")));
    head.method = "HEAD";
    BOOST_TEST(good(one.run(std::move(head))).status == 200);
    BOOST_TEST(server.connections() == 1);
    BOOST_TEST(server.request(1).starts_with("GET /2 HTTP/1.1\r\n"), server.request(1));
    BOOST_TEST(server.request(1).find("Connection:") == std::string::npos);
    // The HEAD's body came all the same: a connection on which something lies is of no more use.
    BOOST_TEST(one.until([&] { return pool_of(one).size() == 0; }));
    BOOST_TEST(one.idle());
}

BOOST_AUTO_TEST_CASE(what_has_no_end_of_its_own_or_says_close_is_not_kept) {
    const std::pair<const char*, std::string> table[] = {
        {"says close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"},
        {"says close among others", "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\nx"},
        {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx"},
        {"HTTP/1.0 that would", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx"},
        {"ends with the connection", "HTTP/1.1 200 OK\r\n\r\nx"},
        {"says more than it announced", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n"},
    };
    for (const auto& [name, bytes] : table) {
        BOOST_TEST_CONTEXT(name) {
            // The peer would keep it, where the end of the answer does not have to be its own.
            scripted_reply reply = answering(bytes);
            if (bytes.find("Content-Length") != std::string::npos) reply.then = end::hold;
            scripted_server server({reply});
            caller one;
            BOOST_TEST(good(one.run(kept(get(server.url())))).body == "x");
            BOOST_TEST(pool_of(one).size() == 0);
            BOOST_TEST(one.idle());
        }
    }
}

BOOST_AUTO_TEST_CASE(an_answer_before_the_body_was_sent_costs_the_connection) {
    scripted_reply early = answering(http_text(401, "text/plain", "no"));
    early.body_bytes = 0;
    early.then = end::hold;
    scripted_server server({early, answering(http_text(200, "text/plain", "x"))});
    caller one;
    BOOST_TEST(good(one.run(kept(post(server.url(), text(std::string(4 * large, 'x')))))).status == 401);
    BOOST_TEST(pool_of(one).size() == 0);
    BOOST_TEST(good(one.run(kept(get(server.url())))).status == 200);
    BOOST_TEST(server.connections() == 2);
}

BOOST_AUTO_TEST_CASE(who_does_not_ask_neither_takes_nor_keeps) {
    scripted_server server({keeping(), silent(end::close), answering(http_text(200, "text/plain", "y"))});
    caller one;
    good(one.run(kept(get(server.url()))));
    BOOST_TEST(pool_of(one).size() == 1);
    // The server is busy with the kept one until that is closed.
    const auto other = one.start(get(server.url()));
    close_idle_connections(one.loop);
    BOOST_TEST(pool_of(one).size() == 0);
    BOOST_TEST(good(one.finish(other)).body == "y");
    BOOST_TEST(pool_of(one).size() == 0);
    BOOST_TEST(one.idle());
}

BOOST_AUTO_TEST_CASE(who_fails_is_not_kept) {
    scripted_server server({keeping(), answering("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), keeping()});
    caller one;
    good(one.run(kept(get(server.url()))));
    const auto why = bad(one.run(kept(get(server.url()))));
    BOOST_TEST(name_of(why.stage) == "receiving");
    BOOST_TEST(!why.fresh);
    BOOST_TEST(pool_of(one).size() == 0);
}

BOOST_AUTO_TEST_CASE(an_origin_is_scheme_host_port_and_trust) {
    const scratch place;
    const auto shown = make_certificate("DNS:localhost");
    const auto file = place.write("ca.pem", shown.pem);
    const auto one = *make_tls_context(file), other = *make_tls_context(file);
    const auto of = [](const char* url, const tls_context& trust) { return origin(*parse_url(url), trust); };
    BOOST_TEST((of("https://a/x", one) == of("https://A:443/y", one)));
    BOOST_TEST((of("https://a", one) != of("https://a", other)));
    BOOST_TEST((of("https://a", one) != of("https://b", one)));
    BOOST_TEST((of("https://a", one) != of("https://a:444", one)));
    BOOST_TEST((of("https://a:80", one) != of("http://a", one)));
    BOOST_TEST((of("http://a", one) == of("http://a", nullptr)));
}

BOOST_AUTO_TEST_CASE(through_tls_as_well_and_not_for_another_trust) {
    const scratch place;
    const auto shown = make_certificate("DNS:localhost");
    const auto context = server_context(shown);
    const auto file = place.write("ca.pem", shown.pem);
    scripted_server server({keeping(), keeping(), keeping(), silent(end::close), answering(http_text(200, "text/plain", "other"))},
                           context.get());
    caller one;
    auto request = kept(get(server.url("/", "localhost")));
    request.tls = *make_tls_context(file);
    for (int i = 0; i < 3; ++i) BOOST_TEST(good(one.run(request)).body == "x");
    BOOST_TEST(server.connections() == 1);
    BOOST_TEST(pool_of(one).size() == 1);
    request.tls = *make_tls_context(file);
    const auto other = one.start(request);
    // The server turns to it only after its first connection ended.
    close_idle_connections(one.loop);
    BOOST_TEST(good(one.finish(other)).body == "other");
    BOOST_TEST(server.connections() == 2);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(idle)

BOOST_AUTO_TEST_CASE(the_peer_closing_or_speaking_is_noticed) {
    scripted_reply speaks = answering(http_text(200, "text/plain", "x"));
    speaks.pieces.push_back("HTTP/1.1 408 Timeout\r\n\r\n");
    speaks.pause = milliseconds(50);
    speaks.then = end::hold;
    scripted_reply resets = answering(http_text(200, "text/plain", "x"));
    resets.then = end::reset;
    for (const auto& reply : {answering(http_text(200, "text/plain", "x")), speaks, resets}) {
        scripted_server server({reply});
        caller one;
        // Longer than until() waits, so that it is not its age that ends it.
        call_limits limits;
        limits.idle = std::chrono::minutes(10);
        good(one.run(kept(get(server.url())), limits));
        BOOST_TEST(one.until([&] { return pool_of(one).size() == 0; }));
        BOOST_TEST(one.idle());
    }
}

BOOST_AUTO_TEST_CASE(a_close_that_no_wait_has_seen_is_noticed_at_the_next_call) {
    std::promise<void> kept_now;
    scripted_reply reply = answering(http_text(200, "text/plain", "x"));
    reply.after = [waiting = kept_now.get_future().share()] { waiting.wait_for(std::chrono::seconds(20)); };
    scripted_server server({reply});
    caller one;
    good(one.run(kept(get(server.url()))));
    BOOST_TEST(pool_of(one).size() == 1);
    kept_now.set_value();
    server.ended(0);
    // The loop does not run between, so that only the look before use can tell.
    BOOST_TEST(pool_of(one).take(origin(*parse_url(server.url()), nullptr)) == nullptr);
    BOOST_TEST(pool_of(one).size() == 0);
    BOOST_TEST(one.idle());
}

BOOST_AUTO_TEST_CASE(they_end_after_their_time) {
    scripted_server server({keeping()});
    caller one;
    call_limits limits;
    limits.idle = milliseconds(30);
    good(one.run(kept(get(server.url())), limits));
    BOOST_TEST(pool_of(one).size() == 1);
    const auto before = std::chrono::steady_clock::now();
    BOOST_TEST(one.until([&] { return pool_of(one).size() == 0; }));
    BOOST_TEST((std::chrono::steady_clock::now() - before < std::chrono::seconds(10)));
    BOOST_TEST((server.ended(0) != std::chrono::steady_clock::time_point::max()));
    BOOST_TEST(one.idle());
    // Nor is one given out after it, though the loop did not run to see its time pass.
    scripted_server late({keeping()});
    limits.idle = milliseconds(1);
    good(one.run(kept(get(late.url())), limits));
    const auto until = std::chrono::steady_clock::now() + milliseconds(2);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    BOOST_TEST(pool_of(one).take(origin(*parse_url(late.url()), nullptr)) == nullptr);
    // None at all is a time as well.
    scripted_server other({keeping()});
    limits.idle = milliseconds(0);
    good(one.run(kept(get(other.url())), limits));
    BOOST_TEST(pool_of(one).size() == 0);
}

BOOST_AUTO_TEST_CASE(their_time_begins_anew_with_each_use_and_is_each_ones_own) {
    caller one;
    auto& pool = pool_of(one);
    scripted_server short_lived({keeping()}), long_lived({keeping()});
    call_limits limits;
    limits.idle = std::chrono::minutes(10);
    good(one.run(kept(get(long_lived.url())), limits));
    limits.idle = milliseconds(30);
    good(one.run(kept(get(short_lived.url())), limits));
    BOOST_TEST(pool.size() == 2);
    BOOST_TEST(one.until([&] { return pool.size() == 1; }));
    BOOST_TEST(pool.take(origin(*parse_url(short_lived.url()), nullptr)) == nullptr);
    BOOST_TEST(pool.take(origin(*parse_url(long_lived.url()), nullptr)) != nullptr);
    BOOST_TEST(one.idle());
}

// Both ends of a connection within the test.
struct pair_of_sockets {
    std::shared_ptr<connection> ours;
    asio::ip::tcp::socket theirs;

    explicit pair_of_sockets(asio::io_context& loop) : ours(std::make_shared<connection>(loop.get_executor(), nullptr)), theirs(loop) {
        asio::ip::tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
        ours->socket().connect(acceptor.local_endpoint());
        acceptor.accept(theirs);
    }
    bool closed() {
        theirs.non_blocking(true);
        char byte = 0;
        boost::system::error_code ec;
        theirs.read_some(asio::buffer(&byte, 1), ec);
        return ec == asio::error::eof || ec == asio::error::connection_reset;
    }
};

BOOST_AUTO_TEST_CASE(they_are_few_and_the_oldest_goes_first) {
    const auto to = [](int host) { return origin(*parse_url("http://h" + std::to_string(host)), nullptr); };
    for (const std::size_t count : {2U, 3U, 4U}) {
        asio::io_context loop(1);
        auto& pool = asio::make_service<idle_connections>(loop, idle_limits{3, 5});
        std::list<pair_of_sockets> all;
        for (std::size_t i = 0; i < count; ++i) pool.give(to(1), all.emplace_back(loop).ours, std::chrono::minutes(1));
        BOOST_TEST(pool.size() == std::min<std::size_t>(count, 3));
        BOOST_TEST(all.front().closed() == (count > 3));
        BOOST_TEST(!all.back().closed());
        // The newest is taken first.
        BOOST_TEST((pool.take(to(1)) == all.back().ours));
    }
    for (const std::size_t count : {4U, 5U, 6U}) {
        asio::io_context loop(1);
        auto& pool = asio::make_service<idle_connections>(loop, idle_limits{3, 5});
        std::list<pair_of_sockets> all;
        for (std::size_t i = 0; i < count; ++i) pool.give(to(static_cast<int>(i)), all.emplace_back(loop).ours, std::chrono::minutes(1));
        BOOST_TEST(pool.size() == std::min<std::size_t>(count, 5));
        BOOST_TEST(all.front().closed() == (count > 5));
        BOOST_TEST(!all.back().closed());
    }
}

BOOST_AUTO_TEST_CASE(they_end_with_their_loop) {
    scripted_server server({keeping()});
    std::optional<caller> one(std::in_place);
    good(one->run(kept(get(server.url()))));
    BOOST_TEST(pool_of(*one).size() == 1);
    one.reset();
    BOOST_TEST((server.ended(0) != std::chrono::steady_clock::time_point::max()));
}

BOOST_AUTO_TEST_CASE(calls_beside_each_other_have_one_each) {
    scripted_server server({keeping(), keeping(), silent(end::close), answering(http_text(200, "text/plain", "y"))});
    caller one;
    good(one.run(kept(get(server.url()))));
    const auto first = one.start(kept(get(server.url())));
    const auto second = one.start(kept(get(server.url())));
    BOOST_TEST(good(one.finish(first)).body == "x");
    BOOST_TEST(server.connections() == 1);
    // The server turns to the second only after the first one's connection ended.
    close_idle_connections(one.loop);
    BOOST_TEST(good(one.finish(second)).body == "y");
    BOOST_TEST(server.connections() == 2);
    close_idle_connections(one.loop);
    BOOST_TEST(one.idle());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(given_up_by_the_peer)

BOOST_AUTO_TEST_CASE(the_call_is_made_once_more) {
    for (const auto how : {end::close, end::reset}) {
        for (const std::size_t size : {std::size_t(0), std::size_t(10), large}) {
            scripted_reply gone = silent(how);
            if (size == large) gone.body_bytes = 1000;
            scripted_server server({keeping(), gone, answering(http_text(200, "text/plain", "again"))});
            caller one;
            good(one.run(kept(get(server.url()))));
            const auto body = std::make_shared<counted_body>(std::string(size, 'x'));
            BOOST_TEST(good(one.run(kept(post(server.url("/p"), body)))).body == "again");
            BOOST_TEST(body->rewinds == 1);
            BOOST_TEST(body.use_count() == 1);
            BOOST_TEST(server.connections() == 2);
            const std::string sent = server.request(2);
            BOOST_TEST(sent.starts_with("POST /p HTTP/1.1\r\n"));
            BOOST_TEST((sent.substr(sent.find("\r\n\r\n") + 4) == std::string(size, 'x')));
        }
    }
}

BOOST_AUTO_TEST_CASE(but_never_twice) {
    scripted_server server({keeping(), silent(end::close), silent(end::close), keeping()});
    caller one;
    good(one.run(kept(get(server.url()))));
    const auto why = bad(one.run(kept(post(server.url(), text("x")))));
    BOOST_TEST(name_of(why.stage) == "waiting");
    BOOST_TEST(why.fresh);
    BOOST_TEST(server.requests() == 3);
}

BOOST_AUTO_TEST_CASE(never_over_a_fresh_one) {
    for (const auto how : {end::close, end::reset}) {
        scripted_server server({silent(how), keeping()});
        caller one;
        const auto body = std::make_shared<counted_body>("x");
        const auto why = bad(one.run(kept(post(server.url(), body))));
        BOOST_TEST(why.fresh);
        BOOST_TEST(body->rewinds == 0);
        BOOST_TEST(server.requests() == 1);
    }
}

BOOST_AUTO_TEST_CASE(never_after_a_byte_of_an_answer) {
    for (const char* bytes : {"H", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n"}) {
        scripted_server server({keeping(), answering(bytes), keeping()});
        caller one;
        good(one.run(kept(get(server.url()))));
        const auto why = bad(one.run(kept(post(server.url(), text("x")))));
        BOOST_TEST(!why.fresh);
        BOOST_TEST(server.requests() == 2);
    }
}

BOOST_AUTO_TEST_CASE(never_when_it_was_the_limit_or_the_caller_that_ended_it) {
    scripted_reply mute = silent(end::hold);
    {
        scripted_server server({keeping(), mute, keeping()});
        caller one;
        good(one.run(kept(get(server.url()))));
        call_limits limits;
        limits.silence = milliseconds(50);
        const auto why = bad(one.run(kept(post(server.url(), text("x"))), limits));
        BOOST_TEST(why.timed_out);
        BOOST_TEST(!why.fresh);
        BOOST_TEST(server.requests() == 2);
    }
    {
        scripted_server server({keeping(), mute, keeping()});
        caller one;
        good(one.run(kept(get(server.url()))));
        const auto pending = one.start(kept(post(server.url(), text("x"))));
        BOOST_TEST(one.until([&] {
            asio::post(one.loop, [] {});
            return server.requests() == 2;
        }));
        pending->cancel.emit(asio::cancellation_type::terminal);
        BOOST_TEST(bad(one.finish(pending)).cancelled);
        BOOST_TEST(server.requests() == 2);
        BOOST_TEST(one.idle());
    }
}

BOOST_AUTO_TEST_CASE(nobody_listening_any_more_is_a_failure_to_connect) {
    std::optional<scripted_server> server(std::in_place, std::vector{keeping(), silent(end::close)});
    const auto url = server->url();
    caller one;
    good(one.run(kept(get(url))));
    server->request(0);
    const auto pending = one.start(kept(post(url, text("x"))));
    one.until([&] {
        asio::post(one.loop, [] {});
        return server->requests() == 2;
    });
    server.reset();
    const auto result = one.finish(pending);
    BOOST_TEST(!result.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
