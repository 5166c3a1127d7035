// The Cache-Status header (RFC 9211): tells a caller whether it led, joined or found the work.
//
// Holds: cache_status(). Pure. Next file: browser.hpp.
#pragma once

#include <observe/came.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace hearonce::http {

// `how` must not be not_yet. `asked_anew`: the caller sent `no-cache` or `no-store`, so the work is its own whatever was
// there. `ttl_left`: how long the success will be kept, rounded down; nullopt when it was not stored or the headers go out
// before that is known (streaming). A negative time is said as 0.
std::string cache_status(observe::came how, bool asked_anew, std::optional<std::chrono::seconds> ttl_left);

}  // namespace hearonce::http
