// The few functions of the settings tree. Next file: load_settings.cpp.
#include <app/settings.hpp>

#include <algorithm>

namespace hearonce::app {
namespace {

// True if the first `bits` of both agree.
template <class Bytes>
bool same_prefix(const Bytes& a, const Bytes& b, unsigned bits) noexcept {
    for (std::size_t i = 0; i < a.size() && bits > 0; ++i) {
        const unsigned here = std::min(bits, 8U);
        const auto mask = static_cast<unsigned char>(0xff00U >> here);
        if (((a[i] ^ b[i]) & mask) != 0) return false;
        bits -= here;
    }
    return true;
}

boost::asio::ip::address unmapped(const boost::asio::ip::address& address) noexcept {
    if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
    const auto bytes = address.to_v6().to_bytes();
    return boost::asio::ip::address_v4({bytes[12], bytes[13], bytes[14], bytes[15]});
}

}  // namespace

bool network::contains(const boost::asio::ip::address& candidate) const noexcept {
    const auto other = unmapped(candidate);
    if (address.is_v4() != other.is_v4()) return false;
    if (address.is_v4()) return same_prefix(address.to_v4().to_bytes(), other.to_v4().to_bytes(), prefix_bits);
    return same_prefix(address.to_v6().to_bytes(), other.to_v6().to_bytes(), prefix_bits);
}

const backend_settings* settings::backend(std::string_view name) const noexcept {
    const auto found = std::ranges::find(backends, name, &backend_settings::name);
    return found == backends.end() ? nullptr : &*found;
}

}  // namespace hearonce::app
