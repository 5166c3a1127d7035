// One run of whisper_full_with_state() on a state of its own. Next file: serve.cpp.
#include <backends/whisper/utf8.hpp>
#include <backends/whisper/worker/decode.hpp>
#include <backends/whisper/worker/recognise.hpp>
#include <backends/whisper/worker/words.hpp>
#include <hearonce/ascii.hpp>

#include <whisper.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <exception>
#include <memory>
#include <string>

namespace hearonce::whisper {
namespace {

// The library keeps the last half of its text window (224 tokens of the usual models) and fails above 1024 tokens.
constexpr std::size_t prompt_bytes_max = 1000;

struct free_state {
    void operator()(whisper_state* state) const noexcept { whisper_free_state(state); }
};
using state_pointer = std::unique_ptr<whisper_state, free_state>;

// What the callbacks see.
struct run {
    const std::atomic<bool>& cancelled;
    const std::function<void()>& step;
    const std::function<void(std::string)>* heard = nullptr;  // When pieces are to be told.
    running_text text{};
    whisper_state* state = nullptr;
    std::vector<std::int64_t> seeks;  // Of each segment: where its window began.
    std::int64_t window = 0;
};

bool asked_to_abort(void* opaque) {
    const auto& now = *static_cast<run*>(opaque);
    now.step();
    return now.cancelled.load(std::memory_order_relaxed);
}

// A window begins where the last segment so far ended.
bool window_begins(whisper_context*, whisper_state* state, void* opaque) {
    auto& now = *static_cast<run*>(opaque);
    const int count = whisper_full_n_segments_from_state(state);
    if (count > 0) now.window = std::max(now.window, whisper_full_get_segment_t1_from_state(state, count - 1));
    return !asked_to_abort(opaque);
}

void segments_added(whisper_context*, whisper_state* state, int count, void* opaque) {
    auto& now = *static_cast<run*>(opaque);
    now.seeks.insert(now.seeks.end(), static_cast<std::size_t>(count), now.window);
    if (now.heard == nullptr) return;
    const int all = whisper_full_n_segments_from_state(state);
    for (int i = all - count; i < all; ++i) {
        std::string fresh = now.text.add(whisper_full_get_segment_text_from_state(state, i));
        if (!fresh.empty()) (*now.heard)(std::move(fresh));
    }
}

// Id of the language asked for: -1 to detect it, or nullopt when there is none of this name.
std::optional<int> language_id(std::string name) {
    name = ascii::lowered(name);
    if (name.empty() || name == "auto") return -1;
    int id = whisper_lang_id(name.c_str());
    // "en-US": the region makes no difference.
    if (const std::size_t dash = name.find_first_of("-_"); id < 0 && dash != std::string::npos)
        id = whisper_lang_id(name.substr(0, dash).c_str());
    if (id < 0) return std::nullopt;
    return id;
}

double seconds_of(std::int64_t centiseconds) {
    return static_cast<double>(centiseconds) / 100;
}

double finite_of(double value) {
    return std::isfinite(value) ? value : 0;
}

// One segment; its text tokens are added to `pieces` for the words.
segment segment_at(whisper_context* context, whisper_state* state, int at, double duration, std::vector<token_piece>& pieces) {
    segment out;
    out.text = whisper_full_get_segment_text_from_state(state, at);
    out.start_seconds = seconds_of(whisper_full_get_segment_t0_from_state(state, at));
    out.end_seconds = seconds_of(whisper_full_get_segment_t1_from_state(state, at));
    clamp_times(out.start_seconds, out.end_seconds, duration);
    out.no_speech_prob = std::clamp(finite_of(whisper_full_get_segment_no_speech_prob_from_state(state, at)), 0.0, 1.0);
    const whisper_token text_end = whisper_token_eot(context);
    double logprobs = 0;
    int counted = 0;
    const int count = whisper_full_n_tokens_from_state(state, at);
    for (int i = 0; i < count; ++i) {
        const whisper_token_data token = whisper_full_get_token_data_from_state(state, at, i);
        out.tokens.push_back(token.id);
        if (token.id >= text_end) continue;
        logprobs += std::log(std::max(finite_of(token.p), 1e-10));
        ++counted;
        token_piece piece{whisper_full_get_token_text_from_state(context, state, at, i), out.start_seconds, out.end_seconds};
        if (token.t0 >= 0 && token.t1 >= token.t0) {
            piece.start_seconds = seconds_of(token.t0);
            piece.end_seconds = seconds_of(token.t1);
        }
        clamp_times(piece.start_seconds, piece.end_seconds, duration);
        pieces.push_back(std::move(piece));
    }
    if (counted > 0) out.avg_logprob = logprobs / counted;
    return out;
}

transcript transcript_of(const model& with, const run& now, const start_job& wishes, int language, double duration) {
    transcript out;
    std::vector<token_piece> pieces;
    const int count = whisper_full_n_segments_from_state(now.state);
    for (int i = 0; i < count; ++i) {
        segment piece = segment_at(with.context.get(), now.state, i, duration, pieces);
        const auto at = static_cast<std::size_t>(i);
        piece.id = i;
        piece.seek = at < now.seeks.size() ? now.seeks[at] : 0;
        piece.temperature = wishes.temperature;
        out.segments.push_back(std::move(piece));
    }
    mend_segments(out.segments);
    // Segments without a letter are the library's way of saying nothing.
    std::erase_if(out.segments, [](const segment& each) { return each.text.find_first_not_of(' ') == std::string::npos; });
    for (std::size_t i = 0; i < out.segments.size(); ++i) {
        out.segments[i].id = static_cast<std::int64_t>(i);
        out.segments[i].compression_ratio = compression_ratio_of(out.segments[i].text);
    }
    out.text = text_of(out.segments);
    out.duration_seconds = duration;
    const int spoken = language >= 0 ? language : whisper_full_lang_id_from_state(now.state);
    const char* code = spoken >= 0 ? whisper_lang_str(spoken) : nullptr;
    const bool english = !with.multilingual || wishes.translate;
    if (wishes.word_times) out.words = words_of(pieces, !english && code != nullptr && written_without_spaces(code));
    const char* name = spoken >= 0 ? whisper_lang_str_full(spoken) : nullptr;
    if (english)
        out.language = "english";
    else if (name != nullptr)
        out.language = name;
    return out;
}

result<transcript> checked_run(const model& with, const std::vector<float>& samples, const start_job& wishes,
                               const recognise_settings& settings, const std::function<void()>& quiet, run& now, int language) {
    // From here to the first pass of the encoder nothing calls back: the state, the spectrum, the language's detection.
    quiet();
    state_pointer state(whisper_init_state(with.context.get()));
    if (!state) return error(errc::upstream_error, "The local engine is out of memory.");
    if (now.cancelled.load()) return error(errc::cancelled);
    now.state = state.get();
    const std::string prompt = std::string(utf8_tail(wishes.prompt, prompt_bytes_max));

    whisper_full_params params = whisper_full_default_params(WHISPER_SAMPLING_GREEDY);
    params.n_threads = std::max(settings.threads, 1);
    params.language = !with.multilingual ? "en" : language < 0 ? "auto" : whisper_lang_str(language);
    params.translate = wishes.translate && with.multilingual;
    params.no_context = true;  // Between runs; the state is fresh anyway.
    if (settings.no_context) params.n_max_text_ctx = 0;
    params.initial_prompt = prompt.empty() ? nullptr : prompt.c_str();
    params.temperature = static_cast<float>(wishes.temperature);
    params.suppress_nst = true;  // No "[BLANK_AUDIO]" or "(music)" for what is not speech.
    params.token_timestamps = wishes.word_times;
    params.print_progress = false;
    params.print_realtime = false;
    params.print_timestamps = false;
    params.abort_callback = asked_to_abort;
    params.abort_callback_user_data = &now;
    params.encoder_begin_callback = window_begins;
    params.encoder_begin_callback_user_data = &now;
    params.new_segment_callback = segments_added;
    params.new_segment_callback_user_data = &now;

    const int rc = whisper_full_with_state(with.context.get(), state.get(), params, samples.data(), static_cast<int>(samples.size()));
    if (rc == -7) static_cast<void>(state.release());  // It has freed the state itself.
    // An abort before an encoder pass looks like success.
    if (now.cancelled.load()) return error(errc::cancelled);
    if (rc != 0) return error(errc::upstream_error, "The local engine failed (" + std::to_string(rc) + ").");
    return transcript_of(with, now, wishes, language, static_cast<double>(samples.size()) / samples_per_second);
}

}  // namespace

result<transcript> recognise(const model& with, const std::vector<float>& samples, const start_job& wishes,
                             const recognise_settings& settings, const std::atomic<bool>& cancelled, const std::function<void()>& step,
                             const std::function<void()>& quiet, const std::function<void(std::string)>& heard) {
    assert(samples.size() >= samples_min);
    int language = -1;
    if (with.multilingual) {
        const std::optional<int> found = language_id(wishes.language);
        if (!found)
            return error(errc::invalid_parameter, "The language is not known. Use a code such as 'de' or an English name such as 'german'.",
                         "language");
        language = *found;
    }
    run now{.cancelled = cancelled, .step = step, .heard = wishes.tell ? &heard : nullptr, .seeks = {}};
    try {
        return checked_run(with, samples, wishes, settings, quiet, now, language);
    } catch (const std::exception& thrown) {
        return error(errc::upstream_error, std::string("The local engine failed: ") + thrown.what());
    }
}

}  // namespace hearonce::whisper
