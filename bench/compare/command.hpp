// `hearonce-bench compare`: the same uploads straight to an upstream and through the gateway, in turn and in one run.
//
// Holds: add_compare(). Next file: gateway_process.hpp.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace hearonce::compare {

void add_compare(CLI::App& to, std::function<int()>& chosen);

}  // namespace hearonce::compare
