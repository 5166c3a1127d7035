// The thin coroutine and what it hands to net::call(). Next files: src/net/one_call.cpp, then answer.cpp or failures.cpp.
#include <backends/openai/answer.hpp>
#include <backends/openai/events.hpp>
#include <backends/openai/failures.hpp>
#include <backends/openai/model_rules.hpp>
#include <backends/openai/request_form.hpp>
#include <backends/openai/upstream_call.hpp>
#include <net/event_stream.hpp>
#include <net/framed_recording_body.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace hearonce::openai {
namespace {

namespace asio = boost::asio;

// Of one record: the last one holds the whole text and may hold each token's probabilities.
constexpr std::size_t record_bytes_max = 8 * 1024 * 1024;

bool good(std::uint16_t status) noexcept {
    return status >= 200 && status < 300;
}

// The answer to a request that asked for events, as it arrives. An answer of another type is gathered.
class streamed_answer {
public:
    streamed_answer(answer_terms terms, std::shared_ptr<const secret> key, std::shared_ptr<delta_log> deltas)
        : key_(std::move(key)), deltas_(std::move(deltas)), events_(terms, key_->reveal()), records_(record_bytes_max) {}

    // False: no more is wanted.
    bool take(const net::http_answer& head, std::string_view piece) {
        if (!good(head.status) || !head.is_of("text/event-stream")) {
            gathered_ += piece;
            return true;
        }
        streamed_ = true;
        const bool wanted = records_.feed(piece, [this](const net::event_record& one) { return take_record(one); });
        if (records_.too_large()) failure_ = error(errc::upstream_error, "The backend's stream is not readable.").with_remedy(remedy::none);
        return wanted;
    }
    bool streamed() const noexcept { return streamed_; }
    bool complete() const noexcept { return events_.complete(); }
    const std::optional<error>& failure() const noexcept { return failure_; }
    std::string& gathered() noexcept { return gathered_; }

    result<transcript> finish() {
        if (const auto last = records_.finish()) take_record(*last);
        if (failure_) return *failure_;
        return std::move(events_).finish();
    }

private:
    bool take_record(const net::event_record& one) {
        auto piece = events_.take(one.event, one.data);
        if (!piece) {
            failure_ = piece.error();
            return false;
        }
        if (!*piece) return true;
        deltas_->append(std::move(**piece));
        return true;
    }

    std::shared_ptr<const secret> key_;
    std::shared_ptr<delta_log> deltas_;
    event_reading events_;
    net::event_stream records_;
    std::string gathered_;
    std::optional<error> failure_;
    bool streamed_ = false;
};

std::string target_of(const net::http_url& base, const std::string& path) {
    const std::size_t query = base.target.find('?');
    std::string target = base.target.substr(0, query);
    while (target.ends_with('/')) target.pop_back();
    target += path;
    if (query != std::string::npos) target += base.target.substr(query);
    return target;
}

net::call_request call_of(const upstream_order& order, const attempt& terms, request_form form, const recording& audio) {
    net::call_request call;
    call.url = order.base;
    call.url.target = target_of(order.base, form.path);
    call.method = "POST";
    call.tls = order.tls;
    call.keep_alive = true;
    call.headers.push_back({"Accept", "application/json"});
    call.headers.push_back({"Content-Type", std::move(form.content_type)});
    if (!order.key->empty()) call.headers.push_back({"Authorization", "Bearer " + std::string(order.key->reveal())});
    if (!terms.organization.empty()) call.headers.push_back({"OpenAI-Organization", terms.organization});
    if (!terms.project.empty()) call.headers.push_back({"OpenAI-Project", terms.project});
    call.body = std::make_shared<net::framed_recording_body>(std::move(form.prefix), audio.bytes, std::move(form.suffix));
    return call;
}

answer_terms terms_of(const transcription_request& request, const recording& audio) {
    answer_terms terms;
    terms.detail = detail_of(request.format);
    if (audio.duration) terms.recording_seconds = static_cast<double>(audio.duration->count()) / 1000;
    return terms;
}

upstream_end failed_end(failed why) {
    return {std::move(why.why), std::move(why.log)};
}

upstream_end end_of(const net::http_answer& answer, answer_terms asked, const key_terms& terms) {
    if (!good(answer.status)) return failed_end(error_of_answer(answer, terms));
    asked.whisper_server = answer.find("server").value_or("").starts_with("whisper.cpp");
    auto heard = parse_response(answer.body, asked);
    std::string log;
    if (!heard) log = "the upstream answered with status " + std::to_string(answer.status) + " and no transcript: is base_url right?";
    return {std::move(heard), std::move(log)};
}

upstream_end end_of(net::call_result answered, streamed_answer& stream, answer_terms asked, const key_terms& terms) {
    if (answered && !stream.streamed()) {
        answered->body = std::move(stream.gathered());
        return end_of(*answered, asked, terms);
    }
    // Once all was said, cancelling and a broken connection change nothing any more. After a piece was told, nobody may begin
    // anew: an answer that had begun allows nothing (backends/cloud/failure.cpp).
    if (answered || stream.failure() || stream.complete()) return {stream.finish(), {}};
    return failed_end(cloud::failure_of_call(answered.error()));
}

}  // namespace

asio::awaitable<upstream_end> call_upstream(upstream_order order, std::shared_ptr<const recording> audio, transcription_request request,
                                            attempt terms) {
    const bool streaming = terms.deltas && rules_of(order.upstream_model).streams;
    const answer_terms asked = terms_of(request, *audio);
    auto form = build_request(request, *audio, order.upstream_model, streaming, new_boundary());
    net::call_request call = call_of(order, terms, std::move(form), *audio);
    std::shared_ptr<streamed_answer> stream;
    if (streaming) {
        stream = std::make_shared<streamed_answer>(asked, order.key, terms.deltas);
        call.on_piece = [stream](const net::http_answer& head, std::string_view piece) { return stream->take(head, piece); };
    }
    net::call_limits limits;
    limits.all = terms.limit;
    auto answered = co_await net::call(std::move(call), limits);
    const key_terms whose{order.callers_key, order.key->reveal(), std::chrono::system_clock::now()};
    if (stream) co_return end_of(std::move(answered), *stream, asked, whose);
    if (!answered) co_return failed_end(cloud::failure_of_call(answered.error()));
    co_return end_of(*answered, asked, whose);
}

}  // namespace hearonce::openai
