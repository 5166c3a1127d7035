// The messages as JSON and back. Anything unexpected makes decode() return nothing: neither side trusts the other's
// memory to be sound. Next file: worker/serve.cpp.
#include <backends/whisper/protocol.hpp>
#include <backends/whisper/utf8.hpp>

#include <boost/json.hpp>

#include <array>
#include <cmath>
#include <utility>

namespace hearonce::whisper {
namespace {

namespace json = boost::json;

template <class... Each>
struct overloaded : Each... {
    using Each::operator()...;
};

// JSON has no word for these.
double finite(double value) {
    return std::isfinite(value) ? value : 0;
}

std::int64_t centiseconds(double seconds) {
    return std::llround(finite(seconds) * 100);
}

// The kinds of failure a helper may report; any other becomes internal_error.
constexpr std::array helper_errors = {errc::unsupported_audio, errc::empty_audio,    errc::audio_too_short, errc::audio_too_large,
                                      errc::invalid_parameter, errc::upstream_error, errc::internal_error};

errc errc_named(std::string_view code) {
    for (const errc each : helper_errors) {
        if (entry_of(each).code == code) return each;
    }
    return errc::internal_error;
}

json::object segment_out(const segment& piece) {
    json::array tokens(piece.tokens.begin(), piece.tokens.end());
    return {{"seek", piece.seek},
            {"from", centiseconds(piece.start_seconds)},
            {"to", centiseconds(piece.end_seconds)},
            {"text", valid_utf8(piece.text)},
            {"tokens", std::move(tokens)},
            {"temperature", finite(piece.temperature)},
            {"avg_logprob", finite(piece.avg_logprob)},
            {"compression_ratio", finite(piece.compression_ratio)},
            {"no_speech_prob", finite(piece.no_speech_prob)}};
}

json::object result_out(const transcript& result) {
    json::array segments;
    for (const segment& piece : result.segments) segments.emplace_back(segment_out(piece));
    json::array words;
    for (const word_time& word : result.words) {
        words.emplace_back(json::object{
            {"word", valid_utf8(word.word)}, {"from", centiseconds(word.start_seconds)}, {"to", centiseconds(word.end_seconds)}});
    }
    return {{"text", valid_utf8(result.text)},
            {"language", valid_utf8(result.language)},
            {"ms", std::llround(finite(result.duration_seconds) * 1000)},
            {"segments", std::move(segments)},
            {"words", std::move(words)}};
}

json::object message_out(const message& what) {
    return std::visit(
        overloaded{[](const start_job& m) {
                       return json::object{{"type", "start"},
                                           {"id", m.id},
                                           {"language", valid_utf8(m.language)},
                                           {"prompt", valid_utf8(m.prompt)},
                                           {"temperature", finite(m.temperature)},
                                           {"translate", m.translate},
                                           {"words", m.word_times},
                                           {"tell", m.tell}};
                   },
                   [](const cancel_job& m) { return json::object{{"type", "cancel"}, {"id", m.id}}; },
                   [](const helper_ready& m) {
                       return json::object{{"type", "ready"}, {"library", valid_utf8(m.library)}, {"multilingual", m.multilingual}};
                   },
                   [](const helper_failed& m) { return json::object{{"type", "broken"}, {"reason", valid_utf8(m.reason)}}; },
                   [](const job_step& m) {
                       return json::object{{"type", "step"}, {"id", m.id}, {"ms", m.audio_milliseconds}, {"quiet", m.quiet}};
                   },
                   [](const job_heard& m) { return json::object{{"type", "heard"}, {"id", m.id}, {"text", valid_utf8(m.text)}}; },
                   [](const job_done& m) { return json::object{{"type", "done"}, {"id", m.id}, {"result", result_out(m.result)}}; },
                   [](const job_failed& m) {
                       return json::object{{"type", "failed"},
                                           {"id", m.id},
                                           {"code", entry_of(m.code).code},
                                           {"message", valid_utf8(m.message)},
                                           {"param", valid_utf8(m.param)}};
                   },
                   [](const job_cancelled& m) { return json::object{{"type", "cancelled"}, {"id", m.id}}; }},
        what);
}

// The readers below throw on anything missing or of another type; decode() turns that into nullopt.
std::string text_of(const json::object& from, std::string_view key) {
    return std::string(from.at(key).as_string());
}
std::uint64_t id_of(const json::object& from) {
    return from.at("id").to_number<std::uint64_t>();
}
double number_of(const json::object& from, std::string_view key) {
    return finite(from.at(key).to_number<double>());
}
double seconds_of(const json::object& from, std::string_view key) {
    return static_cast<double>(from.at(key).to_number<std::int64_t>()) / 100;
}

segment segment_in(const json::object& from, std::int64_t id) {
    segment piece;
    piece.id = id;
    piece.seek = from.at("seek").to_number<std::int64_t>();
    piece.start_seconds = seconds_of(from, "from");
    piece.end_seconds = seconds_of(from, "to");
    piece.text = text_of(from, "text");
    for (const json::value& token : from.at("tokens").as_array()) piece.tokens.push_back(token.to_number<std::int64_t>());
    piece.temperature = number_of(from, "temperature");
    piece.avg_logprob = number_of(from, "avg_logprob");
    piece.compression_ratio = number_of(from, "compression_ratio");
    piece.no_speech_prob = number_of(from, "no_speech_prob");
    return piece;
}

transcript result_in(const json::object& from) {
    transcript result;
    result.text = text_of(from, "text");
    result.language = text_of(from, "language");
    result.duration_seconds = static_cast<double>(from.at("ms").to_number<std::int64_t>()) / 1000;
    for (const json::value& piece : from.at("segments").as_array()) {
        result.segments.push_back(segment_in(piece.as_object(), static_cast<std::int64_t>(result.segments.size())));
    }
    for (const json::value& each : from.at("words").as_array()) {
        const json::object& word = each.as_object();
        result.words.push_back({text_of(word, "word"), seconds_of(word, "from"), seconds_of(word, "to")});
    }
    return result;
}

message message_in(const json::object& from) {
    const json::string& type = from.at("type").as_string();
    if (type == "start") {
        return start_job{id_of(from),
                         text_of(from, "language"),
                         text_of(from, "prompt"),
                         number_of(from, "temperature"),
                         from.at("translate").as_bool(),
                         from.at("words").as_bool(),
                         from.at("tell").as_bool()};
    }
    if (type == "cancel") return cancel_job{id_of(from)};
    if (type == "ready") return helper_ready{text_of(from, "library"), from.at("multilingual").as_bool()};
    if (type == "broken") return helper_failed{text_of(from, "reason")};
    if (type == "step") return job_step{id_of(from), from.at("ms").to_number<std::int64_t>(), from.at("quiet").as_bool()};
    if (type == "heard") return job_heard{id_of(from), text_of(from, "text")};
    if (type == "done") return job_done{id_of(from), result_in(from.at("result").as_object())};
    if (type == "failed")
        return job_failed{id_of(from), errc_named(text_of(from, "code")), text_of(from, "message"), text_of(from, "param")};
    if (type == "cancelled") return job_cancelled{id_of(from)};
    throw std::invalid_argument("unknown message");
}

}  // namespace

std::string encode(const message& what) {
    const std::string payload = json::serialize(message_out(what));
    if (payload.size() > frame_bytes_max) {
        const auto* done = std::get_if<job_done>(&what);
        if (done == nullptr) return {};
        return encode(job_failed{done->id, errc::internal_error, "The transcript is too large.", {}});
    }
    std::string frame;
    frame.reserve(frame_head_bytes + payload.size());
    for (int shift = 24; shift >= 0; shift -= 8) frame.push_back(static_cast<char>(payload.size() >> shift & 0xFF));
    return frame.append(payload);
}

std::optional<message> decode(std::string_view payload) {
    try {
        return message_in(json::parse(payload).as_object());
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

void frame_reader::feed(std::string_view bytes) {
    if (broken_) return;
    // What was given out is dropped only here, so that a payload stays valid until the next call.
    bytes_.erase(0, std::exchange(taken_, 0));
    bytes_.append(bytes);
}

frame_reader::state frame_reader::next(std::string_view& payload) {
    if (broken_) return state::broken;
    const std::string_view left = std::string_view(bytes_).substr(taken_);
    if (left.size() < frame_head_bytes) return state::more;
    std::size_t size = 0;
    for (std::size_t i = 0; i < frame_head_bytes; ++i) size = size << 8 | static_cast<std::uint8_t>(left[i]);
    if (size > frame_bytes_max) {
        broken_ = true;
        bytes_ = {};
        taken_ = 0;
        return state::broken;
    }
    if (left.size() - frame_head_bytes < size) return state::more;
    payload = left.substr(frame_head_bytes, size);
    taken_ += frame_head_bytes + size;
    return state::frame;
}

}  // namespace hearonce::whisper
