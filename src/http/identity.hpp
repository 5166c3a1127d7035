// What a request's headers say about who asks, about the recording, and about how the answer may come to be.
//
// Holds: caller_words, caller_words_of(), request_id_of(). Pure. A name `X-Bolo-…`, which phones in the field send, is a
// synonym of the plain one. Next file: client_address.hpp.
#pragma once

#include <hearonce/audio.hpp>
#include <hearonce/error.hpp>
#include <http/exchange.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::http {

inline constexpr std::size_t device_id_bytes_max = 128;
inline constexpr std::size_t request_id_bytes_max = 128;
inline constexpr std::size_t idempotency_key_bytes_max = 255;
inline constexpr std::chrono::milliseconds audio_duration_max = std::chrono::hours(24 * 7);

struct caller_words {
    std::string device_id;                                    // X-Device-Id; empty: none.
    std::optional<sha256_digest> audio_sha256;                // X-Audio-Sha256: a check against what arrives, never the key.
    std::optional<std::chrono::milliseconds> audio_duration;  // X-Audio-Duration-Ms; 0 and absent are both nullopt.
    std::string idempotency_key;                              // Without its quotes; empty: none.
    bool no_cache = false;                                    // Cache-Control: new work, joins nobody, takes the key.
    bool no_store = false;                                    // Cache-Control: new work, kept nowhere.
    unsigned attempts_spent = 0;                              // X-Stainless-Retry-Count: what an OpenAI SDK tried before.
    std::string traceparent;                                  // Valid per W3C Trace Context, else empty.
};

// Reads them all. Errors (the header named as param): invalid_parameter for two synonyms or repeats that differ, a device id
// or Idempotency-Key that is too long or not printable, a duration that is no number of milliseconds; audio_hash_mismatch
// for an X-Audio-Sha256 that no hash can equal. An invalid traceparent is ignored, as its standard wants,
// and so is an X-Stainless-Retry-Count that is no small number.
result<caller_words> caller_words_of(const request_head& head);

// The caller's X-Request-Id (or X-Bolo-Request-Id) when it is printable ASCII and at most request_id_bytes_max; nullopt:
// make one. Never fails: a label does not decide anything.
std::optional<std::string> request_id_of(const request_head& head);

}  // namespace hearonce::http
