// What a command tells the shell.
//
// Holds: exit_code, worst_of(). Next file: command_line.hpp.
#pragma once

#include <algorithm>
#include <initializer_list>

namespace hearonce::cli {

enum exit_code : int {
    done = 0,
    refused = 1,      // The answer was a final refusal.
    usage = 2,        // A usage or configuration error, files that cannot be read or written among them.
    broken = 3,       // Gave up on a link that stayed broken.
    cancelled = 130,  // The user cancelled: 128 + SIGINT, as shells count.
};

// For several files: the first present of 130, 2, 3, 1.
template <class Codes>
exit_code worst_of(const Codes& codes) {
    for (const exit_code worse : {cancelled, usage, broken, refused}) {
        if (std::ranges::find(codes, worse) != std::ranges::end(codes)) return worse;
    }
    return done;
}

}  // namespace hearonce::cli
