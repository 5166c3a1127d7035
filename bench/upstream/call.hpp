// One call in the making: its body as it arrives, what it asks, and the answer. No I/O.
//
// Holds: call. Next file: session.cpp.
#pragma once

#include <bench/upstream/answer.hpp>
#include <bench/upstream/fault.hpp>
#include <bench/upstream/form_reader.hpp>
#include <bench/upstream/gemini_rules.hpp>
#include <bench/upstream/ledger.hpp>
#include <bench/upstream/route.hpp>
#include <bench/upstream/settings.hpp>

#include <http/exchange.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace hearonce::upstream {

class call {
public:
    // `head` and `how` must outlive it.
    call(const http::request_head& head, const route& to, const settings& how, result<fault> given);

    // A piece of the body.
    void feed(std::span<const std::byte> bytes);
    // The body is complete: afterwards nothing but fault(), recording() and answer() is to be asked.
    void finish();

    // What goes wrong with this call: what its prompt says, once it was read, goes before what it was given.
    const upstream::fault& fault() const noexcept { return fault_; }
    // Right after finish().
    std::vector<form_field> fields() const;
    std::vector<received_file> files() const;
    std::optional<sha256_digest> recording() const;

    upstream::answer answer() const;

    std::uint64_t body_bytes() const noexcept { return bytes_; }
    const route& to() const noexcept { return to_; }

private:
    void look_for_prompt();
    void take_prompt(std::string_view prompt);
    upstream::answer answer_form() const;
    upstream::answer answer_body() const;

    const http::request_head& head_;
    const route to_;
    const settings& how_;
    upstream::fault fault_;
    std::string misspelt_;  // Why the fault given could not be read.
    std::optional<form_reader> form_;
    std::string form_problem_;
    std::size_t fields_looked_at_ = 0;
    std::string body_;  // Of a Gemini call, until it is read.
    gemini_checked checked_;
    std::uint64_t bytes_ = 0;
};

}  // namespace hearonce::upstream
