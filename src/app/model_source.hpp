// Where a model is fetched from and what a server's answer means for the part that is already here. Pure functions.
//
// Holds: model_url(), part_on_disk, resume_headers(), answer_verdict, judge_answer(), redirect_end, redirect_of(),
// sha256_of_answer(). Used by cli/models_pull.cpp.
// Next file: model_file.hpp.
#pragma once

#include <net/one_call.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::app {

// The file of a published model, or `from`: a whole URL that ends in .bin, or a folder's URL to which ggml-NAME.bin is added.
// nullopt: `from` is no http or https URL.
std::optional<std::string> model_url(std::string_view name, std::string_view from);

// What an earlier try has left.
struct part_on_disk {
    std::uint64_t bytes = 0;
    std::string etag;  // Strong validator (RFC 9110 section 8.8.3) of the file they are the beginning of; empty: none is known.
    bool can_resume() const noexcept { return bytes > 0 && !etag.empty(); }
};

// Range and If-Range (RFC 9110 sections 14.2, 13.1.5), so that a file that changed is sent whole.
std::vector<net::http_header> resume_headers(const part_on_disk& part);

struct answer_verdict {
    enum class kind : std::uint8_t {
        append,    // The body goes behind the part.
        restart,   // The body is the whole file.
        complete,  // The part is the whole file already.
        redirect,  // To `text`.
        discard,   // The part is of no use: ask again without it.
        again,     // The server is in trouble: try again later.
        refuse,    // Never; `text` says why.
    };
    kind is = kind::refuse;
    std::string text{};
    std::optional<std::uint64_t> whole_bytes{};  // Of the file, where the answer says.
    std::string etag{};                          // Strong, of the file; empty: none.
};

// What an answer's status and headers mean.
answer_verdict judge_answer(const net::http_answer& answer, const part_on_disk& part);

// Where a redirect leads: absolute, resolved against `url`; or why it is not followed: it names no http URL, or leaves https.
struct redirect_end {
    std::string url{};
    std::string refusal{};  // Empty: follow.
};
redirect_end redirect_of(std::string_view url, std::string_view location);

// The SHA-256 that the hub names in its own redirect (`x-linked-etag: "…64 hex…"`), or that an ETag is; empty: neither.
std::string sha256_of_answer(const net::http_answer& answer);

}  // namespace hearonce::app
