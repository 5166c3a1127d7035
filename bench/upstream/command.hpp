// The command `hearonce-bench upstream`.
//
// Holds: add_upstream(). Next file: double_server.hpp.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace hearonce::upstream {

// Sets `chosen` to what runs when the command is named; it returns the exit code.
void add_upstream(CLI::App& to, std::function<int()>& chosen);

}  // namespace hearonce::upstream
