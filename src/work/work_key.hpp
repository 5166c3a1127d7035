// What a piece of work is: who asks, for which bytes, with which settings. Equal keys are one piece of work.
//
// Holds: work_key, work_key_of(), key_material(). Next file: dispatcher.hpp.
//
// The key says what would come out, so it contains everything that can change the result and nothing else. Not in it: the
// file's name, the order of the parts, the boundary, the request id, `stream`, and the response format within one class of
// detail. A client that sends a recording again under a fresh request id therefore finds its work.
#pragma once

#include <hearonce/audio.hpp>
#include <hearonce/transcription.hpp>

#include <compare>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace hearonce::work {

// SHA-256 over the length-prefixed list of what makes the work. A value; equal for equal work, in every process.
struct work_key {
    sha256_digest bytes{};
    friend bool operator==(const work_key&, const work_key&) = default;
    friend auto operator<=>(const work_key&, const work_key&) = default;
};

// `route` is the backends' names in the order in which they are tried: other backends, other result. `request.model` is the
// routed name (never empty), `request.fields` what the caller sent, without empty values. Principal and device come first:
// nobody finds the work of another.
work_key work_key_of(std::string_view principal, std::string_view device, const sha256_digest& audio, std::span<const std::string> route,
                     const transcription_request& request);

// The bytes that are hashed. Every text stands behind its length and every list behind its count, so that no two different
// lists run together into the same bytes.
std::string key_material(std::string_view principal, std::string_view device, const sha256_digest& audio,
                         std::span<const std::string> route, const transcription_request& request);

}  // namespace hearonce::work

// The key is already uniform: its first bytes are as good a hash as any.
template <>
struct std::hash<hearonce::work::work_key> {
    std::size_t operator()(const hearonce::work::work_key& key) const noexcept {
        std::size_t first = 0;
        std::memcpy(&first, key.bytes.data(), sizeof first);
        return first;
    }
};
