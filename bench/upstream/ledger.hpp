// What the upstream double was asked: exact counts of calls a recording, who left, and the last requests as they came.
//
// Holds: seen_request, left_call, counts, ledger. Thread-safe. Next file: session.hpp.
#pragma once

#include <bench/upstream/form_reader.hpp>

#include <hearonce/audio.hpp>
#include <hearonce/transcription.hpp>
#include <http/exchange.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hearonce::upstream {

struct seen_request {
    std::uint64_t id = 0;          // Counts from 1 over all requests; a reset does not begin anew.
    std::uint64_t connection = 0;  // Likewise; equal for requests of one connection.
    std::int64_t at_ms = 0;        // Since the double began.
    std::string method;
    std::string path;
    std::string query;
    std::vector<http::header> headers;
    std::vector<form_field> fields;  // In order; values cut at value_bytes_max. Of a Gemini call: its text parts, "model", and its config.
    std::vector<received_file> files;
    int status = 0;  // Of the answer; 0 while there is none, and when there never was one.

    static constexpr std::size_t value_bytes_max = 4096;
    const std::string* field(std::string_view name) const noexcept;
    const std::string* header(std::string_view name) const noexcept;  // Any case.
};

// A peer that went away before its answer was complete.
struct left_call {
    std::uint64_t id = 0;
    std::int64_t at_ms = 0;     // Since the double began.
    std::int64_t after_ms = 0;  // Since the request's head was complete.
    std::string_view during;    // "upload", "waiting" (delay or hang), "answer"
};

struct digest_hash {
    std::size_t operator()(const sha256_digest& digest) const noexcept {
        std::size_t value = 0;
        std::memcpy(&value, digest.data(), sizeof value);
        return value;
    }
};

struct counts {
    static constexpr std::size_t left_max = 1000;

    std::uint64_t calls = 0;           // Transcriptions, translations, generations: counted when the head has come.
    std::uint64_t other_requests = 0;  // Models and unknown paths; /_stats and the like are not counted at all.
    std::uint64_t in_flight = 0;       // Calls whose answer is not yet wholly on its way.
    std::uint64_t in_flight_max = 0;
    std::uint64_t connections_open = 0;
    std::uint64_t connections_accepted = 0;
    std::uint64_t received_bytes = 0;  // Of the calls' bodies.
    // Calls whose recording came whole, whatever they were answered.
    std::unordered_map<sha256_digest, std::uint64_t, digest_hash> by_sha256;
    std::uint64_t digests_left_out = 0;      // Calls with a recording for which there was no room.
    std::map<int, std::uint64_t> by_status;  // Answers begun, by status.
    std::uint64_t aborted_by_peer = 0;
    std::deque<left_call> left;     // The last left_max of them.
    std::deque<seen_request> last;  // Calls and other requests, oldest first.

    std::uint64_t of(const sha256_digest& digest) const noexcept {
        const auto found = by_sha256.find(digest);
        return found == by_sha256.end() ? 0 : found->second;
    }
};

class ledger {
public:
    using clock = std::chrono::steady_clock;

    static constexpr std::size_t digests_max_default = 4'000'000;

    // Keeps that many requests, and tells that many recordings apart.
    explicit ledger(std::size_t last_max, std::size_t digests_max = digests_max_default)
        : last_max_(last_max), digests_max_(digests_max), began_(clock::now()) {}

    std::uint64_t connected();  // The connection's number.
    void disconnected();
    // A request's head has come; gives its id. `call`: it counts as one and must be ended.
    std::uint64_t began(const http::request_head& head, std::uint64_t connection, bool call);
    // Its body has come whole.
    void told(std::uint64_t id, std::vector<form_field> fields, std::vector<received_file> files, const sha256_digest* recording);
    void answered(std::uint64_t id, int status);
    void left(std::uint64_t id, std::string_view during, clock::time_point head_came);
    void ended(std::uint64_t received_bytes);  // A call.

    // Forgets everything but what is open and in flight; what was asked before does not count when it ends.
    void reset();

    counts snapshot() const;
    // Waits until `enough` holds for the counts, which it must only look at; false when it does not within the limit.
    bool wait_until(const std::function<bool(const counts&)>& enough, std::chrono::milliseconds limit = std::chrono::seconds(20)) const;
    // What GET /_stats says.
    std::string json() const;

private:
    std::int64_t since_began_ms(clock::time_point when) const;
    seen_request* find(std::uint64_t id);

    const std::size_t last_max_;
    const std::size_t digests_max_;
    const clock::time_point began_;
    mutable std::mutex guard_;
    mutable std::condition_variable changed_;
    counts counts_;
    std::uint64_t next_id_ = 1;
    std::uint64_t first_id_ = 1;  // Since the last reset.
    std::uint64_t next_connection_ = 1;
};

// The JSON of /_stats. Pure.
std::string json_of(const counts& all);

}  // namespace hearonce::upstream
