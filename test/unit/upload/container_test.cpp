// Recognising containers and their lengths: recorded files, written headers, and hostile bytes.
#define BOOST_TEST_MODULE container
#include <boost/test/unit_test.hpp>

#include "uploading.hpp"

#include <http/container.hpp>
#include <http/container_bytes.hpp>

#include <fstream>
#include <random>
#include <sstream>

using namespace hearonce;
using namespace hearonce::http;
using namespace hearonce::test;

namespace {

// Bytes of a test; notices reads outside.
class text_source final : public byte_source {
public:
    explicit text_source(std::string text) : text_(std::move(text)) {}
    std::uint64_t size_bytes() const noexcept override { return text_.size(); }
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const noexcept override {
        ++reads;
        if (offset >= text_.size()) return 0;
        const std::size_t length = std::min(into.size(), text_.size() - static_cast<std::size_t>(offset));
        std::memcpy(into.data(), text_.data() + offset, length);
        return length;
    }
    mutable int reads = 0;

private:
    std::string text_;
};

container kind_of(std::string_view text) {
    return container_of(std::as_bytes(std::span(text)));
}

// In milliseconds; -1: not known.
long long length_of(container kind, const std::string& text) {
    const auto length = duration_of(kind, text_source(text));
    return length ? length->count() : -1;
}
long long length_of(const std::string& text) {
    return length_of(kind_of(text), text);
}

std::string file(const std::string& name) {
    std::ifstream in(std::string(HEARONCE_TEST_DATA) + "/" + name, std::ios::binary);
    BOOST_REQUIRE_MESSAGE(in.good(), name);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

std::string little(std::uint64_t number, std::size_t bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
    return out;
}

std::string big(std::uint64_t number, std::size_t bytes) {
    std::string out = little(number, bytes);
    return {out.rbegin(), out.rend()};
}

std::string format_chunk(std::uint64_t bytes_per_second) {
    return "fmt " + little(16, 4) + little(1, 2) + little(1, 2) + little(16000, 4) + little(bytes_per_second, 4) + little(2, 2) +
           little(16, 2);
}

std::string wave(std::uint64_t data_size, std::size_t data, std::string before_data = "", std::string after = "") {
    return "RIFF" + little(data_size + 36, 4) + "WAVE" + format_chunk(32000) + before_data + "data" + little(data_size, 4) +
           std::string(data, 'd') + after;
}

std::string box(const std::string& type, const std::string& body) {
    return big(body.size() + 8, 4) + type + body;
}
std::string movie_header(std::uint64_t scale, std::uint64_t length) {
    return box("mvhd", std::string(12, '\0') + big(scale, 4) + big(length, 4) + std::string(80, '\0'));
}

struct recorded {
    std::string name;
    container kind;
    long long milliseconds;  // As the encoder's own tools say; -1: the file does not say it.
    long long tolerance = 1;
};

const std::vector<recorded> recordings{
    {"wav/hello-world.wav", container::wav, 1584},
    {"containers/hello-world-piped.wav", container::wav, 1584},
    {"containers/hello-world.mp3", container::mp3, 1692, 80},
    {"containers/hello-world-vbr.mp3", container::mp3, 1692, 80},
    {"containers/hello-world-bare.mp3", container::mp3, 1692},
    {"containers/hello-world.m4a", container::mp4, 1585},
    {"containers/hello-world-faststart.m4a", container::mp4, 1585},
    {"containers/hello-world-fragmented.m4a", container::mp4, -1},
    {"containers/hello-world.aac", container::aac, 1664, 2},
    {"containers/hello-world.opus.ogg", container::ogg, 1584, 8},
    {"containers/hello-world.vorbis.ogg", container::ogg, 1584},
    {"containers/hello-world.flac.ogg", container::ogg, 1584},
    {"containers/hello-world.flac", container::flac, 1584},
    {"containers/hello-world.webm", container::webm, 1592},
    {"containers/hello-world-piped.webm", container::webm, 1592, 60},
};

}  // namespace

BOOST_AUTO_TEST_CASE(recorded_files) {
    for (const recorded& each : recordings) {
        const std::string bytes = file(each.name);
        BOOST_TEST_CONTEXT(each.name) {
            BOOST_TEST(name_of(kind_of(bytes)) == name_of(each.kind));
            const long long length = length_of(bytes);
            if (each.milliseconds < 0)
                BOOST_TEST(length == -1);
            else
                BOOST_TEST(std::abs(length - each.milliseconds) <= each.tolerance, "says " << length);
        }
    }
}

BOOST_AUTO_TEST_CASE(names_of_containers_are_not_believed_from_little) {
    for (const std::string_view text :
         {"", "R", "RIFF", "RIFF....AVI ", "OggS", "OggS\1", "fLa", "ID", "ftyp", "\x1a\x45\xdf", "hello", "\xff\xfb", "\xff\xf1\x50"})
        BOOST_TEST((kind_of(text) == container::unknown), text);
    BOOST_TEST((kind_of("RIFX....WAVE") == container::wav));
    BOOST_TEST((kind_of("RF64....WAVE") == container::wav));
    BOOST_TEST((kind_of("....ftypM4A ") == container::mp4));
    BOOST_TEST((kind_of("\x1a\x45\xdf\xa3") == container::webm));
}

BOOST_AUTO_TEST_CASE(sync_bits_alone_are_not_believed) {
    const std::string mp3 = file("containers/hello-world-bare.mp3");
    const auto frame = mpeg_frame_of(std::as_bytes(std::span(mp3)));
    BOOST_REQUIRE(frame.has_value());
    BOOST_TEST((kind_of(mp3.substr(0, frame->frame_bytes)) == container::mp3));
    BOOST_TEST((kind_of(mp3.substr(0, frame->frame_bytes + 4)) == container::mp3));
    BOOST_TEST((kind_of(mp3.substr(0, frame->frame_bytes - 1)) == container::unknown));
    BOOST_TEST((kind_of(mp3.substr(0, frame->frame_bytes) + "no frame here") == container::unknown));
    const std::string aac = file("containers/hello-world.aac");
    const auto first = adts_frame_of(std::as_bytes(std::span(aac)));
    BOOST_REQUIRE(first.has_value());
    BOOST_TEST((kind_of(aac.substr(0, first->frame_bytes)) == container::aac));
    BOOST_TEST((kind_of(aac.substr(0, first->frame_bytes) + "no frame here") == container::unknown));
    // UTF-16 text begins with the same eleven bits as a frame.
    BOOST_TEST((kind_of(std::string_view("\xff\xfeH\0e\0l\0l\0o\0", 12)) == container::unknown));
}

BOOST_AUTO_TEST_CASE(a_tag_before_the_audio) {
    const std::string tag = std::string("ID3\4\0\0\0\0\1\0", 10) + std::string(128, '\0');
    BOOST_TEST((kind_of(tag + file("containers/hello-world.flac")) == container::flac));
    BOOST_TEST((kind_of(tag + file("containers/hello-world.aac")) == container::aac));
    BOOST_TEST((kind_of(tag + file("containers/hello-world-bare.mp3")) == container::mp3));
    BOOST_TEST((kind_of(tag) == container::mp3));
    BOOST_TEST(length_of(tag + file("containers/hello-world.flac")) == 1584);
    BOOST_TEST(length_of(tag + file("containers/hello-world.aac")) == length_of(file("containers/hello-world.aac")));
    BOOST_TEST(length_of(tag + file("containers/hello-world-bare.mp3")) == length_of(file("containers/hello-world-bare.mp3")));
    // Longer than everything there is.
    BOOST_TEST(length_of(std::string("ID3\4\0\0\x7f\x7f\x7f\x7f", 10)) == -1);
}

BOOST_AUTO_TEST_CASE(wav_lengths) {
    BOOST_TEST(length_of(wave(32000, 32000)) == 1000);
    BOOST_TEST(length_of(wave(16000, 32000)) == 500);        // Something follows the data.
    BOOST_TEST(length_of(wave(0, 32000)) == 1000);           // Written by a stream.
    BOOST_TEST(length_of(wave(0xffffffff, 64000)) == 2000);  // Written by another one.
    BOOST_TEST(length_of(wave(64000, 32000)) == 1000);       // Cut off.
    BOOST_TEST(length_of(wave(0, 0)) == 0);
    BOOST_TEST(length_of(wave(32000, 32000, "LIST" + little(3, 4) + "abc\0")) == -1);  // Chunks begin at even places.
    BOOST_TEST(length_of(wave(32000, 32000, "LIST" + little(3, 4) + std::string("abc\0", 4))) == 1000);
    std::string other_order = "RIFX" + big(0, 4) + "WAVE" + "fmt " + big(16, 4) + big(1, 2) + big(1, 2) + big(16000, 4) + big(32000, 4) +
                              big(2, 2) + big(16, 2) + "data" + big(32000, 4);
    BOOST_TEST(length_of(other_order + std::string(32000, 'd')) == 1000);
    std::string wide = "RF64" + little(0xffffffff, 4) + "WAVEds64" + little(28, 4) + little(0, 8) + little(16000, 8) + little(0, 8) +
                       little(0, 4) + format_chunk(32000) + "data" + little(0xffffffff, 4);
    BOOST_TEST(length_of(wide + std::string(32000, 'd')) == 500);
}

BOOST_AUTO_TEST_CASE(wav_headers_that_lie) {
    BOOST_TEST(length_of("RIFF" + little(0, 4) + "WAVE") == -1);
    BOOST_TEST(length_of("RIFF" + little(0, 4) + "WAVE" + "data" + little(10, 4) + std::string(10, 'd')) == -1);  // No format.
    BOOST_TEST(length_of("RIFF" + little(0, 4) + "WAVE" + format_chunk(0) + "data" + little(10, 4) + std::string(10, 'd')) == -1);
    BOOST_TEST(length_of("RIFF" + little(0, 4) + "WAVE" + "LIST" + little(0xfffffff0, 4) + format_chunk(32000)) == -1);
    // Endless empty chunks end the search, not the test.
    std::string chunks = "RIFF" + little(0, 4) + "WAVE";
    for (int i = 0; i < 100'000; ++i) chunks += "junk" + little(0, 4);
    const text_source source(chunks);
    BOOST_TEST(!duration_of(container::wav, source).has_value());
    BOOST_TEST(source.reads < 200);
}

BOOST_AUTO_TEST_CASE(mp4_lengths) {
    const std::string type = box("ftyp", "M4A \0\0\0\0");
    const std::string media = box("mdat", std::string(5000, 'm'));
    BOOST_TEST(length_of(type + box("moov", movie_header(1000, 2500)) + media) == 2500);
    BOOST_TEST(length_of(type + media + box("moov", box("udta", "x") + movie_header(44100, 44100))) == 1000);
    BOOST_TEST(length_of(type + media) == -1);
    BOOST_TEST(length_of(type + box("moov", movie_header(0, 5))) == -1);
    BOOST_TEST(length_of(type + box("moov", movie_header(1000, 0xffffffff))) == -1);
    BOOST_TEST(length_of(type + box("moov", movie_header(1000, 0) + box("mvex", box("mehd", big(0, 4) + big(1500, 4))))) == 1500);
    const std::string wide =
        box("mvhd", std::string("\1", 1) + std::string(19, '\0') + big(1000, 4) + big(7000, 8) + std::string(80, '\0'));
    BOOST_TEST(length_of(type + box("moov", wide)) == 7000);
    // A media box with a long size, and one that goes to the end of the file.
    BOOST_TEST(length_of(type + big(1, 4) + "mdat" + big(16 + 100, 8) + std::string(100, 'm') + box("moov", movie_header(1000, 3000))) ==
               3000);
    BOOST_TEST(length_of(type + big(0, 4) + "mdat" + std::string(100, 'm')) == -1);
}

BOOST_AUTO_TEST_CASE(mp4_boxes_that_lie) {
    const std::string type = box("ftyp", "M4A ");
    for (const std::uint64_t size : {2ull, 7ull, 0xffffffffull})
        BOOST_TEST(length_of(type + big(size, 4) + "moov" + movie_header(1000, 2500)) == (size < 8 ? -1 : 2500));
    for (const std::uint64_t size : {0ull, 15ull, ~0ull, 1ull << 63})
        BOOST_TEST(length_of(type + big(1, 4) + "free" + big(size, 8) + box("moov", movie_header(1000, 2500))) == -1);
    std::string boxes = type;
    for (int i = 0; i < 100'000; ++i) boxes += box("free", "");
    const text_source source(boxes);
    BOOST_TEST(!duration_of(container::mp4, source).has_value());
    BOOST_TEST(source.reads < 200);
}

BOOST_AUTO_TEST_CASE(webm_without_a_length) {
    // As recorders write: sizes unknown, clusters with a time and blocks.
    const std::string unknown = "\x01\xff\xff\xff\xff\xff\xff\xff";
    const auto cluster = [&](std::uint64_t begin, const std::vector<int>& blocks, std::size_t block_bytes) {
        std::string out = "\x1f\x43\xb6\x75" + unknown + "\xe7\x84" + big(begin, 4);
        for (const int since : blocks)
            out += "\xa3" + big(0x10000000 | (block_bytes + 4), 4) + "\x81" + big(static_cast<std::uint16_t>(since), 2) +
                   std::string(1, '\0') + std::string(block_bytes, 'o');
        return out;
    };
    const std::string begin = "\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67" + unknown + "\x15\x49\xa9\x66\x87\x2a\xd7\xb1\x83" + big(1'000'000, 3);
    BOOST_TEST(length_of(begin) == -1);
    BOOST_TEST(length_of(begin + cluster(0, {0, 60, 120}, 100)) == 120);
    BOOST_TEST(length_of(begin + cluster(0, {0, 60, 29'940}, 100) + cluster(30'000, {0, 60}, 100)) == 30'060);
    // Far back, over the borders of the windows in which it is searched.
    for (std::size_t size = 21'840; size < 21'850; ++size) BOOST_TEST(length_of(begin + cluster(30'000, {0, 60, 120}, size)) == 30'120);
    // Cut in the middle of a block, the one before counts at least.
    const std::string whole = begin + cluster(30'000, {0, 60, 120}, 100);
    for (std::size_t cut = 1; cut < 104; ++cut) {
        const long long length = length_of(whole.substr(0, whole.size() - cut));
        BOOST_TEST((length == 30'060 || length == 30'120), length);
    }
    BOOST_TEST(length_of(begin + cluster(0xffffffff, {0}, 10)) == -1);  // 49 days.
    BOOST_TEST(length_of(begin + std::string(3'000'000, 'x')) == -1);
}

BOOST_AUTO_TEST_CASE(lengths_that_cannot_be) {
    const std::string type = box("ftyp", "M4A ");
    const std::uint64_t month = 30ull * 24 * 3600;
    BOOST_TEST(length_of(type + box("moov", movie_header(1, month))) == static_cast<long long>(month * 1000));
    BOOST_TEST(length_of(type + box("moov", movie_header(1, month + 1))) == -1);
    BOOST_TEST((time_of(~0ull, 1) == std::nullopt));
    BOOST_TEST((time_of(~0ull, ~0ull) == std::nullopt));
    BOOST_TEST((time_of(1, 0) == std::nullopt));
    BOOST_TEST((time_of(3, 2).value() == std::chrono::milliseconds(1500)));
}

BOOST_AUTO_TEST_CASE(files_cut_anywhere_are_looked_at_safely) {
    for (const recorded& each : recordings) {
        const std::string bytes = file(each.name);
        for (std::size_t size = 0; size < bytes.size(); size += size < 600 ? 1 : 97) {
            const std::string cut = bytes.substr(0, size);
            const auto length = duration_of(each.kind, text_source(cut));
            BOOST_TEST((!length || (length->count() >= 0 && length->count() < 100'000)));
            kind_of(cut);
        }
    }
}

BOOST_AUTO_TEST_CASE(files_with_flipped_bytes_are_looked_at_safely) {
    std::mt19937 random(7);
    for (const recorded& each : recordings) {
        const std::string bytes = file(each.name);
        for (int round = 0; round < 300; ++round) {
            std::string changed = bytes;
            for (int i = 0; i < 4; ++i) changed[random() % std::min<std::size_t>(changed.size(), 400)] = static_cast<char>(random());
            const text_source source(changed);
            const auto length = duration_of(each.kind, source);
            BOOST_TEST((!length || length->count() >= 0));
            BOOST_TEST(source.reads < 10'000);
        }
    }
}

BOOST_AUTO_TEST_CASE(random_bytes_are_rarely_taken_for_audio) {
    int taken = 0;
    for (unsigned seed = 0; seed < 2000; ++seed) {
        const std::string text = "\xff" + noise(4096, seed);
        if (kind_of(text) != container::unknown) ++taken;
    }
    BOOST_TEST(taken < 10);
}
