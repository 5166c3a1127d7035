// Next file: form_file.cpp.
#include <cli/send_request.hpp>
#include <hearonce/ascii.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <utility>

namespace hearonce::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t complaint_bytes_max = 1000;

// As browsers encode a name in a form, so that it cannot end the header (WHATWG HTML, multipart/form-data).
std::string quoted_name(std::string_view name) {
    std::string out = "\"";
    for (const char c : name) {
        if (c == '"') {
            out += "%22";
        } else if (c == '\r') {
            out += "%0D";
        } else if (c == '\n') {
            out += "%0A";
        } else {
            out += c;
        }
    }
    return out + "\"";
}

// A stranger's words on the user's terminal: without control characters, and not endless.
std::string printable(std::string_view text) {
    std::string out(text.substr(0, complaint_bytes_max));
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    return out;
}

std::optional<json::value> parsed(const std::string& body) {
    json::error_code ec;
    json::value value = json::parse(body, ec);
    return ec ? std::nullopt : std::optional(std::move(value));
}

std::string string_at(const json::value& value, std::string_view name) {
    const auto* object = value.if_object();
    const auto* member = object ? object->if_contains(name) : nullptr;
    const auto* text = member ? member->if_string() : nullptr;
    return text ? std::string(*text) : std::string();
}

// The server's own words, OpenAI's shape (`error.message`); whisper.cpp's is a string at `error`.
std::string reason_of(const net::http_answer& answer) {
    if (const auto body = parsed(answer.body); body && body->is_object()) {
        const auto* error = body->get_object().if_contains("error");
        std::string message = error ? string_at(*error, "message") : std::string();
        if (message.empty()) message = string_at(*body, "error");
        if (!message.empty()) return printable(message);
    }
    const bool page = answer.find("content-type").value_or("").starts_with("text/html");
    return page || answer.body.empty() ? std::string("no reason given") : printable(answer.body);
}

std::string with_line_end(std::string text) {
    if (!text.ends_with('\n')) text += '\n';
    return text;
}

verdict no_transcript(std::string_view what) {
    return {broken, {}, "the server answered 200 with " + std::string(what) + ", which is no transcript: is something else in between?"};
}

}  // namespace

std::optional<net::http_url> transcriptions_url(std::string_view server) {
    constexpr std::string_view path = "/v1/audio/transcriptions";
    auto url = net::parse_url(server);
    if (!url || url->target.find('?') != std::string::npos) return std::nullopt;
    std::string& target = url->target;
    while (target.ends_with('/')) target.pop_back();
    if (target.ends_with("/audio/transcriptions")) return url;
    target += target.ends_with("/v1") ? path.substr(3) : path;
    return url;
}

std::string_view content_type_of(const std::filesystem::path& file) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> types{{{".wav", "audio/wav"},
                                                                                          {".mp3", "audio/mpeg"},
                                                                                          {".mpga", "audio/mpeg"},
                                                                                          {".mpeg", "audio/mpeg"},
                                                                                          {".m4a", "audio/mp4"},
                                                                                          {".mp4", "audio/mp4"},
                                                                                          {".aac", "audio/aac"},
                                                                                          {".ogg", "audio/ogg"},
                                                                                          {".oga", "audio/ogg"},
                                                                                          {".opus", "audio/ogg"},
                                                                                          {".webm", "audio/webm"},
                                                                                          {".weba", "audio/webm"},
                                                                                          {".flac", "audio/flac"},
                                                                                          {".3gp", "audio/3gpp"}}};
    const std::string ending = ascii::lowered(file.extension().string());
    for (const auto& [name, type] : types) {
        if (ending == name) return type;
    }
    return "application/octet-stream";
}

form_frame form_of(const send_fields& fields, const std::filesystem::path& file, std::string_view boundary) {
    const std::string delimiter = "--" + std::string(boundary);
    form_frame frame;
    // json carries the text unmistakably; a page that a network puts in between would pass for text.
    const std::string format = fields.format == "text" ? "json" : fields.format;
    const std::pair<std::string_view, const std::string*> scalars[] = {
        {"model", &fields.model}, {"language", &fields.language}, {"prompt", &fields.prompt}, {"response_format", &format}};
    for (const auto& [name, text] : scalars) {
        if (text->empty()) continue;
        frame.head += delimiter + "\r\nContent-Disposition: form-data; name=\"" + std::string(name) + "\"\r\n\r\n" + *text + "\r\n";
    }
    // The file comes last, so that a server knows everything else when its bytes begin.
    frame.head += delimiter + "\r\nContent-Disposition: form-data; name=\"file\"; filename=" + quoted_name(file.filename().string());
    frame.head += "\r\nContent-Type: " + std::string(content_type_of(file)) + "\r\n\r\n";
    frame.tail = "\r\n" + delimiter + "--\r\n";
    return frame;
}

verdict judge(const net::http_answer& answer, std::string_view format) {
    if (answer.status != 200) return {refused, {}, "refused (" + std::to_string(answer.status) + "): " + reason_of(answer)};
    if (format == "srt" || format == "vtt") {
        if (answer.find("content-type").value_or("").starts_with("text/html")) return no_transcript("a web page");
        return {done, with_line_end(answer.body), {}};
    }
    const auto body = parsed(answer.body);
    const auto* object = body ? body->if_object() : nullptr;
    if (!object || !object->contains("text") || !object->at("text").is_string()) return no_transcript("something else");
    if (format == "text") return {done, with_line_end(string_at(*body, "text")), {}};
    return {done, with_line_end(answer.body), {}};
}

std::filesystem::path output_name(const std::filesystem::path& file, std::string_view format) {
    const std::string_view ending = format == "text" ? ".txt" : format == "srt" ? ".srt" : format == "vtt" ? ".vtt" : ".json";
    return file.stem().string() + std::string(ending);
}

}  // namespace hearonce::cli
