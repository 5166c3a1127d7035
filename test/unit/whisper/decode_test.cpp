// Every kind of file people record in, and every kind of hostile one.
#define BOOST_TEST_MODULE whisper_decode
#include "support.hpp"

#include <backends/whisper/process.hpp>
#include <backends/whisper/worker/decode.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <sys/resource.h>

namespace {

using namespace hearonce;
using namespace hearonce::whisper;
using namespace hearonce::whisper::test;

constexpr std::size_t hour = 3600UL * samples_per_second;

result<std::vector<float>> decode_bytes(
    const std::string& bytes, std::size_t samples_max = hour, std::function<bool()> stop = [] { return false; }) {
    const bytes_in_file file(bytes);
    return decode(file.file_descriptor(), samples_max, stop);
}

errc failure_of(const std::string& bytes) {
    const auto got = decode_bytes(bytes);
    return got ? errc::not_found : got.error().code();
}

template <class T>
std::string raw(T value) {
    std::string out(sizeof value, '\0');
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

// A RIFF file; `claimed` is what its data chunk says of its size.
std::string wav(const std::string& data, std::uint16_t format, std::uint32_t rate, std::uint16_t channels, std::uint16_t bits,
                std::optional<std::uint32_t> claimed = {}) {
    const auto size = static_cast<std::uint32_t>(data.size());
    const auto frame = static_cast<std::uint16_t>(channels * bits / 8);
    return "RIFF" + raw(claimed.value_or(size) + 36) + "WAVEfmt " + raw(std::uint32_t{16}) + raw(format) + raw(channels) + raw(rate) +
           raw(rate * frame) + raw(frame) + raw(bits) + "data" + raw(claimed.value_or(size)) + data;
}

std::string tone(std::size_t samples, std::uint32_t rate = samples_per_second) {
    std::string out;
    for (std::size_t i = 0; i < samples; ++i) {
        out += raw(static_cast<std::int16_t>(8000 * std::sin(2 * 3.14159265 * 440 * static_cast<double>(i) / rate)));
    }
    return out;
}

double loudness(const std::vector<float>& samples) {
    double sum = 0;
    for (const float each : samples) sum += static_cast<double>(each) * static_cast<double>(each);
    return std::sqrt(sum / static_cast<double>(samples.size()));
}

// `ffmpeg -i a.wav ARGUMENTS`; with "-" the output goes through a pipe, so that it has no duration and no index.
std::string encoded(const folder& place, const std::string& arguments) {
    static int count = 0;
    const auto out = place / ("out" + std::to_string(++count));
    const std::string command = "ffmpeg -nostdin -loglevel error -y -i '" + (wav_folder / "call-me-back-tomorrow-at-nine.wav").string() +
                                "' " + arguments + " pipe:1 > '" + out.string() + "'";
    BOOST_REQUIRE_EQUAL(std::system(command.c_str()), 0);
    return bytes_of(out);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decoding)

BOOST_AUTO_TEST_CASE(every_kind_of_recording_gives_the_same_sound) {
    const folder place;
    const auto wanted = decode_bytes(bytes_of(wav_folder / "call-me-back-tomorrow-at-nine.wav"));
    BOOST_REQUIRE(wanted.has_value());
    for (const std::string& arguments :
         {"-f wav", "-c:a pcm_f32le -f wav", "-c:a pcm_u8 -f wav", "-c:a pcm_mulaw -ar 8000 -f wav",
          "-c:a pcm_s24le -ar 48000 -ac 2 -f wav", "-f mp3", "-ar 44100 -ac 2 -f mp3", "-f adts", "-f flac", "-c:a libvorbis -f ogg",
          "-c:a libopus -f ogg", "-c:a libopus -f webm", "-c:a libopus -f webm -live 1", "-c:a libopus -f matroska",
          "-c:a aac -movflags frag_keyframe+empty_moov -f mp4", "-c:a alac -movflags frag_keyframe+empty_moov -f mov",
          "-c:a libopus -ar 48000 -ac 2 -f webm"}) {
        BOOST_TEST_INFO_SCOPE(arguments);
        const auto got = decode_bytes(encoded(place, arguments));
        BOOST_TEST(got.has_value());
        if (!got) continue;
        // Encoders pad by some milliseconds.
        BOOST_TEST(std::abs(static_cast<double>(got->size()) - static_cast<double>(wanted->size())) < 0.15 * samples_per_second);
        BOOST_TEST(loudness(*got) > 0.6 * loudness(*wanted));
        BOOST_TEST(loudness(*got) < 1.4 * loudness(*wanted));
    }
}

BOOST_AUTO_TEST_CASE(an_indexed_m4a_is_read_with_its_index_at_the_end) {
    const folder place;
    const auto file = place / "a.m4a";
    const std::string command =
        "ffmpeg -nostdin -loglevel error -y -i '" + (wav_folder / "hello-world.wav").string() + "' '" + file.string() + "'";
    BOOST_REQUIRE_EQUAL(std::system(command.c_str()), 0);
    BOOST_TEST(decode_bytes(bytes_of(file)).has_value());
}

BOOST_AUTO_TEST_CASE(only_the_audio_of_a_film_is_taken) {
    const folder place;
    const std::string bytes =
        encoded(place, "-f lavfi -i color=size=32x32:rate=5 -shortest -c:v mpeg4 -c:a aac -movflags frag_keyframe+empty_moov -f mp4");
    const auto got = decode_bytes(bytes);
    BOOST_REQUIRE(got.has_value());
    BOOST_TEST(loudness(*got) > 0.01);
}

BOOST_AUTO_TEST_CASE(the_offset_of_the_descriptor_is_neither_used_nor_moved) {
    const bytes_in_file file(wav(tone(8000), 1, 16000, 1, 16));
    const auto end = ::lseek(file.file_descriptor(), 0, SEEK_CUR);
    BOOST_TEST(end > 0);
    BOOST_TEST(decode(file.file_descriptor(), hour, [] { return false; }).has_value());
    BOOST_TEST(::lseek(file.file_descriptor(), 0, SEEK_CUR) == end);
}

BOOST_AUTO_TEST_CASE(a_tenth_of_a_second_is_the_least) {
    BOOST_TEST((failure_of(wav(tone(samples_min - 1), 1, 16000, 1, 16)) == errc::audio_too_short));
    const auto least = decode_bytes(wav(tone(samples_min), 1, 16000, 1, 16));
    BOOST_REQUIRE(least.has_value());
    BOOST_TEST(least->size() == samples_min);
    BOOST_TEST(decode_bytes(wav(tone(samples_min + 1), 1, 16000, 1, 16)).has_value());
}

BOOST_AUTO_TEST_CASE(the_longest_is_taken_and_one_sample_more_is_not) {
    const std::string bytes = wav(tone(20'000), 1, 16000, 1, 16);
    BOOST_TEST(decode_bytes(bytes, 20'001).has_value());
    BOOST_TEST(decode_bytes(bytes, 20'000).has_value());
    const auto more = decode_bytes(bytes, 19'999);
    BOOST_REQUIRE(more.has_error());
    BOOST_TEST((more.error().code() == errc::audio_too_large));
}

BOOST_AUTO_TEST_CASE(too_long_a_recording_is_told_its_length_and_the_limit) {
    const std::size_t limit = 2UL * samples_per_second;
    const std::string data = tone(5UL * samples_per_second - 100);
    const auto message_for = [&](const std::string& bytes) {
        const auto got = decode_bytes(bytes, limit);
        BOOST_REQUIRE(got.has_error());
        BOOST_TEST((got.error().code() == errc::audio_too_large));
        return std::string(got.error().message());
    };
    BOOST_TEST(message_for(wav(data, 1, 16000, 1, 16)) == "The audio is about 5 seconds long; the limit is 2 seconds.");
    // A stream's header does not know, and one that is wrong is not repeated.
    for (const std::uint32_t claimed : {0xFFFFFFFFU, 0U, 1'000'000'000U}) {
        BOOST_TEST(message_for(wav(data, 1, 16000, 1, 16, claimed)) == "The audio is more than 2 seconds long; the limit is 2 seconds.");
    }
}

BOOST_AUTO_TEST_CASE(room_is_made_for_what_is_there_and_not_for_what_is_claimed) {
    const std::string data = tone(60UL * samples_per_second);
    const auto got = decode_bytes(wav(data, 1, 16000, 1, 16));
    BOOST_REQUIRE(got.has_value());
    BOOST_TEST(got->size() == 60UL * samples_per_second);
    BOOST_TEST(got->capacity() >= got->size());
    BOOST_TEST(got->capacity() < got->size() + 2UL * samples_per_second);
    const auto lie = decode_bytes(wav(tone(16'000), 1, 16000, 1, 16, 1'000'000'000U));
    BOOST_REQUIRE(lie.has_value());
    BOOST_TEST(lie->capacity() < 100UL * samples_per_second);
}

BOOST_AUTO_TEST_CASE(nothing_and_next_to_nothing) {
    BOOST_TEST((failure_of("") == errc::empty_audio));
    BOOST_TEST((failure_of(wav("", 1, 16000, 1, 16)) == errc::empty_audio));
    BOOST_TEST((failure_of("R") == errc::unsupported_audio));
    BOOST_TEST((failure_of("RIFF") == errc::unsupported_audio));
}

BOOST_AUTO_TEST_CASE(a_header_that_claims_more_than_there_is_gives_what_is_there) {
    // What writers of streams put there, and a recording cut short.
    for (const std::uint32_t claimed : {0xFFFFFFFFU, 0xFFFFFFFEU, 0xFFFFFFFFU - 36, 0xFFFFFFFFU - 44, 0xFFFFFFFFU - 128, 0x7FFFFFFFU,
                                        0x7FFFFFFFU - 44, 0x7FFFF000U, 1'000'000U, 32'000U + (1U << 30) - 1, 0U}) {
        BOOST_TEST_INFO_SCOPE(claimed);
        const auto began = std::chrono::steady_clock::now();
        const auto got = decode_bytes(wav(tone(16'000), 1, 16000, 1, 16, claimed));
        BOOST_TEST((std::chrono::steady_clock::now() - began < 2s));
        BOOST_REQUIRE(got.has_value());
        BOOST_TEST(got->size() == 16'000U);
    }
}

BOOST_AUTO_TEST_CASE(a_header_that_claims_a_gigabyte_that_is_not_there_is_refused) {
    for (const std::uint32_t claimed :
         {4'000'000'000U, 32'000U + (1U << 30), 32'000U + (1U << 30) + 1, 0x7FFFEFFFU, 0x80000000U, 0xFFFFFFFFU - 129}) {
        BOOST_TEST_INFO_SCOPE(claimed);
        const auto began = std::chrono::steady_clock::now();
        const auto got = decode_bytes(wav(tone(16'000), 1, 16000, 1, 16, claimed));
        BOOST_TEST((std::chrono::steady_clock::now() - began < 2s));
        BOOST_REQUIRE(got.has_error());
        BOOST_TEST((got.error().code() == errc::unsupported_audio));
        BOOST_TEST(got.error().message() ==
                   "The WAV header claims " + std::to_string(claimed) + " bytes of audio, but the file holds 32000.");
    }
}

BOOST_AUTO_TEST_CASE(the_data_is_found_behind_other_chunks) {
    const std::string plain = wav(tone(16'000), 1, 16000, 1, 16, 4'000'000'000U);
    const std::size_t data = plain.find("data");
    const std::string list = std::string("LIST") + raw(std::uint32_t{5}) + "INFOx" + '\0';  // Of odd size, padded.
    const std::string many = [&] {
        std::string out;
        for (int i = 0; i < 10; ++i) out += list;
        return out;
    }();
    BOOST_TEST((failure_of(plain.substr(0, data) + many + plain.substr(data)) == errc::unsupported_audio));
    const std::string good = wav(tone(16'000), 1, 16000, 1, 16);
    const auto got = decode_bytes(good.substr(0, data) + many + good.substr(data));
    BOOST_REQUIRE(got.has_value());
    BOOST_TEST(got->size() == 16'000U);
    // Cut anywhere in its head it is no WAV with a claim, and ends well.
    for (std::size_t size = 1; size < 44; ++size) BOOST_TEST(decode_bytes(plain.substr(0, size)).has_error());
}

BOOST_AUTO_TEST_CASE(what_is_no_number_becomes_silence_and_what_is_too_loud_is_cut) {
    std::string data;
    for (int i = 0; i < 4000; ++i) {
        data += raw(i % 4 == 0   ? std::numeric_limits<float>::quiet_NaN()
                    : i % 4 == 1 ? std::numeric_limits<float>::infinity()
                    : i % 4 == 2 ? 1e30F
                                 : -0.5F);
    }
    const auto got = decode_bytes(wav(data, 3, 16000, 1, 32));
    BOOST_REQUIRE(got.has_value());
    BOOST_TEST(got->size() == 4000U);
    for (const float each : *got) {
        BOOST_REQUIRE(std::isfinite(each));
        BOOST_REQUIRE(std::abs(each) <= 1.0F);
    }
}

BOOST_AUTO_TEST_CASE(files_of_other_kinds_are_refused) {
    const std::string model = bytes_of(micro_model);
    for (const std::string& bytes :
         {std::string("PK\3\4") + std::string(3000, 'z'), std::string("%PDF-1.7\n") + std::string(3000, 'p'), std::string(100'000, '\0'),
          std::string("<html><body>") + std::string(3000, ' '), std::string("\x89PNG\r\n\x1a\n") + std::string(3000, 'i'),
          model.substr(0, 100'000), std::string("#!/bin/sh\nexit\n")}) {
        BOOST_TEST_INFO_SCOPE(bytes.substr(0, 8));
        BOOST_TEST((failure_of(bytes) == errc::unsupported_audio));
    }
}

// A playlist or a session description names other files and servers: never read.
BOOST_AUTO_TEST_CASE(what_a_file_names_is_not_followed) {
    const folder place;
    const auto secret = place / "secret.wav";
    write_file(secret, wav(tone(16'000), 1, 16000, 1, 16));
    for (const std::string& bytes :
         {std::string("#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n") + secret.string() + "\n#EXT-X-ENDLIST\n",
          std::string("ffconcat version 1.0\nfile '") + secret.string() + "'\n",
          std::string("v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 5004 RTP/AVP 0\n"),
          std::string("<?xml version=\"1.0\"?><MPD><BaseURL>") + secret.string() + "</BaseURL></MPD>"}) {
        BOOST_TEST((failure_of(bytes) == errc::unsupported_audio));
    }
}

BOOST_AUTO_TEST_CASE(it_stops_when_told) {
    const std::string bytes = bytes_of(wav_folder / "long-memo-45s.wav");
    for (int after = 0; after < 20; ++after) {
        int asked = 0;
        const auto got = decode_bytes(bytes, hour, [&] { return asked++ >= after; });
        BOOST_REQUIRE(got.has_error());
        BOOST_TEST((got.error().code() == errc::cancelled));
    }
}

// No outcome is wrong here but a crash, a hang, or a report of the sanitizers.
BOOST_AUTO_TEST_CASE(damaged_files_of_every_kind_end_well) {
    const folder place;
    std::mt19937 random(7);
    for (const std::string& arguments : {"-f wav", "-f mp3", "-f adts", "-f flac", "-c:a libvorbis -f ogg", "-c:a libopus -f ogg",
                                         "-c:a libopus -f webm", "-c:a aac -movflags frag_keyframe+empty_moov -f mp4"}) {
        const std::string whole = encoded(place, arguments);
        std::size_t decoded = 0;
        for (int round = 0; round < 40; ++round) {
            std::string bytes = whole.substr(0, round % 2 == 0 ? whole.size() : random() % whole.size());
            for (int hits = 0; hits < round % 7 * 3; ++hits) {
                // The head holds the structure, so it is hit more often.
                const std::size_t range = hits % 2 == 0 ? std::min<std::size_t>(bytes.size(), 400) : bytes.size();
                if (range > 0) bytes[random() % range] = static_cast<char>(random());
            }
            const auto got = decode_bytes(bytes, hour);
            if (got)
                ++decoded;
            else
                BOOST_TEST(entry_of(got.error().code()).status >= 400);
        }
        BOOST_TEST_INFO_SCOPE(arguments);
        BOOST_TEST(decoded > 0U);
    }
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_refused) {
    const owned_descriptor null(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
    BOOST_TEST((decode(null.get(), hour, [] { return false; }).error().code() == errc::unsupported_audio));
    BOOST_TEST((decode(-1, hour, [] { return false; }).error().code() == errc::unsupported_audio));
}

// 4.9 kB whose two tracks claim 2^26 samples each: 1.6 GB of index a track, were it believed.
BOOST_AUTO_TEST_CASE(an_index_that_claims_gigabytes_does_not_get_them) {
    const auto peak_kibibytes = [] {
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        return used.ru_maxrss;
    };
    const auto before = peak_kibibytes();
    (void)decode_bytes(bytes_of(data_folder / "hostile" / "index-of-gigabytes.m4a"));
    BOOST_TEST(peak_kibibytes() - before < 1024 * 1024);
}

BOOST_AUTO_TEST_CASE(absurd_headers_are_refused_quickly) {
    const auto began = std::chrono::steady_clock::now();
    for (const auto& [rate, channels] : {std::pair(1U, 1), std::pair(3999U, 1), std::pair(768'001U, 1), std::pair(4'000'000'000U, 1),
                                         std::pair(16000U, 65), std::pair(16000U, 0)}) {
        BOOST_TEST_INFO_SCOPE(rate << " " << channels);
        BOOST_TEST((failure_of(wav(tone(65 * 2000), 1, rate, static_cast<std::uint16_t>(channels), 16)) == errc::unsupported_audio));
    }
    for (const std::uint32_t rate : {4000U, 768'000U}) BOOST_TEST(decode_bytes(wav(tone(200'000, rate), 1, rate, 1, 16)).has_value());
    BOOST_TEST((std::chrono::steady_clock::now() - began < 5s));
}

BOOST_AUTO_TEST_SUITE_END()
