// Next file: scenario.cpp.
#include <bench/upstream/control.hpp>

#include <bench/upstream/gemini_answer.hpp>
#include <bench/upstream/keys.hpp>
#include <bench/upstream/openai_answer.hpp>

#include <boost/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hearonce::upstream {

namespace {

namespace json = boost::json;

answer complaint(std::string_view message) {
    return openai_refusal(400, message, "upstream_double");
}

std::optional<std::vector<std::string>> strings_of(const json::value& list) {
    if (!list.is_array()) return std::nullopt;
    std::vector<std::string> all;
    for (const auto& one : list.get_array()) {
        if (!one.is_string()) return std::nullopt;
        all.emplace_back(one.get_string());
    }
    return all;
}

}  // namespace

answer set_faults(scenario& of, std::string_view text) {
    constexpr auto usage = R"(Send ["FAULT", ...] or {"script": ["FAULT", ...], "always": "FAULT", "others": "FAULT"}, or some of it.)";
    boost::system::error_code failed;
    auto value = json::parse(text, failed);
    if (!failed && value.is_array()) value = json::object{{"script", std::move(value)}};
    if (failed || !value.is_object() || value.get_object().empty()) return complaint(usage);
    for (const auto& [name, wanted] : value.get_object()) {
        result<void> set;
        if (const auto list = strings_of(wanted); name == "script" && list) {
            set = of.script(*list);
        } else if (name == "always" && wanted.is_string()) {
            set = of.always(std::string_view(wanted.get_string()));
        } else if (name == "others" && wanted.is_string()) {
            set = of.others(std::string_view(wanted.get_string()));
        } else {
            return complaint(usage);
        }
        if (!set) return complaint(set.error().message());
    }
    answer made;
    made.body = R"({"script_left":)" + std::to_string(of.script_left()) + "}";
    return made;
}

answer answer_other(const http::request_head& head, const route& to, const settings& how) {
    const bool models = to.what != ask::unknown;
    if (auto refused = models ? refused_key(head, to, how) : std::nullopt) return *std::move(refused);
    switch (to.what) {
        case ask::openai_models: return openai_models();
        case ask::openai_model: return openai_model(to.model);
        case ask::gemini_models: return gemini_models();
        case ask::gemini_model: return gemini_model(to.model);
        default: break;
    }
    if (to.gemini) return gemini_refusal(404, "NOT_FOUND", "The requested URL was not found on this server.");
    return openai_refusal(404, "Invalid URL (" + head.method + " " + head.path + ")");
}

}  // namespace hearonce::upstream
