// Any bytes as what an upstream answers: in one piece, as a stream cut anywhere, and as a refusal. What is told is the text,
// what is handed on is JSON, and no message holds a key.
#include <backends/openai/answer.hpp>
#include <backends/openai/events.hpp>
#include <backends/openai/refusal.hpp>
#include <net/event_stream.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace hearonce;
using namespace hearonce::openai;

namespace {

constexpr std::string_view key = "sk-0123456789abcdef";

void demand(bool holds) {
    if (!holds) std::abort();
}

void check_members(const std::vector<json_member>& more) {
    for (const json_member& one : more) {
        boost::json::error_code ec;
        boost::json::parse_options deep;
        deep.max_depth = 64;
        boost::json::parse(one.json, ec, {}, deep);
        demand(!ec && one.json.find('\n') == std::string::npos);
    }
}

std::string stream_of(std::string_view bytes, std::size_t piece_bytes, detail wanted) {
    answer_terms terms;
    terms.detail = wanted;
    event_reading reading(terms, key);
    net::event_stream records(1 << 16);
    std::string joined;
    std::string end;
    const auto take = [&](const net::event_record& one) {
        auto piece = reading.take(one.event, one.data);
        if (!piece) {
            end = "failed";
            return false;
        }
        if (*piece) joined += (*piece)->text;
        if (*piece) check_members((*piece)->more);
        return true;
    };
    for (std::size_t at = 0; at < bytes.size() && records.feed(bytes.substr(at, piece_bytes), take); at += piece_bytes) {
    }
    if (end.empty()) {
        const auto heard = std::move(reading).finish();
        if (heard) {
            demand(heard->text == joined);
            check_members(heard->more);
        }
        end = heard ? "done" : "cut";
    }
    return joined + "|" + end;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    for (const detail wanted : {detail::plain, detail::timed, detail::diarized}) {
        answer_terms terms;
        terms.detail = wanted;
        terms.whisper_server = size % 2 == 1;
        if (const auto heard = parse_response(bytes, terms)) {
            check_members(heard->more);
            demand(heard->duration_seconds >= 0);
        }
        demand(stream_of(bytes, size + 1, wanted) == stream_of(bytes, 1, wanted));
    }
    const refusal said = refusal_of(bytes, key);
    demand((said.message + said.param).find(key.substr(3)) == std::string::npos);
    return 0;
}
