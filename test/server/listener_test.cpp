// Accepting: limits, descriptors that run out, addresses, ports in use.
#define BOOST_TEST_MODULE server_listener
#include <server/running_server.hpp>
#include <support/raw_client.hpp>

#include <server/descriptors.hpp>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <vector>

using namespace hearonce;
using namespace hearonce::test;
using end_kind = raw_client::end_kind;
using namespace std::chrono_literals;
using boost::asio::ip::make_address;
using boost::asio::ip::tcp;

namespace {

const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

server::settings with_connections(std::size_t count) {
    auto how = on_loopback();
    how.connections_max = count;
    return how;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_port_in_use_is_an_error_that_names_it) {
    running_server server(echo);
    boost::asio::io_context context(1);
    std::vector<boost::asio::io_context*> loops{&context};
    auto how = on_loopback();
    how.listen.front().port(server.port());
    auto says = [&](const server::setup_error& failed) {
        std::string text = failed.what();
        return text.find("server.listen") != std::string::npos && text.find(std::to_string(server.port())) != std::string::npos &&
               text.find("in use") != std::string::npos;
    };
    BOOST_CHECK_EXCEPTION(server::server(how, loops, echo), server::setup_error, says);
    context.run_for(10s);
    BOOST_TEST(context.stopped());
    raw_client client(server.port());
    client.send(get);
    BOOST_TEST(client.answer().status == 200);
}

// A loop that the test turns by hand, so that it can count what happens in a turn.
struct server_by_hand {
    explicit server_by_hand(server::settings how) : one(std::move(how), loops, echo) { one.start(); }
    ~server_by_hand() {
        one.drain(0ms, {});
        context.run_for(10s);
        BOOST_TEST(context.stopped());
    }
    std::uint16_t port(std::size_t door = 0) const { return one.local_endpoints().at(door).port(); }
    // Turns the loop until nothing is ready; how many handlers that took.
    std::size_t settle() {
        std::size_t all = 0;
        for (std::size_t some = 1; some != 0; all += some) some = context.poll();
        return all;
    }

    boost::asio::io_context context{1};
    std::vector<boost::asio::io_context*> loops{&context};
    server::server one;
};

BOOST_AUTO_TEST_CASE(each_address_is_awaited_once) {
    auto how = with_connections(1);
    how.listen.push_back(how.listen.front());
    server_by_hand server(how);
    server.settle();
    // What somebody at the second address costs in handlers.
    auto cost = [&] {
        raw_client client(server.port(1));
        auto handlers = server.settle();
        client.close();
        return handlers + server.settle();
    };
    const auto first = cost();
    for (int round = 0; round < 20; ++round) {
        raw_client one(server.port());
        server.settle();
        raw_client waiting(server.port());
        server.settle();
        one.close();  // Room again.
        server.settle();
        waiting.close();
        server.settle();
    }
    BOOST_TEST(server.one.connections() == 0U);
    BOOST_TEST(cost() <= first + 2);
}

BOOST_AUTO_TEST_CASE(a_full_queue_is_emptied_in_several_turns) {
    server_by_hand server(on_loopback());
    server.settle();
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < 150; ++i) clients.push_back(std::make_unique<raw_client>(server.port()));
    std::uint64_t most = 0;
    for (std::uint64_t before = 0; server.context.poll_one() != 0; before = server.one.accepted_total())
        most = std::max(most, server.one.accepted_total() - before);
    server.settle();
    BOOST_TEST(server.one.accepted_total() == 150U);
    BOOST_TEST(most == 64U);
}

BOOST_AUTO_TEST_CASE(an_address_of_somebody_else_is_an_error) {
    boost::asio::io_context context(1);
    std::vector<boost::asio::io_context*> loops{&context};
    auto how = on_loopback();
    how.listen = {{make_address("192.0.2.1"), 0}};
    BOOST_CHECK_THROW(server::server(how, loops, echo), server::setup_error);
}

BOOST_AUTO_TEST_CASE(several_addresses) {
    auto how = on_loopback();
    how.listen.push_back({make_address("127.0.0.2"), 0});
    running_server server(echo, how);
    auto all = server.get().local_endpoints();
    BOOST_TEST(all.size() == 2U);
    BOOST_TEST(all[0].port() != 0);
    BOOST_TEST(all[1].address().to_string() == "127.0.0.2");
    boost::asio::io_context context(1);
    for (const auto& address : all) {
        tcp::socket socket(context);
        socket.connect(address);
        boost::asio::write(socket, boost::asio::buffer(get));
        char first = 0;
        socket.read_some(boost::asio::buffer(&first, 1));
        BOOST_TEST(first == 'H');
    }
}

BOOST_AUTO_TEST_CASE(the_head_tells_who_calls) {
    auto how = on_loopback();
    std::optional<http::request_head> seen;
    running_server server(
        [&](http::exchange& request) {
            seen = request.head();
            return echo(request);
        },
        how);
    boost::asio::io_context context(1);
    tcp::socket socket(context);
    socket.connect({make_address("127.0.0.1"), server.port()});
    boost::asio::write(socket, boost::asio::buffer(get));
    char first = 0;
    socket.read_some(boost::asio::buffer(&first, 1));
    BOOST_TEST(seen->peer.to_string() == "127.0.0.1");
    BOOST_TEST(seen->peer_port == socket.local_endpoint().port());
    BOOST_TEST(seen->loopback);
    BOOST_TEST(!seen->tls);
}

BOOST_AUTO_TEST_CASE(connections_over_the_limit_wait_and_lose_nothing) {
    running_server server(echo, with_connections(3), 2);
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(std::make_unique<raw_client>(server.port()));
        clients.back()->send(get);
        auto got = clients.back()->answer();
        BOOST_TEST(got.status == 200);
        BOOST_TEST(!got.has("connection"));  // At the limit, but nobody waits.
    }
    raw_client waiting(server.port());
    waiting.send(get);
    BOOST_TEST(!waiting.anything(100ms));
    BOOST_TEST(server.get().connections() == 3U);
    // Somebody waits, so the next answer gives its connection up.
    clients[0]->send(get);
    auto got = clients[0]->answer();
    BOOST_TEST(got.status == 200);
    BOOST_TEST(got.header("connection") == "close");
    BOOST_TEST(waiting.answer().status == 200);
    // Room again: connections are kept.
    clients[1]->close();
    BOOST_TEST(server.has_connections(2));
    clients[2]->send(get);
    BOOST_TEST(!clients[2]->answer().has("connection"));
    BOOST_TEST(server.get().accepted_total() == 4U);
}

BOOST_AUTO_TEST_CASE(a_limit_of_one_serves_everybody_in_turn) {
    running_server server(echo, with_connections(1), 2);
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < 20; ++i) {
        clients.push_back(std::make_unique<raw_client>(server.port()));
        clients.back()->send(get);
    }
    for (auto& client : clients) {
        BOOST_TEST(client->answer().status == 200);
        client->close();
    }
    BOOST_TEST(server.has_connections(0));
}

BOOST_AUTO_TEST_CASE(drain_at_the_limit_still_answers_the_queue) {
    running_server server(echo, with_connections(1));
    raw_client first(server.port());
    first.send(get);
    BOOST_TEST(first.answer().status == 200);
    raw_client second(server.port());
    second.send(get);
    BOOST_TEST(!second.anything(50ms));
    auto drained = server.drain(60s);
    BOOST_TEST(second.answer().status == 503);
    second.close();
    BOOST_TEST((drained.wait_for(10s) == std::future_status::ready));
}

BOOST_AUTO_TEST_CASE(descriptors_that_run_out_are_waited_for_without_spinning) {
    running_server server(echo);
    raw_client waiting(server.port());
    raw_client early(server.port());
    early.send(get);
    BOOST_TEST(early.answer().status == 200);
    // A socket to connect with later, then everything up to the limit.
    int spare = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::vector<int> taken;
    for (;;) {
        int one = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (one < 0) break;
        taken.push_back(one);
        if (taken.size() > 200000) break;
    }
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(server.port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    BOOST_TEST(::connect(spare, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    BOOST_TEST(::send(spare, get.data(), get.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(get.size()));
    auto cpu = std::clock();
    pollfd answered{spare, POLLIN, 0};
    BOOST_TEST(::poll(&answered, 1, 300) == 0);
    BOOST_TEST((std::clock() - cpu) * 1000 / CLOCKS_PER_SEC < 150);
    // Who is in already is served meanwhile.
    early.send(get);
    BOOST_TEST(early.answer().status == 200);
    for (int one : taken) ::close(one);
    BOOST_TEST(::poll(&answered, 1, 10'000) == 1);
    char first = 0;
    BOOST_TEST(::recv(spare, &first, 1, 0) == 1);
    BOOST_TEST(first == 'H');
    ::close(spare);
}

BOOST_AUTO_TEST_CASE(the_limit_of_open_files_lowers_the_connections) {
    rlimit before{};
    BOOST_TEST(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit low{300, 300};
    auto child = ::fork();
    if (child == 0) {
        // Alone in its process, because a hard limit cannot be raised again.
        if (::setrlimit(RLIMIT_NOFILE, &low) != 0) ::_exit(2);
        boost::asio::io_context context(1);
        std::vector<boost::asio::io_context*> loops{&context};
        server::server one(with_connections(16384), loops, echo);
        ::_exit(one.connections_max() == server::connections_within(300, 16384) ? 0 : 1);
    }
    int status = -1;
    BOOST_TEST(::waitpid(child, &status, 0) == child);
    BOOST_TEST(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == 0);
}
