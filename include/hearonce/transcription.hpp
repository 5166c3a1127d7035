// What a caller asks for and what comes back, in the words of OpenAI's audio API.
//
// Holds: task, response_format, detail, form_field, transcription_request, json_member, transcript, transcript_delta. Next
// file: delta_log.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce {

enum class task : std::uint8_t { transcribe, translate };

enum class response_format : std::uint8_t { json, text, verbose_json, srt, vtt, diarized_json };

// The class of detail a format needs; one class never serves another, so it is part of the work key.
enum class detail : std::uint8_t {
    plain,     // json, text
    timed,     // verbose_json, srt, vtt
    diarized,  // diarized_json
};

constexpr detail detail_of(response_format format) noexcept {
    switch (format) {
        case response_format::json:
        case response_format::text: return detail::plain;
        case response_format::verbose_json:
        case response_format::srt:
        case response_format::vtt: return detail::timed;
        case response_format::diarized_json: return detail::diarized;
    }
    return detail::plain;
}

// One form field that is not the file, name and value byte for byte as they came.
struct form_field {
    std::string name;
    std::string value;
    friend bool operator==(const form_field&, const form_field&) = default;
};

// The settings of one piece of work. `fields` keeps everything the caller sent but `file`, `model`, `response_format` and
// `stream`, in the order it came, empty values left out: backends that relay send these; the members after it are the same
// values parsed for engines that do the work themselves.
struct transcription_request {
    hearonce::task task = hearonce::task::transcribe;
    std::string model;  // As the caller named it, or the default model; never empty once routed.
    response_format format = response_format::json;
    bool stream = false;
    std::vector<form_field> fields;

    std::string caller;  // Whose work it is, for queues in which callers take turns. Never sent on, not part of the key.

    std::string language;  // Empty: detect.
    std::string prompt;
    double temperature = 0;     // 0..1
    bool word_times = false;    // timestamp_granularities[] names `word`.
    bool segment_times = true;  // ... names `segment`, or nothing was asked.
};

struct word_time {
    std::string word;  // No leading space.
    double start_seconds = 0;
    double end_seconds = 0;
};

// All ten keys of a verbose segment are numbers or text, never null (strict SDKs refuse null).
struct segment {
    std::int64_t id = 0;
    std::int64_t seek = 0;  // Centiseconds of audio before the window this segment came from.
    double start_seconds = 0;
    double end_seconds = 0;
    std::string text;  // Begins with a space.
    std::vector<std::int64_t> tokens;
    double temperature = 0;
    double avg_logprob = 0;
    double compression_ratio = 0;
    double no_speech_prob = 0;
    std::string speaker{};  // diarized_json only: "A", "B", ... or a name the caller gave.
};

// A member of an upstream's JSON answer that is handed on as it came: `usage`, `logprobs`, `languages`.
struct json_member {
    std::string name;
    std::string json;  // The value: valid JSON in one line.
};

// A finished piece of work. Immutable once made; shared by every waiter and by the store.
struct transcript {
    std::string text;             // Trimmed, valid UTF-8.
    std::string language;         // Full English name in lower case ("english"); empty when unknown.
    double duration_seconds = 0;  // Of the audio; 0 when unknown.
    std::vector<segment> segments;
    std::vector<word_time> words;
    std::string backend;            // Name of the backend that did the work.
    bool had_audio = true;          // False: nothing was processed (so an empty text is no surprise).
    std::vector<json_member> more;  // Stands behind the text in json, verbose_json, diarized_json and a stream's last record.

    // Bytes this result holds, for the store's bound.
    std::size_t size_bytes() const noexcept {
        std::size_t bytes = sizeof(*this) + text.size() + language.size() + backend.size();
        for (const auto& one : segments)
            bytes += sizeof(one) + one.text.size() + one.speaker.size() + one.tokens.size() * sizeof(std::int64_t);
        for (const auto& one : words) bytes += sizeof(one) + one.word.size();
        for (const auto& one : more) bytes += sizeof(one) + one.name.size() + one.json.size();
        return bytes;
    }
};

// A piece of a transcript that is told before its end. The texts of all pieces joined are the transcript's text.
struct transcript_delta {
    std::string text;
    std::optional<segment> turn{};    // diarized_json only: a speaker's turn, told beside the text.
    std::vector<json_member> more{};  // `logprobs` of this piece.
};

}  // namespace hearonce
