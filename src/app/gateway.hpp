// The gateway as a whole: its parts in the order of their construction, how they start and how they end.
//
// Holds: backend_maker, gateway, run_gateway(). Called by cli/serve.cpp (and by tests, with scripted backends). Next files:
// event_loops.hpp, then src/server/server.hpp.
#pragma once

#include <app/settings.hpp>
#include <hearonce/backend.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hearonce::app {

// Makes the configured backends; `home` is a loop on which those that live on one loop may live. The loops outlive them.
using backend_maker = std::function<std::vector<std::shared_ptr<backend>>(boost::asio::any_io_executor home)>;

// Constructed, started, waited for and destroyed by one thread; drain() and end() may be called from any.
class gateway {
public:
    gateway(settings wanted, const backend_maker& make_backends);
    ~gateway();
    gateway(const gateway&) = delete;
    gateway& operator=(const gateway&) = delete;

    // Binds and serves. An error names the address and the reason; nothing is left running then.
    result<void> start();
    // Where it listens, with the ports that were chosen.
    std::vector<boost::asio::ip::tcp::endpoint> listening() const;

    // Stops taking requests, serves those that began, ends flights nobody waits on. wait() returns when that is done or
    // `server.drain` has passed.
    void drain();
    // Closes every connection now; wait() returns at once.
    void end();
    // Blocks until a drain or an end is done.
    void wait();

    // Reads tokens and TLS certificate again. An error leaves what was there in force.
    result<void> reload(const settings& fresh);

    // For tests and for nothing else: what is left. All zero when no request is under way.
    struct remains {
        std::size_t connections, flights, waiters;
        std::uint64_t audio_memory_bytes;
    };
    remains left() const;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

// `hearonce serve`: runs until SIGTERM or SIGINT (drain; a second one ends everything at once); SIGHUP reloads through
// `reread`. The exit code of the program.
int run_gateway(const settings& wanted, std::function<result<settings>()> reread);

}  // namespace hearonce::app
