// Sorts the parts of a form: the file into the spool, fields into the form, other files nowhere.
//
// Holds: upload, check_announced_length(). Next file: transcriptions.cpp.
#include <http/upload.hpp>

#include <utility>

namespace hearonce::http {
namespace {

// In OpenAI's words, which clients look for.
error too_large(std::uint64_t limit, std::uint64_t size) {
    return error(errc::audio_too_large,
                 "Maximum content size limit (" + std::to_string(limit) + ") exceeded (" + std::to_string(size) + " bytes read)");
}

}  // namespace

result<void> check_announced_length(std::uint64_t body_bytes, const upload_limits& limits) {
    // Beside the audio there may be fields, the lines around them, and as much again in files that are ignored: some clients
    // send the recording twice. What is certain from the length alone must hold for a chunked body of the same bytes.
    const std::uint64_t around = limits.field_bytes_max + limits.form.outside_bytes_max;
    if (body_bytes <= 2 * limits.audio_bytes_max + around) return {};
    return error(errc::audio_too_large, "Maximum content size limit (" + std::to_string(limits.audio_bytes_max) + ") exceeded (" +
                                            std::to_string(body_bytes) + " bytes announced)");
}

upload::upload(std::string_view boundary, task asked, const upload_limits& limits, std::shared_ptr<audio_store> store)
    : limits_(limits), parser_(boundary, limits.form), form_(asked), spool_(std::move(store)) {}

result<bool> upload::feed(std::span<const std::byte> piece) {
    bool flush_due = false;
    for (;;) {
        const auto event = parser_.next(piece);
        if (!event) return event.error();
        result<void> done;
        switch (*event) {
            case multipart_parser::event::need_more: return flush_due;
            case multipart_parser::event::part: done = begin_part(); break;
            case multipart_parser::event::data: done = take(parser_.data(), flush_due); break;
            case multipart_parser::event::part_end: done = end_part(); break;
            case multipart_parser::event::end: break;
        }
        if (!done) return done.error();
    }
}

result<void> upload::begin_part() {
    const part_head& head = parser_.head();
    if (head.name == "file") {
        if (has_file_) return error(errc::duplicate_parameter, "The form has more than one part named 'file'.", "file");
        has_file_ = true;
        kind_ = part_kind::file;
        client_file_name_ = head.file_name.value_or(std::string());
        client_content_type_ = head.content_type;
        return {};
    }
    kind_ = head.file_name ? part_kind::ignored : part_kind::field;
    if (kind_ == part_kind::ignored) return {};
    value_.clear();
    return count_field_bytes(head.name.size());
}

result<void> upload::count_field_bytes(std::size_t bytes) {
    field_bytes_ += bytes;
    if (field_bytes_ <= limits_.field_bytes_max) return {};
    return error(errc::invalid_multipart,
                 "The fields of the form are larger than " + std::to_string(limits_.field_bytes_max) + " bytes together.");
}

result<void> upload::take(std::span<const std::byte> bytes, bool& flush_due) {
    switch (kind_) {
        case part_kind::field: {
            if (auto counted = count_field_bytes(bytes.size()); !counted) return counted;
            value_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            break;
        }
        case part_kind::ignored:
            ignored_bytes_ += bytes.size();
            if (ignored_bytes_ > limits_.audio_bytes_max) return too_large(limits_.audio_bytes_max, ignored_bytes_);
            break;
        case part_kind::file: {
            const std::uint64_t size = spool_.size_bytes() + bytes.size();
            // Refused before it is hashed and kept: the answer is sent at once.
            if (size > limits_.audio_bytes_max) return too_large(limits_.audio_bytes_max, size);
            if (spool_.append(bytes)) flush_due = true;
            break;
        }
    }
    return {};
}

result<void> upload::end_part() {
    if (kind_ != part_kind::field) return {};
    return form_.add(parser_.head().name, std::exchange(value_, {}));
}

boost::asio::awaitable<result<received_upload>> upload::finish() {
    auto complete = parser_.finish();
    if (!complete) co_return complete.error();
    if (!has_file_) co_return error(errc::missing_file);
    if (spool_.size_bytes() == 0) co_return error(errc::empty_audio);
    auto request = std::move(form_).finish();
    if (!request) co_return request.error();
    auto audio = co_await spool_.finish();
    if (!audio) co_return audio.error();
    audio->client_file_name = std::move(client_file_name_);
    audio->client_content_type = std::move(client_content_type_);
    co_return received_upload{std::move(*audio), std::move(*request)};
}

}  // namespace hearonce::http
