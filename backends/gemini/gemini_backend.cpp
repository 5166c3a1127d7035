// The backend's face, and one thin coroutine: decode where needed, call, read. Next files: request_text.cpp, then
// src/net/one_call.cpp, then answer_reading.cpp.
#include <backends/cloud/failure.hpp>
#include <backends/gemini/answer_reading.hpp>
#include <backends/gemini/audio_type.hpp>
#include <backends/gemini/base64_body.hpp>
#include <backends/gemini/gemini_backend.hpp>
#include <backends/gemini/model.hpp>
#include <backends/gemini/request_text.hpp>

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

namespace hearonce::gemini {
namespace {

namespace asio = boost::asio;

// What calls need of the backend; held by each, as they may outlive it.
struct upstream {
    gemini_settings settings;
    std::optional<net::http_url> endpoint;
    std::shared_ptr<const secret> credential;

    void say(const std::string& line) const {
        if (!line.empty() && settings.log) settings.log(line);
    }
};
using upstream_pointer = std::shared_ptr<const upstream>;

std::string upstream_name(const gemini_settings& settings, const std::string& model) {
    const auto found = settings.model_alias.find(model);
    return found != settings.model_alias.end() ? found->second : model;
}

error too_large(std::uint64_t audio_bytes, std::uint64_t frame_bytes) {
    const std::uint64_t most = (request_bytes_max - std::min(frame_bytes, request_bytes_max)) / 4 * 3;
    return {errc::audio_too_large,
            "The audio is " + std::to_string(audio_bytes) + " bytes; the backend takes at most " + std::to_string(most) + " bytes of it."};
}

wish wish_of(const transcription_request& request, const recording& audio, std::string_view model) {
    wish wanted;
    wanted.task = request.task;
    wanted.class_of_detail = detail_of(request.format);
    wanted.structured = structured(request, model);
    wanted.language = request.language;
    if (audio.duration) wanted.audio_seconds = std::max(0.0, static_cast<double>(audio.duration->count()) / 1000);
    return wanted;
}

// One piece of work on its way.
struct undertaking {
    upstream_pointer to;
    std::string model;  // As the upstream names it.
    std::string target;
    bool streaming = false;
    wish wanted;
    std::shared_ptr<const stored_bytes> bytes;
    std::string type;
};

result<undertaking> undertaking_of(const upstream_pointer& to, const std::shared_ptr<const recording>& audio,
                                   const transcription_request& request, const attempt& terms) {
    undertaking made;
    made.to = to;
    made.model = upstream_name(to->settings, request.model);
    // What is asked for in JSON cannot be told before it is complete.
    made.streaming = terms.deltas != nullptr && detail_of(request.format) == detail::plain;
    if (!to->endpoint) return error(errc::upstream_error, "The backend is not configured.").with_remedy(remedy::elsewhere);
    auto target = target_of(to->endpoint->target, made.model, made.streaming);
    if (!target) return error(errc::model_not_found);
    made.target = std::move(*target);
    made.wanted = wish_of(request, *audio, made.model);
    // The bytes live in the recording, which is therefore kept with them.
    made.bytes = std::shared_ptr<const stored_bytes>(audio, audio->bytes.get());
    made.type = audio_type_of(*audio, is_transcriber(made.model));
    return made;
}

// In place of a recording whose container the model does not take.
asio::awaitable<std::optional<error>> decode_first(undertaking& work, std::shared_ptr<const recording> audio, deadline limit) {
    const auto& decoder = work.to->settings.transcoder;
    if (!decoder) {
        work.to->say("recordings of this kind have to be decoded by hearonce-whisper, which is not built in");
        co_return error(errc::upstream_error, "The backend does not take this kind of audio file.").with_remedy(remedy::elsewhere);
    }
    auto decoded = co_await decoder->to_flac(std::move(audio), limit);
    if (!decoded) co_return decoded.error();
    work.bytes = std::move(decoded->bytes);
    work.type = "audio/flac";
    work.wanted.audio_seconds = decoded->seconds;
    co_return std::nullopt;
}

result<net::call_request> call_of(undertaking& work, const transcription_request& request, const secret& key) {
    body_frame frame = frame_of(request, work.model, work.type);
    const std::uint64_t frame_bytes = frame.before.size() + frame.after.size();
    if (frame_bytes + base64_size(work.bytes->size_bytes()) > request_bytes_max) return too_large(work.bytes->size_bytes(), frame_bytes);
    net::call_request call;
    call.url = *work.to->endpoint;
    call.url.target = std::move(work.target);
    call.method = "POST";
    call.tls = work.to->settings.tls;
    call.keep_alive = true;
    call.headers.push_back({"Content-Type", "application/json"});
    if (!key.empty()) call.headers.push_back({"x-goog-api-key", std::string(key.reveal())});
    call.body = std::make_shared<base64_body>(std::move(frame.before), std::move(work.bytes), std::move(frame.after));
    return call;
}

result<transcript> end_of(const undertaking& work, const net::call_result& answered, answer_reading& reading) {
    std::string log;
    if (answered || reading.stopped() || reading.complete()) {
        auto heard = reading.end(answered ? *answered : net::http_answer(), log);
        work.to->say(log);
        if (heard) heard->backend = work.to->settings.name;
        return heard;
    }
    auto cut = cloud::failure_of_call(answered.error());
    work.to->say(cut.log);
    // Whoever was told something was receiving, after which nothing may follow.
    assert(!reading.told() || cut.why.remedy() == remedy::none);
    return std::move(cut.why);
}

asio::awaitable<result<transcript>> run(upstream_pointer to, std::shared_ptr<const recording> audio, transcription_request request,
                                        attempt terms) {
    auto work = undertaking_of(to, audio, request, terms);
    if (!work) co_return work.error();
    if (work->type.empty()) {
        auto refused = co_await decode_first(*work, std::move(audio), terms.limit);
        if (refused) co_return std::move(*refused);
    }
    audio.reset();
    const bool callers = terms.key != nullptr;
    const std::shared_ptr<const secret> key = callers ? terms.key : to->credential;
    auto call = call_of(*work, request, *key);
    if (!call) co_return call.error();
    const auto reading =
        std::make_shared<answer_reading>(work->wanted, is_transcriber(work->model), key, callers, work->streaming ? terms.deltas : nullptr);
    call->on_piece = [reading](const net::http_answer& head, std::string_view piece) { return reading->take(head, piece); };
    net::call_limits limits;
    limits.all = terms.limit;
    auto answered = co_await net::call(std::move(*call), limits);
    co_return end_of(*work, answered, *reading);
}

class gemini_backend final : public backend {
public:
    explicit gemini_backend(gemini_settings settings) {
        auto made = std::make_shared<upstream>();
        made->endpoint = endpoint_of(settings.base_url);
        if (made->endpoint && made->endpoint->tls && !settings.tls) made->endpoint.reset();
        made->credential = std::make_shared<const secret>(settings.credential);
        made->settings = std::move(settings);
        upstream_ = std::move(made);
    }

    std::string_view name() const noexcept override { return settings().name; }
    backend_state state() const override {
        if (!upstream_->endpoint) return {false, "base_url is not a URL of an API: set backends." + settings().name + ".base_url"};
        return {true, {}};
    }
    std::vector<std::string> models() const override { return settings().models; }
    std::string default_model() const override { return settings().default_model; }
    hearonce::provider provider() const noexcept override { return provider::gemini; }
    unsigned in_flight_max() const noexcept override { return settings().max_in_flight; }
    std::chrono::milliseconds time_allowed(std::optional<std::chrono::milliseconds> audio) const override {
        return settings().deadline.allowed(audio);
    }

    result<void> supports(const transcription_request& request) const override;

    asio::awaitable<result<transcript>> transcribe(std::shared_ptr<const recording> audio, transcription_request request,
                                                   attempt terms) override {
        return run(upstream_, std::move(audio), std::move(request), std::move(terms));
    }

private:
    const gemini_settings& settings() const noexcept { return upstream_->settings; }
    upstream_pointer upstream_;
};

result<void> gemini_backend::supports(const transcription_request& request) const {
    const auto refused = [](std::string message, std::string param) {
        return error(errc::unsupported_value, std::move(message), std::move(param));
    };
    const std::string model = upstream_name(settings(), request.model.empty() ? default_model() : request.model);
    const bool transcriber = is_transcriber(model);
    if (!target_of("", model, false)) return error(errc::model_not_found);
    if (is_live(model)) return refused("This model hears live speech only, not files.", "model");
    if (transcriber && request.task == task::translate) return refused("This model cannot translate; a general Gemini model can.", "model");
    if (!transcriber && request.word_times && detail_of(request.format) == detail::timed)
        return refused("This model gives no times of words; gemini-3.5-transcribe does.", "timestamp_granularities");
    if (!values_of(request, "include").empty()) return refused("This model gives no probabilities.", "include");
    if (!values_of(request, "known_speaker_references").empty() || !values_of(request, "known_speaker_names").empty())
        return refused("This model does not take known speakers.", "known_speaker_names");
    return {};
}

}  // namespace

std::shared_ptr<backend> create_gemini_backend(gemini_settings settings) {
    return std::make_shared<gemini_backend>(std::move(settings));
}

}  // namespace hearonce::gemini
