// Next file: connection.cpp.
#include <bench/load/recordings.hpp>

#include <bench/upstream/text_of.hpp>

#include <openssl/sha.h>

#include <algorithm>

namespace hearonce::load {
namespace {

constexpr std::size_t wav_head_bytes = 44;
constexpr std::string_view boundary = "hearonce-bench-boundary";

void put_le(std::string& out, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

// 16 kHz, mono, 16 bit; noise from a small generator, the number in its seed.
std::string wav_of(std::uint64_t number, std::size_t audio_bytes) {
    const auto data_bytes = static_cast<std::uint32_t>(std::max(audio_bytes, wav_head_bytes) - wav_head_bytes);
    std::string wav("RIFF");
    put_le(wav, 36 + data_bytes, 4);
    wav += "WAVEfmt ";
    put_le(wav, 16, 4);
    put_le(wav, 1, 2);
    put_le(wav, 1, 2);
    put_le(wav, 16000, 4);
    put_le(wav, 32000, 4);
    put_le(wav, 2, 2);
    put_le(wav, 16, 2);
    wav += "data";
    put_le(wav, data_bytes, 4);
    std::uint64_t state = number * 0x9E3779B97F4A7C15u + 1;
    while (wav.size() < wav_head_bytes + data_bytes) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        for (int i = 0; i < 8 && wav.size() < wav_head_bytes + data_bytes; ++i) wav += static_cast<char>(state >> (8 * i));
    }
    return wav;
}

}  // namespace

upload_request make_upload(std::uint64_t number, std::size_t audio_bytes, std::string_view model) {
    const std::string wav = wav_of(number, audio_bytes);
    sha256_digest digest{};
    SHA256(reinterpret_cast<const unsigned char*>(wav.data()), wav.size(), reinterpret_cast<unsigned char*>(digest.data()));
    const std::string line = "--" + std::string(boundary) + "\r\nContent-Disposition: form-data; name=\"";
    std::string body = line + "model\"\r\n\r\n" + std::string(model) + "\r\n";
    body += line + "file\"; filename=\"note.wav\"\r\nContent-Type: audio/wav\r\n\r\n" + wav + "\r\n--" + std::string(boundary) + "--\r\n";
    upload_request made;
    made.bytes =
        "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer bench\r\nContent-Type: "
        "multipart/form-data; boundary=" +
        std::string(boundary) + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    made.text = upstream::text_of(digest);
    return made;
}

}  // namespace hearonce::load
