// Heads and chunked bodies from anybody: no crash, and how the bytes are cut changes nothing. The first byte says where to cut,
// the rest is what a caller sends.
#include <http/identity.hpp>
#include <server/framing.hpp>
#include <server/request_parser.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace hearonce;
using namespace hearonce::server;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

constexpr head_limits limits{2048, 20, 512};

struct outcome {
    enum class end { more, broken, complete } how = end::more;
    std::string body;
    std::size_t used = 0;
    bool operator==(const outcome&) const = default;
};

// Feeds the body in two parts.
outcome read_chunks(std::string_view head_bytes, std::string_view bytes, std::size_t cut) {
    http::request_head head;
    request_parser parser;
    require(!parser.parse_head(head_bytes, head).has_error());
    auto headers = head.headers.size();
    outcome got;
    for (std::size_t there : {cut, bytes.size()}) {
        while (got.how == outcome::end::more) {
            auto step = parser.parse_chunked(bytes.substr(got.used, there - got.used));
            if (step.has_error()) {
                got.how = outcome::end::broken;
                break;
            }
            require(step->consumed <= there - got.used);
            got.used += step->consumed;
            got.body += step->data;
            if (step->is == request_parser::step::kind::end) got.how = outcome::end::complete;
            if (step->is == request_parser::step::kind::more) break;
        }
    }
    require(head.headers.size() == headers);  // Trailers are no headers.
    return got;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    auto cut = bytes.empty() ? 0 : data[0] % (bytes.size() + 1);

    head_scan whole(limits);
    head_scan parts(limits);
    auto at_once = whole.resume(bytes);
    auto in_two = parts.resume(bytes.substr(0, cut));
    if (in_two == head_scan::state::more) in_two = parts.resume(bytes);
    require(in_two == at_once || (bytes.empty() && at_once == head_scan::state::more));
    if (at_once != head_scan::state::complete) return 0;
    require(whole.size() == parts.size() && whole.size() <= limits.bytes_max);

    auto head_bytes = bytes.substr(0, whole.size());
    http::request_head head;
    request_parser parser;
    if (parser.parse_head(head_bytes, head).has_error()) return 0;
    require(head.path == "*" || head.path.starts_with('/'));
    require(!(head.chunked && head.content_length));
    require(head.version == 10 || head.count("host") == 1);
    require(head.headers.size() <= limits.headers_max);
    wants_keep_alive(head);
    expectation_of(head);
    require(http::request_id_of(head).value_or("").size() <= http::request_id_bytes_max);
    if (!head.chunked) return 0;

    auto body = bytes.substr(whole.size());
    auto first = read_chunks(head_bytes, body, body.size());
    auto second = read_chunks(head_bytes, body, body.empty() ? 0 : data[0] % (body.size() + 1));
    require(first.how == second.how);
    if (first.how == outcome::end::complete) require(first == second);
    return 0;
}
