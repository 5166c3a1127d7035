// Answers taken piece by piece, the limits of every stage, and how soon the peer sees that a call is over.
#define BOOST_TEST_MODULE streaming
#include <boost/test/unit_test.hpp>

#include <net/connection.hpp>
#include <net/event_stream.hpp>
#include <test/unit/net/calling.hpp>

#include <boost/asio/steady_timer.hpp>

#include <cstdio>
#include <future>
#include <tuple>

using end = scripted_reply::end;

namespace {

// What a sink was given.
struct taken {
    std::string body;
    std::size_t pieces = 0;
    std::uint16_t status = 0;
    std::string type;
    std::size_t pieces_max = SIZE_MAX;

    piece_sink sink() {
        return [this](const http_answer& head, std::string_view piece) {
            BOOST_TEST(!piece.empty());
            status = head.status;
            type = head.find("content-type").value_or("");
            body += piece;
            return ++pieces < pieces_max;
        };
    }
};

std::string chunked(const std::vector<std::string>& pieces) {
    std::string text = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const auto& one : pieces) {
        char size[20];
        std::snprintf(size, sizeof size, "%zx\r\n", one.size());
        text += size + one + "\r\n";
    }
    return text + "0\r\n\r\n";
}

// A port whose queue is full, so that one more connection is neither taken nor refused.
struct deaf_port {
    asio::io_context context;
    asio::ip::tcp::acceptor acceptor{context};
    std::vector<asio::ip::tcp::socket> fill;

    deaf_port() {
        acceptor.open(asio::ip::tcp::v4());
        acceptor.bind({asio::ip::address_v4::loopback(), 0});
        acceptor.listen(0);
        const auto to = acceptor.local_endpoint();
        for (int i = 0; i < 4; ++i) {
            fill.emplace_back(context).open(asio::ip::tcp::v4());
            fill.back().non_blocking(true);
            // Asio's own would wait all the same.
            ::connect(fill.back().native_handle(), to.data(), static_cast<socklen_t>(to.size()));
        }
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sinks)

BOOST_AUTO_TEST_CASE(get_every_byte_of_every_framing_and_status) {
    for (const auto& [bytes, status] :
         {std::pair(http_text(200, "text/plain", "abcde"), 200), std::pair(http_text(429, "text/plain", "abcde"), 429),
          std::pair(chunked({"ab", "c", "de"}), 200), std::pair(std::string("HTTP/1.1 200 OK\r\n\r\nabcde"), 200),
          std::pair("HTTP/1.1 103 Early\r\n\r\n" + http_text(200, "text/plain", "abcde"), 200)}) {
        for (const bool drip : {false, true}) {
            scripted_reply reply;
            if (drip) {
                for (const char c : bytes) reply.pieces.emplace_back(1, c);
            } else {
                reply.pieces.push_back(bytes);
            }
            scripted_server server({reply});
            taken got;
            auto request = get(server.url());
            request.on_piece = got.sink();
            const auto answer = good(run(std::move(request)));
            BOOST_TEST(got.body == "abcde");
            BOOST_TEST(got.status == status);
            BOOST_TEST(answer.status == status);
            BOOST_TEST(answer.body.empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(are_not_called_without_a_body) {
    for (const char* bytes : {"HTTP/1.1 204 X\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}) {
        scripted_server server({answering(bytes)});
        taken got;
        auto request = get(server.url());
        request.on_piece = got.sink();
        good(run(std::move(request)));
        BOOST_TEST(got.pieces == 0);
    }
}

BOOST_AUTO_TEST_CASE(get_a_piece_when_it_comes_and_not_at_the_end) {
    std::promise<void> seen;
    scripted_reply reply = answering("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
    reply.then = end::keep;
    reply.after = [waiting = seen.get_future().share()] {
        BOOST_TEST((waiting.wait_for(std::chrono::seconds(20)) == std::future_status::ready));
    };
    scripted_reply rest = answering("def");
    rest.read_head = false;
    scripted_server server({reply, rest});
    auto request = get(server.url());
    std::string all;
    request.on_piece = [&](const http_answer&, std::string_view piece) {
        all += piece;
        if (all == "abc") seen.set_value();
        return true;
    };
    good(run(std::move(request)));
    BOOST_TEST(all == "abcdef");
}

BOOST_AUTO_TEST_CASE(end_the_call_when_they_want_no_more) {
    scripted_reply endless = answering(http_text(200, "text/plain", std::string(large, 'x')));
    endless.then = end::hold;
    scripted_server server({endless});
    taken got;
    got.pieces_max = 1;
    auto request = kept(get(server.url()));
    request.on_piece = got.sink();
    const auto why = bad(run(std::move(request)));
    BOOST_TEST(why.sink_stopped);
    BOOST_TEST(!why.cancelled);
    BOOST_TEST(!why.timed_out);
    BOOST_TEST(!why.body_failed);
    BOOST_TEST(name_of(why.stage) == "receiving");
    BOOST_TEST(got.pieces == 1);
    BOOST_TEST(why.message.find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(that_throw_end_the_call) {
    scripted_server server({answering(http_text(200, "text/plain", "x"))});
    caller one;
    auto request = kept(get(server.url()));
    request.on_piece = [](const http_answer&, std::string_view) -> bool { throw std::runtime_error("broken"); };
    const auto pending = one.start(std::move(request));
    BOOST_CHECK_THROW(one.finish(pending), std::runtime_error);
    BOOST_TEST(one.idle());
}

BOOST_AUTO_TEST_CASE(are_bounded) {
    call_limits limits;
    limits.answer_bytes_max = 1000;
    for (const std::size_t size : {999U, 1000U, 1001U}) {
        const std::string bytes(size, 'x');
        for (const std::string& answer :
             {http_text(200, "text/plain", bytes), chunked({bytes.substr(0, 500), bytes.substr(500)}), "HTTP/1.1 200 OK\r\n\r\n" + bytes}) {
            scripted_server server({answering(answer)});
            taken got;
            auto request = get(server.url());
            request.on_piece = got.sink();
            const auto result = run(std::move(request), limits);
            BOOST_TEST(result.has_value() == (size <= 1000));
            BOOST_TEST(got.body.size() <= 1000);
            if (result) BOOST_TEST(got.body.size() == size);
        }
    }
}

BOOST_AUTO_TEST_CASE(take_more_than_memory_would_hold) {
    // 256 MiB in pieces of 1 MiB; what is announced is 16 GiB, which must be no reason to refuse or to take memory.
    constexpr std::uint64_t announced = 16ULL << 30;
    scripted_reply reply = answering("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(announced) + "\r\n\r\n");
    for (int i = 0; i < 256; ++i) reply.pieces.emplace_back(1 << 20, static_cast<char>(i));
    scripted_server server({reply});
    std::uint64_t bytes = 0;
    std::size_t largest = 0;
    auto request = get(server.url());
    request.on_piece = [&](const http_answer&, std::string_view piece) {
        bytes += piece.size();
        largest = std::max(largest, piece.size());
        return true;
    };
    call_limits limits;
    limits.answer_bytes_max = announced;
    const auto why = bad(run(std::move(request), limits));
    BOOST_TEST(name_of(why.stage) == "receiving");
    BOOST_TEST(bytes == 256ULL << 20);
    BOOST_TEST(largest <= 64U * 1024);
    // One byte less may be given: the announcement alone is too much.
    scripted_server other({answering("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(announced) + "\r\n\r\n")});
    limits.answer_bytes_max = announced - 1;
    BOOST_TEST(bad(run(get(other.url()), limits)).message.find("too large") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(feed_an_event_stream) {
    scripted_reply reply;
    for (const char c : chunked({"data: a\n", "\ndata: ", "b\r\n\r\ndata: [DO", "NE]\n\n"})) reply.pieces.emplace_back(1, c);
    scripted_server server({reply});
    event_stream events;
    std::vector<std::string> data;
    auto request = get(server.url());
    request.on_piece = [&](const http_answer&, std::string_view piece) {
        return events.feed(piece, [&](const event_record& one) {
            data.emplace_back(one.data);
            return true;
        });
    };
    good(run(std::move(request)));
    BOOST_TEST((data == std::vector<std::string>{"a", "b", "[DONE]"}));
}

BOOST_AUTO_TEST_CASE(too_many_interim_answers_are_none) {
    for (const int count : {15, 16, 17}) {
        std::string bytes;
        for (int i = 0; i < count; ++i) bytes += "HTTP/1.1 102 Processing\r\n\r\n";
        scripted_server server({answering(bytes + http_text(200, "text/plain", "x"))});
        BOOST_TEST(run(get(server.url())).has_value() == (count <= 16));
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(deadlines)

// A drip that never lets the silence grow long is ended by the deadline of the whole call.
BOOST_AUTO_TEST_CASE(hold_against_a_slow_drip) {
    for (const std::string head : {"HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
                                   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
        scripted_reply drip = answering(head);
        for (int i = 0; i < 100; ++i) drip.pieces.push_back(head.ends_with("chunked\r\n\r\n") ? "1\r\na\r\n" : "a");
        drip.pause = milliseconds(20);
        drip.then = end::hold;
        scripted_server server({drip});
        call_limits limits;
        limits.silence = milliseconds(1000);
        limits.all = hearonce::deadline::after(milliseconds(150));
        const auto before = std::chrono::steady_clock::now();
        const auto why = bad(run(get(server.url()), limits));
        BOOST_TEST(why.timed_out);
        BOOST_TEST((std::chrono::steady_clock::now() - before < milliseconds(900)));
    }
}

BOOST_AUTO_TEST_CASE(hold_while_sending_and_waiting) {
    scripted_reply full = {};
    full.body_bytes = 0;
    full.then = end::hold;
    scripted_reply mute;
    mute.then = end::hold;
    for (const auto& [reply, size, stage] : {std::tuple(full, 4 * large, "sending"), std::tuple(mute, std::size_t(1), "waiting")}) {
        scripted_server server({reply});
        call_limits limits;
        limits.all = hearonce::deadline::after(milliseconds(100));
        const auto before = std::chrono::steady_clock::now();
        const auto why = bad(run(post(server.url(), text(std::string(size, 'x'))), limits));
        BOOST_TEST(why.timed_out);
        BOOST_TEST(name_of(why.stage) == stage);
        BOOST_TEST((std::chrono::steady_clock::now() - before < std::chrono::seconds(2)));
    }
}

// Slow but steady: no limit for a single step is passed, so the whole goes through.
BOOST_AUTO_TEST_CASE(progress_is_no_silence) {
    scripted_reply drip = answering("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
    for (int i = 0; i < 10; ++i) drip.pieces.emplace_back("a");
    drip.pause = milliseconds(40);
    scripted_server server({drip});
    call_limits limits;
    limits.silence = milliseconds(300);
    BOOST_TEST(good(run(get(server.url()), limits)).body == "aaaaaaaaaa");
}

BOOST_AUTO_TEST_CASE(hold_where_nothing_accepts) {
    const deaf_port deaf;
    const std::string url = "http://127.0.0.1:" + std::to_string(deaf.acceptor.local_endpoint().port());
    for (const bool by_connect : {true, false}) {
        call_limits limits;
        if (by_connect) {
            limits.connect = milliseconds(50);
        } else {
            limits.all = hearonce::deadline::after(milliseconds(50));
        }
        const auto why = bad(run(get(url), limits));
        BOOST_TEST(why.timed_out);
        BOOST_TEST(name_of(why.stage) == "connecting");
        BOOST_TEST(why.message.starts_with("cannot connect to 127.0.0.1:"), why.message);
    }
    caller one;
    const auto pending = one.start(get(url));
    one.loop.poll();
    pending->cancel.emit(asio::cancellation_type::terminal);
    const auto why = bad(one.finish(pending));
    BOOST_TEST(why.cancelled);
    BOOST_TEST(name_of(why.stage) == "connecting");
    BOOST_TEST(one.idle());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(addresses)

// What connecting to some addresses within a time comes to.
boost::system::error_code connecting(const endpoints& candidates, milliseconds within) {
    asio::io_context loop(1);
    connection link(loop.get_executor(), nullptr);
    std::optional<boost::system::error_code> outcome;
    asio::co_spawn(loop, connect(link.socket(), candidates, hearonce::deadline::after(within)),
                   [&](std::exception_ptr thrown, boost::system::error_code ec) {
                       if (thrown) std::rethrow_exception(thrown);
                       outcome = ec;
                   });
    loop.run_for(std::chrono::seconds(30));
    BOOST_TEST_REQUIRE(outcome.has_value());
    return *outcome;
}

BOOST_AUTO_TEST_CASE(are_tried_in_turn_and_none_takes_all_of_the_time) {
    const deaf_port deaf;
    asio::io_context context;
    asio::ip::tcp::acceptor open(context, {asio::ip::address_v4::loopback(), 0});
    asio::ip::tcp::endpoint closed;
    {
        asio::ip::tcp::acceptor taken(context, {asio::ip::address_v4::loopback(), 0});
        closed = taken.local_endpoint();
    }
    const auto silent = deaf.acceptor.local_endpoint();
    const auto good_one = open.local_endpoint();
    const asio::ip::tcp::endpoint other_family(asio::ip::address_v6::loopback(), closed.port());
    BOOST_TEST(!connecting({good_one}, std::chrono::seconds(5)));
    BOOST_TEST(!connecting({closed, other_family, good_one, silent}, std::chrono::seconds(5)));
    BOOST_TEST(!connecting({silent, good_one}, milliseconds(400)));
    BOOST_TEST(!connecting({silent, closed, silent, good_one}, milliseconds(400)));
    BOOST_TEST((connecting({good_one, silent}, milliseconds(0)) == asio::error::timed_out));
    BOOST_TEST((connecting({silent, silent}, milliseconds(50)) == asio::error::timed_out));
    BOOST_TEST((connecting({silent, closed}, milliseconds(50)) == asio::error::connection_refused));
    BOOST_TEST((connecting({}, milliseconds(50)) == asio::error::host_not_found));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cancelling)

// Wherever the call is, the peer sees at once that it is over; the part of a request that was not sent never comes.
BOOST_AUTO_TEST_CASE(reaches_the_peer_within_a_tenth_of_a_second) {
    scripted_reply mute;
    mute.then = end::hold;
    scripted_reply full;
    full.body_bytes = 0;
    full.then = end::hold;
    scripted_reply within_head = answering("HTTP/1.1 200 OK\r\nX: ");
    within_head.then = end::hold;
    scripted_reply within_body = answering("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    within_body.then = end::hold;
    scripted_reply no_handshake = mute;
    for (const auto& [reply, size, stage] :
         {std::tuple(mute, std::size_t(1), "waiting"), std::tuple(full, 4 * large, "sending"), std::tuple(full, large / 1024, "waiting"),
          std::tuple(within_head, std::size_t(1), "receiving"), std::tuple(within_body, std::size_t(1), "receiving")}) {
        std::promise<void> written;
        scripted_reply scripted = reply;
        scripted.after = [&written] { written.set_value(); };
        scripted_server server({scripted});
        caller one;
        const auto pending = one.start(post(server.url(), text(std::string(size, 'x'))));
        auto at_end = written.get_future();
        one.until([&] {
            asio::post(one.loop, [] {});
            return at_end.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        });
        // What was written has to come through before it counts.
        one.loop.run_for(milliseconds(20));
        const auto before = std::chrono::steady_clock::now();
        pending->cancel.emit(asio::cancellation_type::terminal);
        const auto why = bad(one.finish(pending));
        BOOST_TEST(why.cancelled);
        BOOST_TEST(name_of(why.stage) == stage);
        BOOST_TEST((server.ended(0) - before < milliseconds(100)));
        BOOST_TEST(one.idle());
    }
}

BOOST_AUTO_TEST_CASE(destroying_the_loop_ends_calls_that_run) {
    scripted_reply full;
    full.body_bytes = 0;
    full.then = end::hold;
    scripted_server server({full});
    const auto body = text(std::string(4 * large, 'x'));
    std::optional<caller> one(std::in_place);
    auto pending = one->start(kept(post(server.url(), body)));
    one->until([&] {
        asio::post(one->loop, [] {});
        return server.requests() == 1;
    });
    one.reset();
    BOOST_TEST(!pending->result.has_value());
    BOOST_TEST(body.use_count() == 1);
    BOOST_TEST((server.ended(0) != std::chrono::steady_clock::time_point::max()));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(heads)

BOOST_AUTO_TEST_CASE(that_would_be_read_as_something_else_are_not_sent) {
    const auto refused = [](const std::function<void(call_request&)>& spoil) {
        auto request = get("http://127.0.0.1:1/");
        spoil(request);
        const auto why = bad(run(std::move(request)));
        BOOST_TEST(why.unsendable, why.message);
        BOOST_TEST(name_of(why.stage) == "connecting");
        BOOST_TEST(why.message.find("secret") == std::string::npos, why.message);
        BOOST_TEST(why.message.find_first_of("\r\n") == std::string::npos, why.message);
    };
    for (const char* value : {"secret\r\nX-Evil: 1", "secret\n", "\rsecret", "secret\x7f", "secret\x01"})
        refused([&](call_request& one) { one.headers.push_back({"Authorization", value}); });
    refused([&](call_request& one) { one.headers.push_back({"X", std::string("secret\0", 7)}); });
    for (const char* name : {"", "X Y", "X:", "X\r\nY", "X\xC3\xA4", "Host", "content-length", "Transfer-Encoding", "CONNECTION"})
        refused([&](call_request& one) { one.headers.push_back({name, "v"}); });
    for (const char* method : {"", "GET /x", "GE\r\nT"}) refused([&](call_request& one) { one.method = method; });
    for (const char* target : {"", "x", "/a b", "/a\r\nX: y", "/\t"}) refused([&](call_request& one) { one.url.target = target; });
    for (const char* host : {"a\r\nb", "a b"}) refused([&](call_request& one) { one.url.host = host; });
}

BOOST_AUTO_TEST_CASE(say_what_they_must) {
    const auto sent = [](const std::string& method, std::shared_ptr<body_source> body, std::vector<http_header> headers = {}) {
        scripted_server server({answering(http_text(200, "text/plain", ""))});
        auto request = get(server.url());
        request.method = method;
        request.body = std::move(body);
        request.headers = std::move(headers);
        good(run(std::move(request)));
        return server.request(0);
    };
    BOOST_TEST(sent("GET", nullptr).find("Content-Length") == std::string::npos);
    BOOST_TEST(sent("POST", nullptr).find("\r\nContent-Length: 0\r\n") != std::string::npos);
    BOOST_TEST(sent("POST", text("")).find("\r\nContent-Length: 0\r\n") != std::string::npos);
    BOOST_TEST(sent("GET", text("abc")).find("\r\nContent-Length: 3\r\n") != std::string::npos);
    BOOST_TEST(sent("GET", nullptr).find("\r\nUser-Agent: hearonce/") != std::string::npos);
    const auto own = sent("GET", nullptr, {{"user-agent", "me"}, {"X", ""}, {"Y", "t\xC3\xA4\tb"}});
    BOOST_TEST(own.find("hearonce") == std::string::npos);
    BOOST_TEST(own.find("\r\nuser-agent: me\r\nX: \r\nY: t\xC3\xA4\tb\r\n") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
