// Whose address a request came from when proxies stand between, and who the caller is when nothing authenticates.
//
// Holds: network, client_address_of(), asks_from_loopback(), address_principal(), open_principal(). Pure.
// Next file: router.hpp.
#pragma once

#include <http/exchange.hpp>

#include <boost/asio/ip/address.hpp>

#include <span>
#include <string>
#include <string_view>

namespace hearonce::http {

// An address range, "10.0.0.0/8", "fd00::/8" or one address. IPv4 seen through IPv6 (::ffff:1.2.3.4) is IPv4 everywhere here.
struct network {
    boost::asio::ip::address address;
    unsigned prefix_bits = 0;  // 0..32 or 0..128

    bool contains(const boost::asio::ip::address& candidate) const noexcept;
    friend bool operator==(const network&, const network&) = default;
};

// The rightmost address of peer and X-Forwarded-For that is not a trusted proxy. An entry that is no address ends the walk:
// what stands left of it was written by nobody we trust. All trusted: the leftmost.
boost::asio::ip::address client_address_of(const request_head& head, std::span<const network> trusted_proxies);

// The caller itself is on this machine and nothing forwarded the request for someone else: no forwarding header from an
// untrusted peer, and the address found through trusted ones is loopback.
bool asks_from_loopback(const request_head& head, std::span<const network> trusted_proxies);

// "addr:192.0.2.7" or "addr:2001:db8:0:1::/64": one IPv6 host commonly has a whole /64 to itself.
std::string address_principal(const boost::asio::ip::address& client);

// Open mode: "device:ID" when a device id was sent, else the address.
std::string open_principal(std::string_view device_id, const boost::asio::ip::address& client);

}  // namespace hearonce::http
