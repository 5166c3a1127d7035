// Output of the program used by hand. The gateway renders transcripts itself (src/http). Next file: none.
#include <backends/whisper/worker/print.hpp>

#include <boost/json.hpp>

#include <cmath>
#include <cstdio>

namespace hearonce::whisper {
namespace {

std::string clock_text(double seconds) {
    const long long ms = std::llround(seconds * 1000);
    char text[40];
    std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld,%03lld", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
    return text;
}

std::string srt(const transcript& result) {
    std::string out;
    for (const segment& each : result.segments) {
        const std::size_t from = std::min(each.text.find_first_not_of(' '), each.text.size());
        out += std::to_string(each.id + 1) + "\n" + clock_text(each.start_seconds) + " --> " + clock_text(each.end_seconds) + "\n" +
               each.text.substr(from) + "\n\n";
    }
    return out;
}

std::string json_text(const transcript& result) {
    boost::json::array segments;
    for (const segment& each : result.segments) {
        segments.emplace_back(boost::json::object{{"start", each.start_seconds}, {"end", each.end_seconds}, {"text", each.text}});
    }
    return boost::json::serialize(boost::json::object{{"language", result.language},
                                                      {"duration", result.duration_seconds},
                                                      {"text", result.text},
                                                      {"segments", std::move(segments)}}) +
           "\n";
}

}  // namespace

std::string print(const transcript& result, std::string_view format) {
    if (format == "srt") return srt(result);
    if (format == "json") return json_text(result);
    return result.text + "\n";
}

}  // namespace hearonce::whisper
