// The upload's body, piece by piece. Next file: upload.cpp.
#include <http/receive.hpp>
#include <http/upload.hpp>

namespace hearonce::http {

namespace {

namespace asio = boost::asio;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::steady_clock;

// What can be refused from the headers; else the form's boundary.
result<std::string> admit_upload(const request_head& head, const services& parts, const upload_limits& limits) {
    const auto type = head.find("content-type");
    auto boundary = boundary_of(type.value_or(std::string_view()));
    if (!boundary || !head.content_length) return boundary;
    if (const auto fits = check_announced_length(*head.content_length, limits); !fits) return fits.error();
    if (const auto room = parts.store->check_room(*head.content_length); !room) return room.error();
    return boundary;
}

}  // namespace

asio::awaitable<result<received>> receive(exchange& request, services& parts, task wanted,
                                          std::optional<std::chrono::milliseconds> announced_duration, access_notes& notes) {
    upload_limits limits;
    limits.audio_bytes_max = parts.audio_bytes_max;
    limits.field_bytes_max = parts.fields_bytes_max;
    const auto boundary = admit_upload(request.head(), parts, limits);
    if (!boundary) co_return boundary.error();

    const auto began = steady_clock::now();
    upload incoming(*boundary, wanted, limits, parts.store);
    for (;;) {
        auto piece = co_await request.read_body();
        if (!piece) co_return piece.error();
        if (piece->empty()) break;
        notes.received_bytes += piece->size();
        const auto fed = incoming.feed(*piece);
        if (!fed) co_return fed.error();
        if (!*fed) continue;
        auto flushed = co_await incoming.flush();
        if (!flushed) co_return flushed.error();
    }
    auto whole = co_await incoming.finish();
    notes.receive = duration_cast<microseconds>(steady_clock::now() - began);
    if (!whole) co_return whole.error();

    if (announced_duration) whole->audio.duration = announced_duration;
    notes.sha256 = hex_of(whole->audio.sha256);
    received made;
    made.audio = std::make_shared<const recording>(std::move(whole->audio));
    made.request = std::move(whole->request);
    co_return made;
}

}  // namespace hearonce::http
