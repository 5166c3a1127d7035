// Recordings that differ from each other and whose text is known, as whole upload requests.
//
// Holds: upload_request, make_upload(). Next file: connection.hpp (sends them).
#pragma once

#include <hearonce/audio.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace hearonce::load {

struct upload_request {
    std::string bytes;  // Head and body, ready to send.
    std::string text;   // What the double hears in this recording.
};

// The `number`th recording of `audio_bytes` (a WAV, at least 44 bytes of it), as one POST to /v1/audio/transcriptions. Equal
// numbers and sizes give equal bytes. The form is the shortest that clients send: model and file.
upload_request make_upload(std::uint64_t number, std::size_t audio_bytes, std::string_view model);

}  // namespace hearonce::load
