// Next file: names.cpp.
#include <net/name_cache.hpp>

#include <algorithm>
#include <utility>

namespace hearonce::net {

const looked_up* name_cache::find(const std::string& host, time_point now) {
    const auto at = known_.find(host);
    if (at == known_.end()) return nullptr;
    if (now < at->second.until) return &at->second.found;
    known_.erase(at);
    return nullptr;
}

void name_cache::put(const std::string& host, looked_up found, time_point now) {
    known_.erase(host);
    if (limits_.names_max == 0) return;
    if (known_.size() >= limits_.names_max) {
        known_.erase(std::ranges::min_element(known_, {}, [](const auto& one) { return one.second.until; }));
    }
    const auto until = now + (found.failure ? limits_.keep_bad : limits_.keep_good);
    known_.emplace(host, entry{std::move(found), until});
}

}  // namespace hearonce::net
