// The form. Next file: answer.cpp.
#include <backends/openai/file_part.hpp>
#include <backends/openai/request_form.hpp>
#include <hearonce/ascii.hpp>

#include <openssl/rand.h>

#include <array>
#include <stdexcept>

namespace hearonce::openai {
namespace {

std::string_view upstream_format(response_format wanted) noexcept {
    switch (detail_of(wanted)) {
        case detail::plain: return "json";
        case detail::timed: return "verbose_json";
        case detail::diarized: return "diarized_json";
    }
    return "json";
}

bool is_granularity(std::string_view name) noexcept {
    return name == "timestamp_granularities[]" || name == "timestamp_granularities";
}

class form_writer {
public:
    form_writer(std::string& out, std::string_view boundary) : out_(out), boundary_(boundary) {}
    void field(std::string_view name, std::string_view value) {
        open(name);
        out_ += "\"\r\n\r\n";
        out_ += value;
        out_ += "\r\n";
    }
    void file(const file_part& part) {
        open("file");
        out_ += "\"; filename=\"";
        out_ += form_quoted(part.name);
        out_ += "\"\r\nContent-Type: ";
        out_ += part.type;
        out_ += "\r\n\r\n";
    }

private:
    void open(std::string_view name) {
        out_ += "--";
        out_ += boundary_;
        out_ += "\r\nContent-Disposition: form-data; name=\"";
        out_ += form_quoted(name);
    }
    std::string& out_;
    std::string_view boundary_;
};

}  // namespace

request_form build_request(const transcription_request& request, const recording& audio, std::string_view upstream_model, bool stream,
                           std::string_view boundary) {
    request_form made;
    made.path = request.task == task::translate ? "/audio/translations" : "/audio/transcriptions";
    made.content_type = "multipart/form-data; boundary=" + std::string(boundary);
    const bool timed = detail_of(request.format) == detail::timed;
    std::string_view granularity_name = "timestamp_granularities[]";
    form_writer write(made.prefix, boundary);
    write.field("model", upstream_model);
    for (const form_field& one : request.fields) {
        // Granularities mean something with verbose_json alone (openapi: CreateTranscriptionRequest). Clients send them
        // with json too, where OpenAI lets them pass and stricter servers fail: there they are not sent.
        if (one.value.empty() || (is_granularity(one.name) && !timed)) continue;
        if (is_granularity(one.name)) granularity_name = one.name;
        write.field(one.name, one.value);
    }
    // Words alone would leave those who share the flight and want subtitles without any.
    if (timed && request.word_times && !request.segment_times) write.field(granularity_name, "segment");
    write.field("response_format", upstream_format(request.format));
    if (stream) write.field("stream", "true");
    write.file(file_part_of(audio));
    made.suffix = "\r\n--" + std::string(boundary) + "--\r\n";
    return made;
}

std::string new_boundary() {
    std::array<unsigned char, 16> bytes{};
    if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) throw std::runtime_error("no random numbers to be had");
    return "hearonce-" + ascii::hex_of(std::as_bytes(std::span(bytes)));
}

}  // namespace hearonce::openai
