// The parts of the gateway an endpoint works with, and what it notes down about its request.
//
// Holds: services, access_notes. Built by src/app/gateway.cpp, which owns every part and outlives all requests.
// Next file: router.hpp.
#pragma once

#include <http/auth.hpp>
#include <http/browser.hpp>
#include <http/client_address.hpp>
#include <http/models_answer.hpp>
#include <http/spool.hpp>
#include <observe/metrics.hpp>
#include <work/dispatcher.hpp>
#include <work/flights.hpp>
#include <work/idempotency.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace hearonce::http {

// References to thread-safe parts and values that never change while requests run.
struct services {
    std::uint64_t audio_bytes_max;
    std::uint64_t fields_bytes_max;
    browser_rules browser;
    std::vector<network> trusted_proxies;
    authenticator& auth;
    bool own_key_local;  // Backends that need no key take work in mode own-key, too.
    std::shared_ptr<audio_store> store;
    work::dispatcher& dispatcher;
    work::flights& flights;
    work::gate& under_way;  // Every flight is inside while it uses these parts.
    work::idempotency_table& names;
    observe::metrics& counted;
    const std::atomic<bool>& draining;
    std::chrono::system_clock::time_point started;
    std::chrono::steady_clock::time_point started_steady;

    // The backends as the answers about them see them, asked anew each time.
    std::vector<listed_backend> list_backends() const;
};

// What an endpoint learned about one request, for its access line and its Server-Timing.
struct access_notes {
    observe::came how = observe::came::not_yet;
    std::string device_id;
    std::string sha256;  // Hex
    std::string backend;
    std::optional<errc> failed;  // How a stream ended whose status had been sent before.
    std::string trace_id;        // 32 hex digits or empty.
    bool retried = false;        // The gateway called more than once before this failure.
    std::uint64_t received_bytes = 0;
    std::chrono::microseconds receive{0};
    std::chrono::microseconds wait{0};
    std::chrono::microseconds upstream{0};
};

}  // namespace hearonce::http
