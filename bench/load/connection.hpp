// One kept connection of a client that waits for each answer before it asks again. Blocking, so that nothing of its own stands
// between the clock and the wire.
//
// Holds: connection. Next file: percentiles.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearonce::load {

class connection {
public:
    // To 127.0.0.1. Throws std::runtime_error when it cannot, and from ask() when the connection breaks or 30 s pass.
    explicit connection(std::uint16_t port);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    struct answer {
        int status = 0;
        std::string body;
    };
    answer ask(std::string_view request);

private:
    void send(std::string_view bytes) const;
    void receive();

    int socket_;
    std::string received_;
};

}  // namespace hearonce::load
