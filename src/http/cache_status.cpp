// The Cache-Status header, put together from how the caller came to the transcript.
#include <http/cache_status.hpp>

#include <algorithm>
#include <cassert>

namespace hearonce::http {

std::string cache_status(observe::came how, bool asked_anew, std::optional<std::chrono::seconds> ttl_left) {
    assert(how != observe::came::not_yet);
    assert(!(asked_anew && how != observe::came::led) && "who asks for new work neither joins nor finds any");
    std::string value = "hearonce";
    switch (how) {
        case observe::came::hit: value += "; hit"; break;
        case observe::came::joined: return value += "; fwd=miss; collapsed";
        case observe::came::led:
        case observe::came::not_yet: value += asked_anew ? "; fwd=request" : "; fwd=miss"; break;
    }
    if (!ttl_left) return value;
    if (how == observe::came::led) value += "; stored";
    value += "; ttl=";
    value += std::to_string(std::max<std::int64_t>(0, ttl_left->count()));
    return value;
}

}  // namespace hearonce::http
