// One connection: requests in, answers and faults out.
//
// Holds: house, session. Next file: session.cpp.
#pragma once

#include <bench/upstream/body_reader.hpp>
#include <bench/upstream/call.hpp>
#include <bench/upstream/ledger.hpp>
#include <bench/upstream/peer.hpp>
#include <bench/upstream/scenario.hpp>
#include <bench/upstream/sending.hpp>
#include <bench/upstream/settings.hpp>

#include <server/framing.hpp>
#include <server/request_parser.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace hearonce::upstream {

// What the sessions of all loops share; outlives them.
struct house {
    explicit house(settings wanted) : how(std::move(wanted)), seen(how.last_max), plot(how) {}
    const settings how;
    ledger seen;
    scenario plot;
};

// Lives on one event loop, kept alive by its coroutine.
class session : public std::enable_shared_from_this<session> {
public:
    session(house& home, std::shared_ptr<peer> wire);
    ~session();

    boost::asio::awaitable<void> run();
    peer& wire() noexcept { return *wire_; }

private:
    using clock = std::chrono::steady_clock;
    enum class then : std::uint8_t { next, end };  // What becomes of the connection.

    boost::asio::awaitable<bool> read_head();
    boost::asio::awaitable<then> serve();

    // A call in flight: until its answer's last piece is on its way, so that who has the answer finds it ended; else until its
    // session is over with it.
    class flying {
    public:
        flying(ledger& seen, const call& it) : seen_(seen), it_(it) {}
        ~flying() { land(); }
        flying(const flying&) = delete;
        flying& operator=(const flying&) = delete;
        void land() {
            if (!std::exchange(landed_, true)) seen_.ended(it_.body_bytes());
        }

    private:
        ledger& seen_;
        const call& it_;
        bool landed_ = false;
    };

    // Calls: what a real one would be paid for.
    boost::asio::awaitable<then> serve_call();
    boost::asio::awaitable<then> hear(call& it, flying& counted);
    boost::asio::awaitable<then> answer_call(const call& it, flying& counted);
    then reset_connection();
    then peer_left(std::string_view during);

    // From there to the end of the answer, which `wrong` changes. `counted` is null for what is no call.
    boost::asio::awaitable<then> answer_with(answer right, const fault& wrong, clock::time_point begins, flying* counted);
    boost::asio::awaitable<then> refuse_early(const fault& wrong, flying* counted);

    // Everything else.
    boost::asio::awaitable<then> serve_control();
    boost::asio::awaitable<then> serve_other();
    answer control(const std::string& body);
    // The body as text, up to a limit; false: it did not come whole.
    boost::asio::awaitable<bool> read_text(body_reader& body, std::string& to);

    boost::asio::awaitable<bool> send(const sending& what, flying* counted = nullptr);
    boost::asio::awaitable<bool> send_dripping(std::string_view bytes, std::chrono::milliseconds before_first,
                                               std::chrono::milliseconds pause);
    boost::asio::awaitable<then> end_as(const sending& what);
    boost::asio::awaitable<then> send_plainly(const answer& what);
    bool keeps() const noexcept;
    std::string request_id() const;

    house& home_;
    std::shared_ptr<peer> wire_;
    const std::uint64_t number_;
    server::head_scan scan_;
    server::request_parser parser_;
    http::request_head head_;
    route to_;
    std::uint64_t id_ = 0;  // Of the request in hand.
};

}  // namespace hearonce::upstream
