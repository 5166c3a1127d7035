// RIFF chunks from the start to the data (Multimedia Programming Interface and Data Specifications 1.0, 1991, chapter 2).
// Next file: media.cpp.
#include <backends/whisper/worker/wav_claim.hpp>

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace hearonce::whisper {
namespace {

constexpr std::int64_t missing_bytes_max = 1LL << 30;
constexpr std::uint32_t largest = 0xFFFFFFFF;
constexpr std::uint32_t largest_signed = 0x7FFFFFFF;
constexpr std::uint32_t header_bytes_max = 128;  // Some writers subtract what they wrote before the data.
constexpr std::uint32_t signed_slack = 0xFFF;    // Others round down to a page.
constexpr int chunks_max = 64;

struct chunk {
    std::array<char, 4> name{};
    std::array<std::uint8_t, 4> size{};

    std::string_view id() const { return {name.data(), name.size()}; }
    std::uint32_t bytes() const {
        std::uint32_t value = 0;
        for (int i = 3; i >= 0; --i) value = value << 8 | size[static_cast<std::size_t>(i)];
        return value;
    }
};
static_assert(sizeof(chunk) == 8);

template <class T>
bool read_at(int descriptor, std::int64_t at, T& to) {
    ssize_t got = 0;
    do {
        got = ::pread(descriptor, &to, sizeof to, at);
    } while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(sizeof to);
}

}  // namespace

bool wav_claim::open_ended() const noexcept {
    if (bytes == 0 || bytes >= largest - header_bytes_max) return true;
    return bytes >= largest_signed - signed_slack && bytes <= largest_signed;
}

bool wav_claim::lies() const noexcept {
    return !open_ended() && bytes - held_bytes >= missing_bytes_max;
}

std::optional<wav_claim> wav_claim_of(int descriptor, std::int64_t file_bytes) {
    chunk here;
    std::array<char, 4> form{};
    if (!read_at(descriptor, 0, here) || here.id() != "RIFF") return std::nullopt;
    if (!read_at(descriptor, sizeof here, form) || std::string_view(form.data(), form.size()) != "WAVE") return std::nullopt;
    std::int64_t at = sizeof here + sizeof form;
    for (int i = 0; i < chunks_max && read_at(descriptor, at, here); ++i) {
        at += static_cast<std::int64_t>(sizeof here);
        if (here.id() == "data") return wav_claim{here.bytes(), file_bytes - at};
        at += static_cast<std::int64_t>(here.bytes()) + here.bytes() % 2;  // Chunks begin at even places.
    }
    return std::nullopt;
}

}  // namespace hearonce::whisper
