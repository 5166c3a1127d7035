// The query as a form. Next file: decide.cpp.
#include <http/ask.hpp>
#include <http/form.hpp>

#include <boost/url/pct_string_view.hpp>

#include <algorithm>
#include <utility>

namespace hearonce::http {
namespace {

// As browsers encode forms into queries: '+' is a blank, the rest is percent-encoded (WHATWG URL, section 5.1).
std::optional<std::string> decoded(std::string_view text) {
    std::string blanks(text);
    std::ranges::replace(blanks, '+', ' ');
    const auto encoded = boost::urls::make_pct_string_view(blanks);
    if (!encoded) return std::nullopt;
    return encoded->decode();
}

error wrong_sha256() {
    return error(errc::invalid_parameter, "sha256 must be given once: the SHA-256 of the recording, 64 hex digits.", "sha256");
}

}  // namespace

result<received> ask_of(const request_head& head, const caller_words& words, task wanted) {
    form fields(wanted);
    recording audio;
    bool named = false;
    std::string_view rest = head.query;
    while (!rest.empty()) {
        const auto pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
        if (pair.empty()) continue;
        const auto equals = std::min(pair.find('='), pair.size());
        auto name = decoded(pair.substr(0, equals));
        auto value = decoded(pair.substr(std::min(equals + 1, pair.size())));
        if (!name || !value) return error(errc::invalid_parameter, "The query is not validly encoded.");
        if (*name == "sha256") {
            const auto digest = digest_of(*value);
            if (!digest || std::exchange(named, true)) return wrong_sha256();
            audio.sha256 = *digest;
        } else if (auto added = fields.add(std::move(*name), std::move(*value)); !added) {
            return added.error();
        }
    }
    if (!named) return wrong_sha256();
    auto request = std::move(fields).finish();
    if (!request) return request.error();
    audio.duration = words.audio_duration;
    received made;
    made.audio = std::make_shared<const recording>(std::move(audio));
    made.request = std::move(*request);
    return made;
}

}  // namespace hearonce::http
