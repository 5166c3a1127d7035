// Walks X-Forwarded-For from the nearest hop outwards, as far as the proxies are trusted.
#include <hearonce/ascii.hpp>
#include <http/client_address.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace hearonce::http {
namespace {

namespace ip = boost::asio::ip;

constexpr std::string_view forwarded_for_name = "x-forwarded-for";

// IPv4 seen through a dual-stack socket is IPv4.
ip::address plain(const ip::address& address) {
    if (address.is_v6() && address.to_v6().is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, address.to_v6());
    return address;
}

// ::ffff:10.0.0.0/104 is 10.0.0.0/8.
network as_ipv4_if_mapped(network found) {
    const ip::address address = plain(found.address);
    if (address.is_v4() && found.address.is_v6() && found.prefix_bits >= 96) return {address, found.prefix_bits - 96};
    return found;
}

template <class Bytes>
bool same_prefix(const Bytes& a, const Bytes& b, unsigned bits) noexcept {
    const std::size_t whole = std::min<std::size_t>(bits / 8, a.size());
    if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin())) return false;
    const unsigned rest = bits % 8;
    if (rest == 0 || whole == a.size()) return true;
    const unsigned mask = 0xFFU << (8 - rest);
    return ((a[whole] ^ b[whole]) & mask & 0xFFU) == 0;
}

// One entry of X-Forwarded-For: an address, as some proxies write it with a port, in brackets or quoted.
std::optional<ip::address> forwarded_address(std::string_view entry) {
    if (entry.size() >= 2 && entry.front() == '"' && entry.back() == '"') entry = entry.substr(1, entry.size() - 2);
    if (entry.starts_with('[')) {
        const auto close = entry.find(']');
        if (close == std::string_view::npos) return std::nullopt;
        entry = entry.substr(1, close - 1);
    } else if (std::count(entry.begin(), entry.end(), ':') == 1) {
        entry = entry.substr(0, entry.find(':'));
    }
    boost::system::error_code wrong;
    const auto address = ip::make_address(std::string(entry), wrong);
    if (wrong) return std::nullopt;
    return plain(address);
}

bool trusted(const ip::address& address, std::span<const network> proxies) {
    return std::any_of(proxies.begin(), proxies.end(), [&](const network& one) { return one.contains(address); });
}

// All entries of all X-Forwarded-For headers, nearest hop last.
std::vector<std::string_view> forwarded_for(const request_head& head) {
    std::vector<std::string_view> entries;
    for (const header& one : head.headers) {
        if (!ascii::equal_in_any_case(one.name, forwarded_for_name)) continue;
        std::string_view rest = one.value;
        while (true) {
            const auto comma = rest.find(',');
            entries.push_back(ascii::without_blanks(rest.substr(0, comma)));
            if (comma == std::string_view::npos) break;
            rest.remove_prefix(comma + 1);
        }
    }
    return entries;
}

}  // namespace

bool network::contains(const ip::address& candidate) const noexcept {
    const network mine = as_ipv4_if_mapped(*this);
    const ip::address other = plain(candidate);
    if (mine.address.is_v4() != other.is_v4()) return false;
    if (other.is_v4()) return same_prefix(mine.address.to_v4().to_bytes(), other.to_v4().to_bytes(), mine.prefix_bits);
    return same_prefix(mine.address.to_v6().to_bytes(), other.to_v6().to_bytes(), mine.prefix_bits);
}

ip::address client_address_of(const request_head& head, std::span<const network> trusted_proxies) {
    ip::address client = plain(head.peer);
    if (!trusted(client, trusted_proxies)) return client;
    const auto entries = forwarded_for(head);
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        if (entry->empty()) continue;
        const auto next = forwarded_address(*entry);
        if (!next) break;
        client = *next;
        if (!trusted(client, trusted_proxies)) break;
    }
    return client;
}

bool asks_from_loopback(const request_head& head, std::span<const network> trusted_proxies) {
    const ip::address peer = plain(head.peer);
    const bool listed = head.count(forwarded_for_name) != 0;
    const bool otherwise_forwarded = head.count("Forwarded") != 0 || head.count("X-Real-Ip") != 0 || head.count("X-Forwarded-Host") != 0;
    if (!trusted(peer, trusted_proxies)) return peer.is_loopback() && !listed && !otherwise_forwarded;
    // A trusted proxy speaks for somebody; who that is stands in X-Forwarded-For or is not known.
    if (!listed && otherwise_forwarded) return false;
    // Some proxies write "unknown" or a label in an address's place: then nobody is known, least of all this machine itself.
    const auto entries = forwarded_for(head);
    if (!std::ranges::all_of(entries, [](std::string_view one) { return forwarded_address(one).has_value(); })) return false;
    return client_address_of(head, trusted_proxies).is_loopback();
}

std::string address_principal(const ip::address& client) {
    const ip::address address = plain(client);
    if (address.is_v4()) return "addr:" + address.to_string();
    auto bytes = address.to_v6().to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
    return "addr:" + ip::address_v6(bytes).to_string() + "/64";
}

std::string open_principal(std::string_view device_id, const ip::address& client) {
    return device_id.empty() ? address_principal(client) : "device:" + std::string(device_id);
}

}  // namespace hearonce::http
