// Any bytes as what the helper says: cut anywhere they give the same frames, and a message survives being said again.
#include <backends/whisper/protocol.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

using namespace hearonce::whisper;

namespace {

std::vector<std::string> frames_of(std::string_view bytes, std::size_t piece) {
    frame_reader reader;
    std::vector<std::string> out;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        reader.feed(bytes.substr(at, piece));
        std::string_view payload;
        while (reader.next(payload) == frame_reader::state::frame) out.emplace_back(payload);
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto frames = frames_of(bytes, size + 1);
    if (frames != frames_of(bytes, 1)) std::abort();
    for (const std::string& each : frames) {
        const auto what = decode(each);
        if (!what) continue;
        const std::string again = encode(*what);
        if (!decode(std::string_view(again).substr(frame_head_bytes))) std::abort();
    }
    // Most inputs are no frame: as a payload they reach the parser.
    if (const auto what = decode(bytes)) encode(*what);
    return 0;
}
