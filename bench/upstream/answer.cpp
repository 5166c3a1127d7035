// How the two APIs say no. Next file: openai_answer.cpp.
#include <bench/upstream/answer.hpp>

#include <observe/json_text.hpp>

namespace hearonce::upstream {

namespace {

void append_or_null(std::string& out, std::string_view text) {
    if (text.empty()) {
        out += "null";
    } else {
        observe::append_json_string(out, text);
    }
}

std::string minute_quota(std::string_view retry_delay) {
    std::string details = R"({"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":)"
                          R"("generativelanguage.googleapis.com/generate_content_requests","quotaId":)"
                          R"("GenerateRequestsPerMinutePerProjectPerModel","quotaValue":"10"}]})";
    if (retry_delay.empty()) return details;
    details += R"(,{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":)";
    observe::append_json_string(details, retry_delay);
    return details + "}";
}

}  // namespace

std::string openai_error(std::string_view message, std::string_view type, std::string_view param, std::string_view code) {
    std::string out = "{\"error\":{\"message\":";
    observe::append_json_string(out, message);
    out += ",\"type\":";
    observe::append_json_string(out, type);
    out += ",\"param\":";
    append_or_null(out, param);
    out += ",\"code\":";
    append_or_null(out, code);
    return out += "}}";
}

std::string gemini_error(int http_status, std::string_view name, std::string_view message, std::string_view details) {
    std::string out = "{\"error\":{\"code\":";
    observe::append_integer(out, http_status);
    out += ",\"message\":";
    observe::append_json_string(out, message);
    out += ",\"status\":";
    observe::append_json_string(out, name);
    if (!details.empty()) out.append(",\"details\":[").append(details).append("]");
    return out += "}}";
}

answer openai_refusal(int status, std::string_view message, std::string_view type, std::string_view param, std::string_view code) {
    answer made;
    made.status = status;
    made.body = openai_error(message, type, param, code);
    return made;
}

answer gemini_refusal(int http_status, std::string_view name, std::string_view message, std::string_view details) {
    answer made;
    made.status = http_status;
    made.content_type = "application/json; charset=UTF-8";
    made.body = gemini_error(http_status, name, message, details);
    return made;
}

answer openai_refusal_of(int status) {
    switch (status) {
        case 401: return openai_key_refusal();
        case 403:
            return openai_refusal(403, "Country, region, or territory not supported", "request_forbidden", {},
                                  "unsupported_country_region_territory");
        case 404:
            return openai_refusal(404, "The model `x` does not exist or you do not have access to it.", "invalid_request_error", {},
                                  "model_not_found");
        case 413: return openai_refusal(413, "Maximum content size limit (26214400) exceeded (222592852 bytes read)", "server_error");
        case 429:
            return openai_refusal(429, "Rate limit reached for whisper-1 on requests per min (RPM): Limit 3, Used 3, Requested 1.",
                                  "requests", {}, "rate_limit_exceeded");
        case 503:
            return openai_refusal(503, "The engine is currently overloaded, please try again later", "service_unavailable_error", {},
                                  "server_is_overloaded");
        default: break;
    }
    if (status >= 500)
        return openai_refusal(status, "The server had an error while processing your request. Sorry about that!", "server_error");
    return openai_refusal(status, "The request was refused.");
}

std::string_view google_status_name(int http_status) noexcept {
    switch (http_status) {
        case 400: return "INVALID_ARGUMENT";
        case 401: return "UNAUTHENTICATED";
        case 403: return "PERMISSION_DENIED";
        case 404: return "NOT_FOUND";
        case 409: return "ABORTED";
        case 429: return "RESOURCE_EXHAUSTED";
        case 499: return "CANCELLED";
        case 500: return "INTERNAL";
        case 501: return "UNIMPLEMENTED";
        case 503: return "UNAVAILABLE";
        case 504: return "DEADLINE_EXCEEDED";
        default: return http_status < 500 ? "FAILED_PRECONDITION" : "UNKNOWN";
    }
}

answer gemini_refusal_of(int status, std::string_view retry_delay) {
    const auto name = google_status_name(status);
    switch (status) {
        case 429: return gemini_refusal(429, name, "Resource has been exhausted (e.g. check quota).", minute_quota(retry_delay));
        case 500: return gemini_refusal(500, name, "An internal error has occurred. Please retry or report.");
        case 503: return gemini_refusal(503, name, "The model is overloaded. Please try again later.");
        case 504: return gemini_refusal(504, name, "The request timed out. Please try again.");
        default: return gemini_refusal(status, name, "The request was refused.");
    }
}

answer refused_fault(std::string_view why, bool gemini) {
    if (gemini) return gemini_refusal(400, "INVALID_ARGUMENT", "Upstream double: " + std::string(why));
    return openai_refusal(400, why, "upstream_double");
}

answer openai_key_refusal() {
    return openai_refusal(401, "Incorrect API key provided: sk-****. You can find your API key in your account settings.",
                          "invalid_request_error", {}, "invalid_api_key");
}

answer gemini_key_refusal() {
    return gemini_refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
                          R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID",)"
                          R"("domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}},)"
                          R"({"@type":"type.googleapis.com/google.rpc.LocalizedMessage","locale":"en-US",)"
                          R"("message":"API key not valid. Please pass a valid API key."})");
}

}  // namespace hearonce::upstream
