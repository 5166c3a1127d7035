// The two health answers.
#include <http/error_response.hpp>
#include <http/health_answer.hpp>
#include <observe/json_text.hpp>

#include <algorithm>

namespace hearonce::http {

response live_answer() {
    return json_answer(200, R"({"status":"ok"})");
}

response ready_answer(std::span<const listed_backend> backends, bool draining) {
    const bool any = std::any_of(backends.begin(), backends.end(), [](const listed_backend& one) { return one.ready; });
    const bool ready = any && !draining;
    std::string body = R"({"status":")";
    body += draining ? "draining" : ready ? "ready" : "not_ready";
    body += R"(","backends":[)";
    for (const listed_backend& one : backends) {
        if (&one != backends.data()) body += ',';
        body += R"({"name":)";
        observe::append_json_string(body, one.name);
        body += one.ready ? R"(,"ready":true,"reason":)" : R"(,"ready":false,"reason":)";
        if (one.ready || one.reason.empty()) {
            body += "null}";
        } else {
            observe::append_json_string(body, one.reason);
            body += '}';
        }
    }
    body += "]}";
    return json_answer(ready ? 200 : 503, std::move(body));
}

}  // namespace hearonce::http
