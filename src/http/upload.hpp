// One upload: the form's bytes go in as they arrive, a recording and a request come out.
//
// Holds: upload_limits, received_upload, upload. Next file: transcriptions.hpp.
//
// The endpoint drives it:
//     while (body goes on) {
//         auto fed = upload.feed(piece);                       // no coroutine frame for what stays in memory
//         if (fed && *fed) flushed = co_await upload.flush();  // the recording goes to a file
//     }
//     auto received = co_await upload.finish();
#pragma once

#include <hearonce/audio.hpp>
#include <hearonce/error.hpp>
#include <hearonce/transcription.hpp>
#include <http/form.hpp>
#include <http/multipart.hpp>
#include <http/spool.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hearonce::http {

struct upload_limits {
    std::uint64_t audio_bytes_max = 26214400;     // server.max_audio; also bounds other files together, which are not kept.
    std::uint64_t field_bytes_max = 1024 * 1024;  // server.max_fields; names and values of all fields together.
    multipart_limits form = {};
};

// errc::audio_too_large when an announced body is longer than audio, fields and their lines may be: before it is read.
result<void> check_announced_length(std::uint64_t body_bytes, const upload_limits& limits);

struct received_upload {
    recording audio;
    transcription_request request;
};

// Used by one coroutine at a time; must not be destroyed while flush() or finish() runs. After an error only destruction is
// left. Destroying it, or the recording it gave, frees the memory or the file at once.
class upload {
public:
    // `boundary` as boundary_of() gives it.
    upload(std::string_view boundary, task asked, const upload_limits& limits, std::shared_ptr<audio_store> store);

    // Takes the next piece of the body. True: await flush() before the piece's memory is used again.
    //   errc::invalid_multipart    the body is no form, or larger than the limits of its shape
    //   errc::audio_too_large      as soon as the limit is crossed; the message says the limit and what was read
    //   errc::duplicate_parameter  a second `file` part
    result<bool> feed(std::span<const std::byte> piece);

    // errc::overloaded when no file can take the recording.
    boost::asio::awaitable<result<void>> flush() { return spool_.flush(); }

    // After the whole body. errc::missing_file, errc::empty_audio, what form::finish() says, errc::overloaded.
    boost::asio::awaitable<result<received_upload>> finish();

    // What was read of the file so far.
    std::uint64_t audio_bytes() const noexcept { return spool_.size_bytes(); }

private:
    enum class part_kind : std::uint8_t { field, file, ignored };

    result<void> begin_part();
    result<void> take(std::span<const std::byte> bytes, bool& flush_due);
    result<void> end_part();
    result<void> count_field_bytes(std::size_t bytes);

    upload_limits limits_;
    multipart_parser parser_;
    form form_;
    spool spool_;
    part_kind kind_ = part_kind::field;
    bool has_file_ = false;
    std::uint64_t field_bytes_ = 0;
    std::uint64_t ignored_bytes_ = 0;
    std::string value_;  // Of the field being read.
    std::string client_file_name_;
    std::string client_content_type_;
};

}  // namespace hearonce::http
