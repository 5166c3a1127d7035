// Finds message, param and code, and what they come to. Next file: backends/cloud/quoted_message.cpp.
#include <backends/cloud/quoted_message.hpp>
#include <backends/openai/json_reading.hpp>
#include <backends/openai/refusal.hpp>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace hearonce::openai {
namespace {

namespace json = boost::json;

constexpr std::size_t param_bytes_max = 64;

struct words {
    std::string_view message, param, code, type;
};

// FastAPI: a text, or a list of what is wrong with which field.
std::string_view detail_of(const json::object& body) noexcept {
    const json::value* detail = member(body, "detail");
    if (detail == nullptr) return {};
    if (detail->is_string()) return text_of(body, "detail");
    const json::array* list = detail->if_array();
    const json::object* first = list == nullptr || list->empty() ? nullptr : list->front().if_object();
    return first == nullptr ? std::string_view() : text_of(*first, "msg");
}

words words_of(const json::object& body) {
    const json::value* inner = member(body, "error");
    const json::object& from = inner != nullptr && inner->is_object() ? inner->get_object() : body;
    words found{text_of(from, "message"), text_of(from, "param"), text_of(from, "code"), text_of(from, "type")};
    if (found.message.empty()) found.message = text_of(body, "error");
    if (found.message.empty()) found.message = detail_of(body);
    return found;
}

bool is_money(const words& said) noexcept {
    constexpr std::string_view codes[] = {"insufficient_quota",
                                          "credit_balance_exhausted",
                                          "organization_spend_limit_exceeded",
                                          "project_spend_limit_exceeded",
                                          "organization_usage_limit_exceeded",
                                          "billing_hard_limit_reached",
                                          "billing_not_active"};
    return std::ranges::any_of(codes, [&said](std::string_view code) { return said.code == code || said.type == code; });
}

bool holds(std::string_view text, std::string_view part) noexcept {
    return text.find(part) != std::string_view::npos;
}

errc nearest_of(const words& said) noexcept {
    if (said.code == "audio_too_short") return errc::audio_too_short;
    if (said.code == "unsupported_value") return errc::unsupported_value;
    if (said.code == "model_not_found") return errc::model_not_found;
    // These come with no code, or with one of several (quoted by users).
    constexpr std::string_view undecodable[] = {"could not be decoded", "corrupted or unsupported", "Invalid file format",
                                                "does not support the format"};
    const bool audio = std::ranges::any_of(undecodable, [&said](std::string_view part) { return holds(said.message, part); });
    return audio || said.code == "unsupported_format" ? errc::unsupported_audio : errc::invalid_parameter;
}

}  // namespace

refusal refusal_of(std::string_view body, std::string_view key) {
    refusal made;
    const auto parsed = parse_object(body);
    if (!parsed) return made;
    const words said = words_of(*parsed);
    made.readable = true;
    made.message = cloud::quoted_message(said.message, key);
    if (said.param.size() <= param_bytes_max) made.param = cloud::quoted_message(said.param, key);
    made.nearest = nearest_of(said);
    made.money = is_money(said);
    made.about_model =
        said.code == "model_not_found" || said.param == "model" || holds(said.message, "model") || holds(said.message, "Model");
    return made;
}

}  // namespace hearonce::openai
