// The answer to a caller that reads along (`stream=true`) while its flight is told piece by piece.
//
// Holds: transcript_stream. Made by transcriptions.cpp, sent by router.cpp. Next file: event_stream.hpp (the records).
#pragma once

#include <hearonce/delta_log.hpp>
#include <http/decide.hpp>
#include <http/exchange.hpp>
#include <http/services.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hearonce::http {

// What a waiter gets: the transcript, or the error that is its answer.
result<const transcript*> outcome_of(const work::flights::result& end);

// Lives on the request's loop and no longer than the request: it writes into the request's notes.
class transcript_stream final : public body_pieces {
public:
    // `place` leads or joins a flight that tells `log`. `entered`: when it did.
    transcript_stream(work::flights::ticket place, std::shared_ptr<delta_log> log, services& parts, const decided& asked,
                      std::chrono::steady_clock::time_point limit, access_notes& notes);

    // Awaits the first piece. False: the flight has ended or the caller left before there was one, so that nothing is sent
    // yet and the answer may still be any; place() tells which.
    boost::asio::awaitable<bool> first();
    work::flights::ticket& place() noexcept { return place_; }

    // Records as they come, all that is there at once; at the end the last one: `done`, or the error. A flight that fails in
    // the middle is never made to look complete.
    boost::asio::awaitable<std::optional<std::string>> next() override;
    void leave() override;

private:
    std::string fresh_records();
    bool told_begins(std::string_view text);
    std::string last_records(const work::flights::result& end);

    work::flights::ticket place_;
    delta_reader reader_;
    services& parts_;
    const shape wanted_;
    const work::work_key key_;
    const std::optional<sha256_digest> name_;  // Of the Idempotency-Key, which a failure frees.
    const std::chrono::steady_clock::time_point limit_;
    const std::chrono::steady_clock::time_point entered_;
    access_notes& notes_;
    std::size_t told_bytes_ = 0;  // Of text, in all records so far.
    bool turns_told_ = false;
    bool ended_ = false;
};

}  // namespace hearonce::http
