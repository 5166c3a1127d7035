// Which models there are, as OpenAI lists them. Next file: sending.cpp.
#include <bench/upstream/openai_answer.hpp>

#include <array>

namespace hearonce::upstream {

namespace {

constexpr std::array<std::string_view, 8> listed = {
    "whisper-1",      "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-4o-mini-transcribe-2025-12-15", "gpt-4o-transcribe-diarize",
    "gpt-transcribe", "whisper-large-v3",  "whisper-large-v3-turbo"};

std::string model_object(std::string_view id) {
    const bool leaving = id == "whisper-1" || id.starts_with("gpt-4o");
    return R"({"id":")" + std::string(id) + R"(","object":"model","created":1677532384,"owned_by":"openai-internal","shutdown_date":)" +
           (leaving ? R"("2027-02-26"})" : "null}");
}

}  // namespace

answer openai_models() {
    answer made;
    made.body = R"({"object":"list","data":[)";
    for (const auto id : listed) made.body.append(made.body.back() == '[' ? "" : ",").append(model_object(id));
    made.body += "]}";
    return made;
}

answer openai_model(std::string_view id) {
    answer made;
    if (kind_of_model(id) == model_kind::unknown)
        return openai_refusal(404, "The model '" + std::string(id) + "' does not exist", "invalid_request_error", "model",
                              "model_not_found");
    made.body = model_object(id);
    return made;
}

}  // namespace hearonce::upstream
