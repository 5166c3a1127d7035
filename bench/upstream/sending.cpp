// Next file: session.cpp.
#include <bench/upstream/sending.hpp>

#include <observe/json_text.hpp>

#include <array>
#include <charconv>
#include <ctime>
#include <utility>

namespace hearonce::upstream {

namespace {

std::string_view reason_of(int status) {
    switch (status) {
        case 200: return "OK";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 413: return "Content Too Large";
        case 429: return "Too Many Requests";
        case 500: return "Internal Server Error";
        case 502: return "Bad Gateway";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        default: return "Unnamed";
    }
}

answer html(int status) {
    answer made;
    made.status = status;
    made.content_type = "text/html; charset=utf-8";
    made.body = status == 502
                    ? "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>\n"
                    : "<!DOCTYPE html><html><body><p>Please sign in to this network.</p></body></html>\n";
    return made;
}

answer no_quota(bool gemini) {
    if (!gemini)
        return openai_refusal(429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", {},
                              "insufficient_quota");
    return gemini_refusal(
        429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.",
        R"({"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":)"
        R"("generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":)"
        R"("GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaDimensions":{"location":"global"},"quotaValue":"250"}]},)"
        R"({"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Learn more about quotas",)"
        R"("url":"https://example.invalid/quotas"}]})");
}

answer huge(std::size_t bytes, bool gemini) {
    answer made;
    made.body = gemini ? R"({"candidates":[{"content":{"role":"model","parts":[{"text":")" : R"({"text":")";
    made.body.append(bytes, 'a');
    made.body += gemini ? R"("}]},"finishReason":"STOP","index":0}]})" : R"("})";
    return made;
}

std::string retry_after_value(const std::string& asked, std::chrono::system_clock::time_point now) {
    if (!asked.starts_with("date")) return asked;
    std::uint32_t seconds = 2;
    if (asked.size() > 5) std::from_chars(asked.data() + 5, asked.data() + asked.size(), seconds);
    return http_date(now + std::chrono::seconds(seconds));
}

// Gemini says it in the body.
std::string retry_delay_of(const fault& wrong) {
    if (wrong.retry_after == "none") return {};
    return wrong.retry_after && !wrong.retry_after->starts_with("date") ? *wrong.retry_after + "s" : "2s";
}

void add_retry_after(answer& to, const fault& wrong, std::chrono::system_clock::time_point now) {
    if (wrong.retry_after && wrong.retry_after != "none") to.headers.push_back({"Retry-After", retry_after_value(*wrong.retry_after, now)});
    if (!wrong.retry_after_ms) return;
    std::array<char, 32> text{};
    const auto [end, failed] = std::to_chars(text.data(), text.data() + text.size(), *wrong.retry_after_ms);
    if (failed == std::errc()) to.headers.push_back({"retry-after-ms", std::string(text.data(), end)});
}

answer replaced(answer right, const fault& wrong, bool gemini) {
    if (wrong.status != 0) return gemini ? gemini_refusal_of(wrong.status, retry_delay_of(wrong)) : openai_refusal_of(wrong.status);
    switch (wrong.answer) {
        case fault::instead::html_502: return html(502);
        case fault::instead::html_200: return html(200);
        case fault::instead::insufficient_quota: return no_quota(gemini);
        case fault::instead::key_invalid: return gemini ? gemini_key_refusal() : openai_key_refusal();
        case fault::instead::huge_body: return huge(wrong.huge_bytes, gemini);
        case fault::instead::not_json:
            right.content_type = "application/json";
            right.body = "{\"text\": \"cut";
            right.records.clear();
            return right;
        default: break;  // What is heard was changed before, or nothing is wrong with the answer itself.
    }
    if (wrong.sse_error && !right.streamed()) return gemini ? gemini_refusal_of(500) : openai_refusal_of(500);
    return right;
}

std::string chunk_of(std::string_view data) {
    std::array<char, 16> size{};
    const auto [end, failed] = std::to_chars(size.data(), size.data() + size.size(), data.size(), 16);
    std::string out(size.data(), end);
    return out.append("\r\n").append(data).append("\r\n");
}

std::string error_record(bool gemini) {
    if (gemini) return "data: " + gemini_error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.") + "\r\n\r\n";
    auto error = openai_error("The server had an error while processing your request. Sorry about that!", "server_error", {}, {});
    return R"(data: {"type":"error",)" + error.substr(1) + "\n\n";
}

// Whether the stream reaches its end.
bool add_records(sending& to, const answer& what, const fault& wrong, bool gemini) {
    const auto half = what.records.size() / 2;
    const bool cut = wrong.cut != fault::sse_cut::whole || wrong.half_body;
    for (std::size_t index = 0; index < what.records.size(); ++index) {
        const auto& one = what.records[index];
        if (index == half && wrong.sse_error) {
            to.pieces.push_back(chunk_of(error_record(gemini)));
            break;
        }
        if (index == half && cut) {
            if (wrong.cut != fault::sse_cut::between) to.pieces.push_back(chunk_of(std::string_view(one).substr(0, one.size() / 2)));
            return false;
        }
        to.pieces.push_back(chunk_of(one));
    }
    to.pieces.emplace_back("0\r\n\r\n");
    return true;
}

std::string head_of(const answer& what, bool keep, std::string_view request_id) {
    std::string head = "HTTP/1.1 " + std::to_string(what.status) + " ";
    head.append(reason_of(what.status)).append("\r\nContent-Type: ").append(what.content_type).append("\r\n");
    if (what.streamed()) {
        head += "Transfer-Encoding: chunked\r\n";
    } else {
        head.append("Content-Length: ").append(std::to_string(what.body.size())).append("\r\n");
    }
    head.append("x-request-id: ").append(request_id).append("\r\n");
    for (const auto& one : what.headers) head.append(one.name).append(": ").append(one.value).append("\r\n");
    if (!keep) head += "Connection: close\r\n";
    return head += "\r\n";
}

}  // namespace

std::string http_date(std::chrono::system_clock::time_point when) {
    const auto seconds = std::chrono::system_clock::to_time_t(when);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    constexpr std::array<const char*, 7> days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    // Not strftime's names: they follow the locale.
    std::array<char, 32> clock{};
    std::strftime(clock.data(), clock.size(), " %Y %H:%M:%S GMT", &parts);
    const auto day = std::to_string(parts.tm_mday);
    return std::string(days[static_cast<std::size_t>(parts.tm_wday)]) + ", " + (day.size() < 2 ? "0" : "") + day + " " +
           months[static_cast<std::size_t>(parts.tm_mon)] + clock.data();
}

answer with_fault(answer right, const fault& wrong, bool gemini, std::chrono::system_clock::time_point now) {
    auto made = replaced(std::move(right), wrong, gemini);
    add_retry_after(made, wrong, now);
    return made;
}

sending sending_of(const answer& what, const fault& wrong, bool gemini, bool keep, std::string_view request_id) {
    sending made;
    made.pace = wrong.pace;
    made.drip = wrong.drip;
    made.then = keep ? sending::end::keep : sending::end::close;
    if (keep) made.idle_close = wrong.idle_close;
    if (wrong.hang) {
        made.then = sending::end::hang;
        return made;
    }
    if (wrong.reset == fault::reset_at::after_body) {
        made.then = sending::end::reset;
        return made;
    }
    made.pieces.push_back(head_of(what, keep, request_id));
    if (wrong.reset == fault::reset_at::after_head) {
        made.then = sending::end::reset;
        return made;
    }
    if (what.streamed()) {
        if (!add_records(made, what, wrong, gemini)) made.then = sending::end::close;
    } else if (wrong.half_body || wrong.cut != fault::sse_cut::whole) {
        made.pieces.push_back(what.body.substr(0, what.body.size() / 2));
        made.then = sending::end::close;
    } else {
        made.pieces.front() += what.body.size() < 4096 ? what.body : std::string();
        if (what.body.size() >= 4096) made.pieces.push_back(what.body);
    }
    return made;
}

}  // namespace hearonce::upstream
