// Whose address counts when proxies stand between.
#include "heads.hpp"

#include <http/client_address.hpp>

#include <boost/test/unit_test.hpp>

using namespace hearonce::http;
namespace ip = boost::asio::ip;

namespace {

// "10.0.0.0/8", or one address.
network network_of(const std::string& text) {
    const auto slash = text.find('/');
    const auto address = ip::make_address(text.substr(0, slash));
    const unsigned all = address.is_v4() ? 32 : 128;
    return {address, slash == std::string::npos ? all : static_cast<unsigned>(std::stoul(text.substr(slash + 1)))};
}

std::vector<network> networks(std::initializer_list<const char*> texts) {
    std::vector<network> all;
    for (const char* text : texts) all.push_back(network_of(text));
    return all;
}

request_head from(const char* peer, std::initializer_list<header> headers = {}) {
    request_head head = head_with(headers);
    head.peer = ip::make_address(peer);
    head.loopback = head.peer.is_loopback();
    return head;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(networks_)

BOOST_AUTO_TEST_CASE(membership) {
    struct row {
        const char* range;
        const char* address;
        bool inside;
    };
    const row rows[] = {{"10.0.0.0/8", "10.255.255.255", true},
                        {"10.0.0.0/8", "11.0.0.0", false},
                        {"10.1.2.3/8", "10.9.9.9", true},
                        {"192.168.1.128/25", "192.168.1.127", false},
                        {"192.168.1.128/25", "192.168.1.128", true},
                        {"192.168.1.7", "192.168.1.7", true},
                        {"192.168.1.7", "192.168.1.6", false},
                        {"0.0.0.0/0", "203.0.113.9", true},
                        {"0.0.0.0/0", "2001:db8::1", false},
                        {"fd00::/8", "fdff::1", true},
                        {"fd00::/8", "fe00::1", false},
                        {"2001:db8::/33", "2001:db8:8000::", false},
                        {"2001:db8::/33", "2001:db8:7fff::", true},
                        {"::1", "::1", true},
                        {"::/0", "2001:db8::1", true},
                        {"::/0", "10.0.0.1", false},
                        {"10.0.0.0/8", "::ffff:10.1.1.1", true},
                        {"::ffff:10.0.0.0/104", "10.200.0.1", true},
                        {"::ffff:10.0.0.0/104", "11.0.0.1", false}};
    for (const row& one : rows) {
        BOOST_TEST_CONTEXT(one.range << " " << one.address)
        BOOST_TEST(network_of(one.range).contains(ip::make_address(one.address)) == one.inside);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(client_address)

BOOST_AUTO_TEST_CASE(rightmost_untrusted) {
    const auto proxies = networks({"10.0.0.0/8", "::1", "127.0.0.1"});
    struct row {
        const char* peer;
        const char* forwarded;
        const char* client;
    };
    const row rows[] = {{"203.0.113.5", "198.51.100.1", "203.0.113.5"},  // Not a proxy: its word counts for nothing.
                        {"10.0.0.1", "198.51.100.1", "198.51.100.1"},
                        {"10.0.0.1", "6.6.6.6, 198.51.100.1", "198.51.100.1"},  // What the client itself wrote is left of that.
                        {"10.0.0.1", "198.51.100.1, 10.0.0.2", "198.51.100.1"},
                        {"10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"},  // All trusted: the leftmost.
                        {"10.0.0.1", "198.51.100.1:4711", "198.51.100.1"},
                        {"10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"},
                        {"10.0.0.1", "\"[2001:db8::7]\"", "2001:db8::7"},
                        {"10.0.0.1", "2001:db8::7", "2001:db8::7"},
                        {"10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"},
                        {"10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"},
                        {"10.0.0.1", "198.51.100.1, garbage, 10.0.0.2", "10.0.0.2"},
                        {"10.0.0.1", "198.51.100.1,, ", "198.51.100.1"},
                        {"10.0.0.1", "", "10.0.0.1"},
                        {"10.0.0.1", "[2001:db8::7", "10.0.0.1"},
                        {"::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"},
                        {"::1", "127.0.0.1", "127.0.0.1"}};
    for (const row& one : rows) {
        BOOST_TEST_CONTEXT(one.peer << " / " << one.forwarded) {
            BOOST_TEST(client_address_of(from(one.peer, {{"X-Forwarded-For", one.forwarded}}), proxies).to_string() == one.client);
        }
    }
}

BOOST_AUTO_TEST_CASE(several_headers_are_one_list) {
    const auto head = from("10.0.0.1", {{"x-forwarded-for", "6.6.6.6"}, {"X-FORWARDED-FOR", "198.51.100.1, 10.0.0.2"}});
    BOOST_TEST(client_address_of(head, networks({"10.0.0.0/8"})).to_string() == "198.51.100.1");
}

BOOST_AUTO_TEST_CASE(no_proxies_no_belief) {
    BOOST_TEST(client_address_of(from("127.0.0.1", {{"X-Forwarded-For", "198.51.100.1"}}), {}).to_string() == "127.0.0.1");
}

BOOST_AUTO_TEST_CASE(loopback_means_the_caller_itself) {
    const auto proxies = networks({"10.0.0.0/8", "127.0.0.2"});
    BOOST_TEST(asks_from_loopback(from("127.0.0.1"), proxies));
    BOOST_TEST(asks_from_loopback(from("::1"), proxies));
    BOOST_TEST(!asks_from_loopback(from("192.168.1.4"), proxies));
    for (const char* name : {"X-Forwarded-For", "Forwarded", "X-Real-Ip", "x-forwarded-host"}) {
        BOOST_TEST_CONTEXT(name) BOOST_TEST(!asks_from_loopback(from("127.0.0.1", {{name, "127.0.0.1"}}), proxies));
    }
    BOOST_TEST(asks_from_loopback(from("127.0.0.2", {{"X-Forwarded-For", "127.0.0.1"}}), proxies));
    BOOST_TEST(asks_from_loopback(from("127.0.0.2", {{"X-Forwarded-For", "127.0.0.1"}, {"X-Real-Ip", "127.0.0.1"}}), proxies));
    BOOST_TEST(!asks_from_loopback(from("127.0.0.2", {{"X-Forwarded-For", "198.51.100.1"}}), proxies));
    BOOST_TEST(!asks_from_loopback(from("127.0.0.2", {{"Forwarded", "for=127.0.0.1"}}), proxies));
    BOOST_TEST(!asks_from_loopback(from("10.0.0.1"), proxies));
    for (const char* unreadable : {"unknown", "_hidden", "", "1.2.3.4, unknown", "unknown, 127.0.0.1", "127.0.0.1,"}) {
        BOOST_TEST_CONTEXT(unreadable) BOOST_TEST(!asks_from_loopback(from("127.0.0.2", {{"X-Forwarded-For", unreadable}}), proxies));
    }
}

BOOST_AUTO_TEST_CASE(principals) {
    const auto principal = [](const char* text) { return address_principal(ip::make_address(text)); };
    BOOST_TEST(principal("192.0.2.7") == "addr:192.0.2.7");
    BOOST_TEST(principal("::ffff:192.0.2.7") == "addr:192.0.2.7");
    BOOST_TEST(principal("2001:db8:0:1:2:3:4:5") == "addr:2001:db8:0:1::/64");
    BOOST_TEST(principal("2001:db8:0:1::9") == principal("2001:db8:0:1:ffff::"));
    BOOST_TEST(principal("2001:db8:0:2::9") != principal("2001:db8:0:1::9"));
    BOOST_TEST(principal("::1") == "addr:::/64");
    const auto client = ip::make_address("192.0.2.7");
    BOOST_TEST(open_principal("", client) == "addr:192.0.2.7");
    BOOST_TEST(open_principal("phone", client) == "device:phone");
    // A device that calls itself by an address is not that address.
    BOOST_TEST(open_principal("addr:192.0.2.7", client) != open_principal("", client));
}

BOOST_AUTO_TEST_SUITE_END()
