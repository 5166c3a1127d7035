// Rules by name. Next file: request_form.cpp.
#include <backends/openai/model_rules.hpp>

#include <array>
#include <string>

namespace hearonce::openai {
namespace {

// Relays in front of OpenAI write "openai/whisper-1".
std::string_view plain_name(std::string_view model) noexcept {
    constexpr std::string_view owner = "openai/";
    if (model.starts_with(owner)) model.remove_prefix(owner.size());
    return model;
}

std::string_view name_of(response_format format) noexcept {
    switch (format) {
        case response_format::json: return "json";
        case response_format::text: return "text";
        case response_format::srt: return "srt";
        case response_format::vtt: return "vtt";
        case response_format::verbose_json: return "verbose_json";
        case response_format::diarized_json: return "diarized_json";
    }
    return "json";
}

std::string_view formats_of(const model_rules& rules) noexcept {
    if (rules.timed) return "'json', 'text', 'srt', 'verbose_json' or 'vtt'";
    return rules.diarized ? "'json', 'text' or 'diarized_json'" : "'json' or 'text'";
}

}  // namespace

model_rules rules_of(std::string_view upstream_model) noexcept {
    const std::string_view model = plain_name(upstream_model);
    model_rules rules;
    if (model == "whisper-1") rules.diarized = false;
    if (model.starts_with("gpt-")) {
        rules.timed = false;
        rules.diarized = model.find("-diarize") != std::string_view::npos;
        rules.streams = true;
        rules.translates = false;
    }
    return rules;
}

std::string_view shutdown_date_of(std::string_view upstream_model) noexcept {
    const std::string_view model = plain_name(upstream_model);
    const bool ends = model == "whisper-1" || (model.starts_with("gpt-4o") && model.find("-transcribe") != std::string_view::npos);
    return ends ? "2027-02-26" : "";
}

std::span<const std::string_view> published_models() noexcept {
    static constexpr std::array<std::string_view, 6> names{
        "gpt-transcribe", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-4o-mini-transcribe-2025-12-15", "gpt-4o-transcribe-diarize",
        "whisper-1"};
    return names;
}

result<void> check_supported(const transcription_request& request, std::string_view upstream_model) {
    const model_rules rules = rules_of(upstream_model);
    if (request.task == task::translate && !rules.translates) {
        return error(errc::unsupported_value, "Model '" + request.model + "' cannot translate. Use 'whisper-1' instead.", "model");
    }
    const detail needed = detail_of(request.format);
    if ((needed == detail::timed && !rules.timed) || (needed == detail::diarized && !rules.diarized)) {
        return error(errc::unsupported_value,
                     "response_format '" + std::string(name_of(request.format)) + "' is not compatible with model '" + request.model +
                         "'. Use " + std::string(formats_of(rules)) + " instead.",
                     "response_format");
    }
    return {};
}

}  // namespace hearonce::openai
