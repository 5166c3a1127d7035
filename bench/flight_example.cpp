// The flight in another program: ten callers ask for the same page, it is fetched once; a later caller finds it kept.
#include <hearonce/single_flight.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::seconds;

using pages = hearonce::single_flight<std::string, std::string>;

int fetches = 0;
int answers = 0;

asio::awaitable<std::string> fetch(std::string address) {
    ++fetches;
    asio::steady_timer slow_upstream(co_await asio::this_coro::executor, milliseconds(20));
    co_await slow_upstream.async_wait(asio::use_awaitable);
    co_return "the page at " + address;
}

asio::awaitable<void> caller(pages& table, std::string address) {
    auto executor = co_await asio::this_coro::executor;
    auto work = [address] { return fetch(address); };
    auto ticket = table.enter(address, executor, work);
    if (!ticket) co_return;  // ticket.refusal() says why.
    auto end = co_await ticket.wait(std::chrono::steady_clock::now() + seconds(10));
    if (end.status == hearonce::wait_status::done && end.stored && end.outcome->size() > address.size()) ++answers;
}

int main() {
    asio::io_context loop(1);
    pages::settings how;
    how.ttl = seconds(60);
    how.keep = [](const std::string& page) { return std::optional(page.size()); };
    pages table(how);

    auto failed = [](const std::exception_ptr& failure) {
        if (failure) std::rethrow_exception(failure);
    };
    for (int i = 0; i != 10; ++i) asio::co_spawn(loop, caller(table, "example.org"), failed);
    loop.run();
    loop.restart();
    asio::co_spawn(loop, caller(table, "example.org"), failed);
    loop.run();

    std::cout << answers << " answers, " << fetches << " fetch\n";
    return answers == 11 && fetches == 1 ? 0 : 1;
}
