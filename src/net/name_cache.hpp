// What names stood for a moment ago. Pure: the time is passed in.
//
// Holds: name_limits, looked_up, name_cache. Next file: names.hpp (who asks).
#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearonce::net {

struct name_limits {
    std::chrono::milliseconds keep_good = std::chrono::seconds(30);  // getaddrinfo(3) does not tell the record's own time.
    std::chrono::milliseconds keep_bad = std::chrono::seconds(1);    // Long enough to spare a failing resolver a burst.
    std::size_t names_max = 256;
    std::size_t running_max = 16;  // Names being looked up at one time.
};

struct looked_up {
    boost::system::error_code failure;  // None: there is at least one address.
    std::vector<boost::asio::ip::address> addresses;
};

class name_cache {
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit name_cache(name_limits limits) : limits_(limits) {}
    // nullptr: not known, or no longer; valid until the next call.
    const looked_up* find(const std::string& host, time_point now);
    // The one that would end first makes room where there are too many.
    void put(const std::string& host, looked_up found, time_point now);
    void forget(const std::string& host) { known_.erase(host); }
    std::size_t size() const noexcept { return known_.size(); }

private:
    struct entry {
        looked_up found;
        time_point until;
    };
    name_limits limits_;
    std::unordered_map<std::string, entry> known_;
};

}  // namespace hearonce::net
