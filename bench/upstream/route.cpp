// Next file: session.cpp.
#include <bench/upstream/route.hpp>

#include <algorithm>
#include <string_view>

namespace hearonce::upstream {

namespace {

bool take(std::string_view& path, std::string_view prefix) {
    if (!path.starts_with(prefix)) return false;
    path.remove_prefix(prefix.size());
    return true;
}

route control(std::string_view path, std::string_view method) {
    if (path == "/_stats" && method == "GET") return {ask::stats, false, false, {}};
    if (path == "/_reset" && method == "POST") return {ask::reset, false, false, {}};
    if (path == "/_faults" && method == "POST") return {ask::faults, false, false, {}};
    return {};
}

// `rest` is what follows ".../models".
route gemini(std::string_view rest, const http::request_head& head) {
    route made;
    made.gemini = true;
    if (rest.empty() && head.method == "GET") made.what = ask::gemini_models;
    if (!take(rest, "/") || rest.empty()) return made;
    const auto colon = rest.find(':');
    made.model = rest.substr(0, colon);
    const auto verb = colon == std::string_view::npos ? std::string_view() : rest.substr(colon);
    if (head.method == "GET" && verb.empty()) made.what = ask::gemini_model;
    if (head.method == "POST" && verb == ":generateContent") made.what = ask::gemini_generate;
    if (head.method == "POST" && verb == ":streamGenerateContent") made.what = ask::gemini_stream;
    made.sse = made.what == ask::gemini_stream && query_has(head.query, "alt", "sse");
    return made;
}

route openai(std::string_view rest, std::string_view method) {
    route made;
    if (method == "POST" && rest == "/audio/transcriptions") made.what = ask::transcription;
    if (method == "POST" && rest == "/audio/translations") made.what = ask::translation;
    if (method == "GET" && rest == "/models") made.what = ask::openai_models;
    if (method == "GET" && take(rest, "/models/") && !rest.empty()) {
        made.what = ask::openai_model;
        made.model = rest;
    }
    return made;
}

// Without what a base address has before the API's own path, "/openai" among it: the first version there is begins the path, so
// that one joined on twice is found to be wrong.
std::string_view behind_prefix(std::string_view path) {
    auto first = path.size();
    for (const std::string_view begins : {"/v1beta/", "/v1/", "/openai/deployments/"}) first = std::min(first, path.find(begins));
    return first == path.size() ? path : path.substr(first);
}

}  // namespace

bool query_has(std::string_view query, std::string_view name, std::string_view value) {
    while (!query.empty()) {
        const auto pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        const auto equals = pair.find('=');
        if (pair.substr(0, equals) != name) continue;
        if (value.empty()) return true;
        if (equals != std::string_view::npos && pair.substr(equals + 1) == value) return true;
    }
    return false;
}

route route_of(const http::request_head& head) {
    if (head.path.starts_with("/_")) return control(head.path, head.method);
    std::string_view path = behind_prefix(head.path);
    if (take(path, "/v1beta/models")) return gemini(path, head);
    if (head.find("x-goog-api-key") || path.find(':') != std::string_view::npos) {
        if (take(path, "/v1/models")) return gemini(path, head);
        route none;
        none.gemini = true;
        return none;
    }
    std::string deployment;
    if (take(path, "/openai/deployments/")) {
        const auto slash = path.find('/');
        deployment = path.substr(0, slash);
        path.remove_prefix(std::min(path.size(), deployment.size()));
    } else if (!take(path, "/v1")) {
        return {};
    }
    auto made = openai(path, head.method);
    if (!deployment.empty()) made.model = deployment;
    return made;
}

}  // namespace hearonce::upstream
