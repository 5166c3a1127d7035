// An answer and a fault become the bytes that are sent, and how the connection goes on. Pure.
//
// Holds: sending, with_fault(), sending_of(). Next file: session.cpp, which carries it out.
#pragma once

#include <bench/upstream/answer.hpp>
#include <bench/upstream/fault.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hearonce::upstream {

struct sending {
    enum class end : std::uint8_t {
        keep,   // The connection serves the next request.
        close,  // FIN.
        reset,  // RST.
        hang,   // Nothing more is sent, and nothing ends until the peer goes.
    };

    std::vector<std::string> pieces;    // The head first; framed, to be sent as they are.
    std::chrono::milliseconds pace{0};  // Between the pieces behind the head.
    std::chrono::milliseconds drip{0};  // Between all bytes.
    end then = end::keep;
    std::optional<std::chrono::milliseconds> idle_close;  // Of keep: FIN after so long without another byte.
};

// What is said in place of `right` under this fault; `gemini` decides the words.
answer with_fault(answer right, const fault& wrong, bool gemini, std::chrono::system_clock::time_point now);

// `keep`: the peer wants the connection kept. `closing`: the answer says that it ends here.
sending sending_of(const answer& what, const fault& wrong, bool gemini, bool keep, std::string_view request_id);

// IMF-fixdate (RFC 9110 section 5.6.7).
std::string http_date(std::chrono::system_clock::time_point when);

}  // namespace hearonce::upstream
