// Where one request goes, and with whose keys.
//
// Holds: credentials, route, callable_with(). Chosen by dispatcher.hpp. Next file: dispatcher.hpp.
#pragma once

#include <hearonce/backend.hpp>

#include <memory>
#include <string>
#include <vector>

namespace hearonce::work {

// What of the caller's own a backend is called with. No key: the operator's, or none where none is needed.
struct credentials {
    std::shared_ptr<const secret> key;
    std::string organization;
    std::string project;
};

// The backends to try in order, and the model's name for them. `names` are the backends' names as configured; they are part
// of the work key, so that a change of the configuration never serves another backend's result.
struct route {
    std::vector<std::shared_ptr<backend>> backends;
    std::string model;
    std::vector<std::string> names;
    std::vector<credentials> terms{};  // One a backend, or none at all: the operator's keys for all of them.
};

// Under `auth.mode = "own-key"`: the route with those backends only that can be called with `keys`, and the key for each. A
// provider's own header goes to that provider's backends; a bearer to the route's first backend and to no other, for it does
// not say whose it is. Backends that need no key take part if `keyless` (`auth.own_key_local`). errc::invalid_api_key when
// none is left. The keys live as long as the route.
result<route> callable_with(route chosen, const std::shared_ptr<const caller_keys>& keys, bool keyless);

}  // namespace hearonce::work
