// The FLAC writer by itself, where sanitizers see it: what is written is read back sample by sample, at every length around a
// frame's, and a file that takes no more ends it.
#include "support.hpp"

#include <backends/whisper/process.hpp>
#include <backends/whisper/worker/decode.hpp>
#include <backends/whisper/worker/flac.hpp>

#include <sys/mman.h>

#include <cmath>
#include <random>

namespace {

using namespace hearonce;
using namespace hearonce::whisper;
using namespace hearonce::whisper::test;

owned_descriptor memory_file() {
    owned_descriptor made(::memfd_create("flac", MFD_CLOEXEC));
    BOOST_REQUIRE(made.get() >= 0);
    return made;
}

// Whole 16 bit values, so that nothing is lost by rounding.
std::vector<float> noise(std::size_t count) {
    std::mt19937 random(static_cast<unsigned>(count));
    std::vector<float> made(count);
    for (float& each : made) each = static_cast<float>(static_cast<int>(random() % 65536) - 32768) / 32768.0F;
    return made;
}

result<std::vector<float>> read_back(int file) {
    return decode(file, 1'000'000, [] { return false; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(flac)

BOOST_AUTO_TEST_CASE(every_sample_comes_back) {
    for (const std::size_t count : {1600UL, 2303UL, 2304UL, 2305UL, 4607UL, 4608UL, 4609UL, 9216UL, 50'001UL}) {
        for (const std::size_t piece : {count, std::size_t{1}, std::size_t{1000}, std::size_t{4608}}) {
            BOOST_TEST_INFO_SCOPE(count << " in pieces of " << piece);
            const auto samples = noise(count);
            const auto file = memory_file();
            flac_file out(file.get());
            BOOST_REQUIRE(out.good());
            for (std::size_t at = 0; at < count; at += piece)
                BOOST_REQUIRE(out.add(std::span(samples).subspan(at, std::min(piece, count - at))));
            BOOST_REQUIRE(out.finish());
            const auto got = read_back(file.get());
            BOOST_REQUIRE(got.has_value());
            BOOST_TEST((*got == samples));
        }
    }
}

BOOST_AUTO_TEST_CASE(what_is_too_loud_is_cut) {
    std::vector<float> samples(3200, 2.0F);
    std::fill(samples.begin(), samples.begin() + 1600, -2.0F);
    const auto file = memory_file();
    flac_file out(file.get());
    BOOST_REQUIRE(out.add(samples));
    BOOST_REQUIRE(out.finish());
    const auto got = read_back(file.get());
    BOOST_REQUIRE(got.has_value());
    BOOST_TEST(got->front() == -1.0F);
    BOOST_TEST(got->back() > 0.9999F);
}

BOOST_AUTO_TEST_CASE(nothing_is_a_file_without_a_sample) {
    const auto file = memory_file();
    flac_file out(file.get());
    BOOST_TEST(out.finish());
    BOOST_TEST((read_back(file.get()).error().code() == errc::empty_audio));
    BOOST_TEST(!out.finish());
}

BOOST_AUTO_TEST_CASE(a_file_that_takes_nothing) {
    const owned_descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    flac_file out(full.get());
    BOOST_TEST(!out.good());
    BOOST_TEST(!out.add(noise(10)));
    BOOST_TEST(!out.finish());
}

BOOST_AUTO_TEST_CASE(a_file_that_takes_no_more) {
    const auto file = memory_file();
    flac_file out(file.get());
    BOOST_REQUIRE(out.good());
    const owned_descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    BOOST_REQUIRE(::dup3(full.get(), file.get(), O_CLOEXEC) >= 0);
    const auto samples = noise(16'000);
    int seconds = 0;
    // It is written by the quarter of a megabyte.
    while (seconds < 100 && out.add(samples)) ++seconds;
    BOOST_TEST(seconds < 20);
    BOOST_TEST(!out.good());
    BOOST_TEST(!out.finish());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(pieces)

BOOST_AUTO_TEST_CASE(joined_are_the_whole) {
    const bytes_in_file file(bytes_of(wav_folder / "long-memo-45s.wav"));
    const auto whole = decode(file.file_descriptor(), 1'000'000, [] { return false; });
    BOOST_REQUIRE(whole.has_value());
    std::vector<float> joined;
    std::size_t largest = 0;
    const auto count = decode_in_pieces(
        file.file_descriptor(), 1'000'000, [] { return false; },
        [&](const std::vector<float>& piece) {
            joined.insert(joined.end(), piece.begin(), piece.end());
            largest = std::max(largest, piece.size());
            return true;
        });
    BOOST_REQUIRE(count.has_value());
    BOOST_TEST(*count == whole->size());
    BOOST_TEST((joined == *whole));
    // Seconds and not the recording.
    BOOST_TEST(largest < 10UL * samples_per_second);
}

BOOST_AUTO_TEST_CASE(the_limit_counts_what_was_handed_on) {
    const bytes_in_file file(bytes_of(wav_folder / "long-memo-45s.wav"));
    const auto run = [&](std::size_t samples_max) {
        return decode_in_pieces(file.file_descriptor(), samples_max, [] { return false; }, [](const auto&) { return true; });
    };
    const std::size_t all = *run(1'000'000);
    BOOST_TEST(run(all).has_value());
    BOOST_TEST((run(all - 1).error().code() == errc::audio_too_large));
    BOOST_TEST((run(1).error().code() == errc::audio_too_large));
}

BOOST_AUTO_TEST_CASE(who_takes_them_may_stop_it) {
    const bytes_in_file file(bytes_of(wav_folder / "long-memo-45s.wav"));
    for (int after = 0; after < 3; ++after) {
        int taken = 0;
        const auto got =
            decode_in_pieces(file.file_descriptor(), 1'000'000, [] { return false; }, [&](const auto&) { return taken++ < after; });
        BOOST_TEST((got.error().code() == errc::audio_too_large));
        BOOST_TEST(taken == after + 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()
