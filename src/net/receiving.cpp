// The Beast client unit: an answer's bytes through Beast's parser into a string or a sink. Next file: call_failure.cpp.
#include <net/receiving.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>

#include <algorithm>
#include <utility>

namespace hearonce::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr auto use_result = asio::as_tuple(asio::use_awaitable);
constexpr std::uint32_t answer_head_bytes_max = 64 * 1024;
constexpr int interim_answers_max = 16;
// A head is short; a body may be long.
constexpr std::size_t head_read_bytes = 8 * 1024;
constexpr std::size_t body_read_bytes = 64 * 1024;
// Memory taken ahead of the bytes that announce themselves.
constexpr std::uint64_t reserve_bytes_max = 1024 * 1024;

http_answer head_of(const http::header<false>& head) {
    http_answer answer;
    answer.status = static_cast<std::uint16_t>(head.result_int());
    for (const auto& field : head) answer.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    return answer;
}

// Beast's parser hands over each piece of the body where it lies in the read buffer.
struct answer_body {
    struct value_type {
        conversation* talk = nullptr;
        http_answer answer;
    };

    class reader {
    public:
        template <bool IsRequest, class Fields>
        reader(http::header<IsRequest, Fields>& head, value_type& value) : head_(head), value_(value) {}

        void init(const boost::optional<std::uint64_t>& announced, boost::system::error_code& ec) {
            ec = {};
            value_.answer = head_of(head_);
            if (announced && !value_.talk->request.on_piece)
                value_.answer.body.reserve(static_cast<std::size_t>(std::min(*announced, reserve_bytes_max)));
        }

        template <class Buffers>
        std::size_t put(const Buffers& buffers, boost::system::error_code& ec) {
            ec = {};
            std::size_t taken = 0;
            for (const asio::const_buffer one : beast::buffers_range_ref(buffers)) {
                taken += one.size();
                if (one.size() > 0 && !take(std::string_view(static_cast<const char*>(one.data()), one.size()))) {
                    value_.talk->sink_stopped = true;
                    ec = asio::error::operation_aborted;
                    break;
                }
            }
            return taken;
        }

        void finish(boost::system::error_code& ec) { ec = {}; }

    private:
        bool take(std::string_view piece) {
            if (value_.talk->request.on_piece) return value_.talk->request.on_piece(value_.answer, piece);
            value_.answer.body.append(piece);
            return true;
        }

        const http::header<false>& head_;
        value_type& value_;
    };
};

using parser = http::response_parser<answer_body>;

// Feeds the parser what lies in the buffer; no error when it only wants more.
boost::system::error_code feed(parser& to, beast::flat_buffer& buffer) {
    boost::system::error_code ec;
    while (buffer.size() > 0 && !to.is_done()) {
        const std::size_t used = to.put(buffer.data(), ec);
        buffer.consume(used);
        if (ec == http::error::need_more) return {};
        if (ec || used == 0) return ec;
    }
    return ec;
}

// What the end of the connection means: the end of the answer, where nothing else marks it.
boost::system::error_code feed_end(parser& to, const boost::system::error_code& how) {
    if (how != asio::error::eof) return how;
    if (!to.got_some()) return http::error::end_of_stream;
    boost::system::error_code ec;
    to.put_eof(ec);
    return ec;
}

bool interim(const parser& of) {
    return of.is_header_done() && of.get().result_int() < 200;
}

// A byte of an answer came, or an interim answer is complete: how far the call is.
void note_progress(conversation& talk, const parser& of) {
    talk.answer_seen = true;
    talk.stage = call_stage::receiving;
    if (interim(of)) talk.stage = talk.all_sent ? call_stage::waiting : call_stage::sending;
    if (talk.all_sent || talk.stage == call_stage::receiving) talk.watch->allow(talk.limits.silence);
}

asio::awaitable<boost::system::error_code> read_answer(std::shared_ptr<conversation> talk, parser& into, beast::flat_buffer& buffer) {
    const auto link = talk->link;
    auto failed = feed(into, buffer);
    while (!failed && !into.is_done()) {
        const auto wanted = into.is_header_done() ? body_read_bytes : head_read_bytes;
        // What the parser leaves lying and does not bound itself: a chunk's extensions, trailers.
        if (wanted > buffer.max_size() - buffer.size()) co_return http::error::buffer_overflow;
        const auto room = buffer.prepare(wanted);
        auto [cut, bytes] = co_await link->async_read_some(room, use_result);
        buffer.commit(bytes);
        failed = cut ? feed_end(into, cut) : feed(into, buffer);
        if (bytes > 0) note_progress(*talk, into);
        if (cut && !failed) break;
    }
    co_return failed;
}

received taken_from(parser& done, bool nothing_after) {
    received got;
    auto& value = done.get().body();
    // A message without a body never comes to the body's reader.
    got.answer = value.answer.status != 0 ? std::move(value.answer) : head_of(done.get().base());
    got.reusable = nothing_after && done.keep_alive() && done.get().version() == 11;
    return got;
}

}  // namespace

asio::awaitable<std::optional<received>> receive(std::shared_ptr<conversation> talk, std::shared_ptr<call_failure> why) {
    beast::flat_buffer buffer(answer_head_bytes_max + body_read_bytes);
    boost::system::error_code failed;
    for (int answers = 0; answers <= interim_answers_max; ++answers) {
        parser one;
        one.eager(true);
        one.header_limit(answer_head_bytes_max);
        one.body_limit(talk->limits.answer_bytes_max);
        if (talk->request.method == "HEAD") one.skip(true);
        one.get().body().talk = talk.get();
        failed = co_await read_answer(talk, one, buffer);
        if (failed) break;
        // Interim answers (RFC 9110 section 15.2) announce the one that counts.
        if (!interim(one)) co_return taken_from(one, buffer.size() == 0);
        failed = http::error::bad_status;
    }
    *why = talk->failure(failed);
    co_return std::nullopt;
}

}  // namespace hearonce::net
