// Recordings of every kind decoded by the helper as it is, and helpers that misbehave: what comes back, what is bounded, and
// that no process, descriptor or place is left behind.
#define BOOST_TEST_MODULE whisper_transcode
#include "support.hpp"

#include <backends/whisper/protocol.hpp>
#include <backends/whisper/transcode.hpp>
#include <backends/whisper/transcode_places.hpp>

#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

namespace {

using namespace hearonce;
using namespace hearonce::whisper;
using namespace hearonce::whisper::test;

struct attempt_at {
    std::optional<result<transcoded>> outcome;
    asio::cancellation_signal cancel;
};

std::size_t descriptors() {
    const std::filesystem::directory_iterator open("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(open), end(open)));
}

struct bed {
    explicit bed(std::filesystem::path helper = HEARONCE_HELPER) {
        settings.helper = std::move(helper);
        settings.log = [this](const std::string& line) {
            const std::lock_guard lock(mutex);
            lines.push_back(line);
        };
    }

    std::shared_ptr<attempt_at> start(asio::io_context& loop, std::shared_ptr<const recording> audio,
                                      deadline limit = deadline::after(60s)) {
        if (!decoder) decoder = create_transcoder(settings);
        auto made = std::make_shared<attempt_at>();
        auto work = decoder->to_flac(std::move(audio), limit);
        asio::co_spawn(loop, deadline_detail::optional_of(std::move(work)),
                       asio::bind_cancellation_slot(made->cancel.slot(), [made](std::exception_ptr thrown, auto value) {
                           if (thrown) std::rethrow_exception(thrown);
                           made->outcome = std::move(value);
                       }));
        return made;
    }

    result<transcoded> run(std::shared_ptr<const recording> audio, deadline limit = deadline::after(60s)) {
        asio::io_context loop(1);
        const auto made = start(loop, std::move(audio), limit);
        loop.run_for(60s);
        BOOST_TEST_REQUIRE(made->outcome.has_value(), "it did not end");
        BOOST_TEST(loop.stopped(), "it left work behind");
        // Reaped, every one of them.
        BOOST_TEST(::waitpid(-1, nullptr, WNOHANG) == -1, "it left a process behind");
        return std::move(*made->outcome);
    }

    errc failure_of(const std::string& bytes) {
        const auto got = run(recording_of(bytes));
        return got ? errc::not_found : got.error().code();
    }

    transcode_settings settings;
    std::shared_ptr<transcoder> decoder;
    std::mutex mutex;
    std::vector<std::string> lines;
};

std::string read_all(const stored_bytes& from) {
    std::string out(from.size_bytes(), '\0');
    BOOST_REQUIRE_EQUAL(::pread(from.file_descriptor(), out.data(), out.size(), 0), static_cast<ssize_t>(out.size()));
    return out;
}

std::string output_of(const std::string& command) {
    FILE* pipe = ::popen(command.c_str(), "r");
    BOOST_REQUIRE(pipe != nullptr);
    std::string out;
    std::array<char, 65536> room;
    while (const std::size_t n = std::fread(room.data(), 1, room.size(), pipe)) out.append(room.data(), n);
    BOOST_REQUIRE_EQUAL(::pclose(pipe), 0);
    return out;
}

// 16 bit samples, as an independent reader of the file finds them; it verifies each frame's and the whole's checksum.
std::vector<std::int16_t> samples_of(const folder& place, const std::string& file) {
    write_file(place / "in", file);
    const std::string raw = output_of("ffmpeg -nostdin -loglevel error -xerror -err_detect crccheck+explode -i '" +
                                      (place / "in").string() + "' -f s16le -ar 16000 -ac 1 pipe:1");
    std::vector<std::int16_t> out(raw.size() / 2);
    std::memcpy(out.data(), raw.data(), out.size() * 2);
    return out;
}

std::string encoded(const folder& place, const std::string& arguments, const std::string& wav = "call-me-back-tomorrow-at-nine.wav") {
    const auto out = place / "encoded";
    const std::string command =
        "ffmpeg -nostdin -loglevel error -y -i '" + (wav_folder / wav).string() + "' " + arguments + " '" + out.string() + "'";
    BOOST_REQUIRE_EQUAL(std::system(command.c_str()), 0);
    return bytes_of(out);
}

double loudness(const std::vector<std::int16_t>& samples) {
    double sum = 0;
    for (const auto each : samples) sum += static_cast<double>(each) * static_cast<double>(each);
    return std::sqrt(sum / static_cast<double>(samples.size()));
}

// A helper for one test: a shell script that gets the socket as descriptor 3.
std::filesystem::path script(const folder& place, const std::string& text) {
    const auto file = place / "helper";
    write_file(file, "#!/bin/sh\n" + text + "\n");
    BOOST_REQUIRE_EQUAL(::chmod(file.c_str(), 0755), 0);
    return file;
}

std::filesystem::path saying(const folder& place, const std::string& frames, const std::string& then) {
    write_file(place / "frames", frames);
    return script(place, "cat '" + (place / "frames").string() + "' >&3\n" + then);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decoding)

BOOST_AUTO_TEST_CASE(every_kind_of_recording_becomes_flac_of_the_same_sound) {
    const folder place;
    const auto wanted = samples_of(place, bytes_of(wav_folder / "call-me-back-tomorrow-at-nine.wav"));
    for (const std::string arguments :
         {"-c:a aac -f ipod", "-c:a libopus -f webm", "-c:a aac -movflags frag_keyframe+empty_moov -f mp4", "-c:a alac -f ipod", "-f mp3",
          "-c:a libopus -f ogg", "-f wav", "-ar 44100 -ac 2 -c:a aac -f mp4"}) {
        BOOST_TEST_INFO_SCOPE(arguments);
        bed work;
        const std::string bytes = encoded(place, arguments);
        for (const auto& audio : {recording_of(bytes), spilled_recording_of(bytes)}) {
            const auto got = work.run(audio);
            BOOST_REQUIRE_MESSAGE(got.has_value(), got.error().message());
            const std::string flac = read_all(*got->bytes);
            BOOST_TEST(flac.starts_with("fLaC"));
            const auto samples = samples_of(place, flac);
            BOOST_TEST(std::abs(got->seconds - static_cast<double>(samples.size()) / 16000) < 0.001);
            BOOST_TEST(std::abs(static_cast<double>(samples.size()) - static_cast<double>(wanted.size())) < 0.15 * 16000);
            BOOST_TEST(loudness(samples) > 0.6 * loudness(wanted));
            BOOST_TEST(loudness(samples) < 1.4 * loudness(wanted));
        }
        BOOST_TEST(work.lines.empty());
    }
}

BOOST_AUTO_TEST_CASE(of_a_wav_of_the_same_shape_no_sample_changes_and_half_the_bytes_are_saved) {
    const folder place;
    for (const char* name : {"hello-world.wav", "long-memo-45s.wav"}) {
        const std::string wav = bytes_of(wav_folder / name);
        bed work;
        const auto got = work.run(recording_of(wav));
        BOOST_REQUIRE(got.has_value());
        BOOST_TEST((samples_of(place, read_all(*got->bytes)) == samples_of(place, wav)));
        BOOST_TEST(got->bytes->size_bytes() < wav.size() * 7 / 10);
    }
}

BOOST_AUTO_TEST_CASE(the_result_cannot_be_changed_and_counts_until_it_is_gone) {
    bed work;
    {
        auto got = work.run(recording_of(bytes_of(wav_folder / "hello-world.wav")));
        BOOST_REQUIRE(got.has_value());
        BOOST_TEST(work.decoder->bytes_in_use() == got->bytes->size_bytes());
        const char byte = 'x';
        BOOST_TEST(::pwrite(got->bytes->file_descriptor(), &byte, 1, 0) == -1);
        BOOST_TEST(::ftruncate(got->bytes->file_descriptor(), 1) == -1);
        BOOST_TEST(got->bytes->pieces().empty());
    }
    BOOST_TEST(work.decoder->bytes_in_use() == 0U);
}

BOOST_AUTO_TEST_CASE(what_is_no_recording_is_the_caller_s_fault) {
    bed work;
    BOOST_TEST((work.failure_of("") == errc::empty_audio));
    BOOST_TEST((work.failure_of(std::string(5000, 'z')) == errc::unsupported_audio));
    BOOST_TEST((work.failure_of("#EXTM3U\n/etc/passwd\n") == errc::unsupported_audio));
    BOOST_TEST((work.failure_of(bytes_of(micro_model).substr(0, 100'000)) == errc::unsupported_audio));
    BOOST_TEST((work.failure_of(bytes_of(data_folder / "hostile" / "index-of-gigabytes.m4a")) != errc::upstream_error));
    // A recording that was cut short is worth what it holds.
    BOOST_TEST(work.run(recording_of(bytes_of(wav_folder / "hello-world.wav").substr(0, 20'000))).has_value());
    BOOST_TEST(work.lines.empty());
}

BOOST_AUTO_TEST_CASE(too_long_in_seconds_or_bytes_is_too_large) {
    const std::string memo = bytes_of(wav_folder / "long-memo-45s.wav");
    bed seconds;
    seconds.settings.audio_seconds_max = 44;
    const auto by_length = seconds.run(recording_of(memo));
    BOOST_TEST((by_length.error().code() == errc::audio_too_large));
    BOOST_TEST(std::string(by_length.error().message()).find("44 seconds") != std::string::npos);
    bed reference;
    const auto whole = reference.run(recording_of(memo));
    const auto size = whole->bytes->size_bytes();
    bed bytes;
    bytes.settings.flac_bytes_max = size;
    BOOST_TEST(bytes.run(recording_of(memo)).has_value());
    bed less;
    less.settings.flac_bytes_max = size - 1;
    const auto by_size = less.run(recording_of(memo));
    BOOST_TEST((by_size.error().code() == errc::audio_too_large));
    BOOST_TEST(std::string(by_size.error().message()).find(std::to_string(size - 1)) != std::string::npos);
}

// Whatever the bytes do to the decoder, it ends with a word, and the gateway's descriptors are as before.
BOOST_AUTO_TEST_CASE(damaged_files_end_well) {
    const folder place;
    std::mt19937 random(11);
    const std::string whole = encoded(place, "-c:a aac -f ipod", "hello-world.wav");
    bed work;
    work.failure_of("");
    const auto before = descriptors();
    for (int round = 0; round < 25; ++round) {
        std::string bytes = whole.substr(0, round % 2 == 0 ? whole.size() : random() % whole.size());
        for (int hits = 0; hits < round; ++hits) {
            if (!bytes.empty()) bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        const auto got = work.run(recording_of(bytes));
        if (!got) BOOST_TEST(entry_of(got.error().code()).status < 500);
    }
    BOOST_TEST(descriptors() == before);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(helpers)

BOOST_AUTO_TEST_CASE(one_that_is_missing_or_no_program) {
    const folder place;
    write_file(place / "text", "no program");
    for (const auto& helper : {place / "missing", place / "text"}) {
        bed work(helper);
        const auto got = work.run(recording_of("RIFF"));
        BOOST_TEST((got.error().code() == errc::upstream_error));
        BOOST_TEST((got.error().remedy() == remedy::elsewhere));
        BOOST_TEST_REQUIRE(work.lines.size() == 1U);
        BOOST_TEST(work.lines[0].find(helper.string()) != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(one_that_ends_before_it_is_ready_is_broken_afterwards_the_recording_is) {
    const folder place;
    const std::string ready = encode(helper_ready{});
    // It ends with the recording in its hands, not before it got it.
    const std::string took = "head -c 4 <&3 >/dev/null; ";
    struct row {
        std::string frames;
        std::string then;
        errc code;
    };
    for (const row& each :
         {row{"", "exit 1", errc::upstream_error}, row{"", "kill -SEGV $$", errc::upstream_error},
          row{ready, took + "exit 0", errc::unsupported_audio}, row{ready, took + "kill -SEGV $$", errc::unsupported_audio},
          row{ready, took + "kill -KILL $$", errc::unsupported_audio},
          row{encode(helper_failed{"no sandbox"}), "exit 1", errc::upstream_error},
          row{std::string("\0\0\0\2{]", 6), "exit 1", errc::upstream_error}, row{"\xff\xff\xff\xff", "exit 1", errc::upstream_error},
          row{ready + encode(job_step{1, 0, false}), "exec sleep 30", errc::upstream_error},
          // Done, and nothing written.
          row{ready + encode(job_done{1, {}}), "exec sleep 30", errc::upstream_error},
          row{ready + encode(job_failed{1, errc::internal_error, "x", ""}), "exec sleep 30", errc::upstream_error},
          row{ready + encode(job_failed{1, errc::invalid_api_key, "x", ""}), "exec sleep 30", errc::upstream_error},
          row{ready + encode(job_failed{1, errc::audio_too_short, "too short", ""}), "exec sleep 30", errc::audio_too_short}}) {
        bed work(saying(place, each.frames, each.then));
        const auto got = work.run(recording_of("RIFF"));
        BOOST_TEST_REQUIRE(got.has_error());
        BOOST_TEST_INFO_SCOPE(each.then << " " << got.error().message());
        BOOST_TEST((got.error().code() == each.code));
        BOOST_TEST(work.lines.size() == (each.code == errc::audio_too_short ? 0U : 1U));
        BOOST_TEST(work.decoder->bytes_in_use() == 0U);
    }
}

BOOST_AUTO_TEST_CASE(one_that_hangs_is_killed_at_the_end_of_its_time_or_the_work_s) {
    const folder place;
    bed own(saying(place, encode(helper_ready{}), "exec sleep 30"));
    own.settings.time_max = 100ms;
    const auto late = own.run(recording_of("RIFF"));
    BOOST_TEST((late.error().code() == errc::upstream_timeout));
    bed outer(script(place, "exec sleep 30"));
    const auto cut = outer.run(recording_of("RIFF"), deadline::after(100ms));
    BOOST_TEST((cut.error().code() == errc::upstream_timeout));
}

BOOST_AUTO_TEST_CASE(cancelled_it_is_killed) {
    const folder place;
    const auto marker = place / "began";
    bed work(script(place, "touch '" + marker.string() + "'\nexec sleep 30"));
    const auto before = descriptors();
    {
        asio::io_context loop(1);
        const auto made = work.start(loop, recording_of("RIFF"));
        run_until(loop, [&] { return std::filesystem::exists(marker); });
        made->cancel.emit(asio::cancellation_type::terminal);
        run_until(loop, [&] { return made->outcome.has_value(); });
        BOOST_TEST((made->outcome->error().code() == errc::cancelled));
        BOOST_TEST(::waitpid(-1, nullptr, WNOHANG) == -1);
    }
    BOOST_TEST(descriptors() == before);
}

BOOST_AUTO_TEST_CASE(a_loop_that_is_destroyed_takes_the_process_along) {
    const folder place;
    bed work(script(place, "exec sleep 30"));
    {
        asio::io_context loop(1);
        work.start(loop, recording_of("RIFF"));
        loop.run_for(50ms);
    }
    BOOST_TEST(::waitpid(-1, nullptr, WNOHANG) == -1);
}

BOOST_AUTO_TEST_CASE(no_more_at_a_time_than_there_are_places) {
    const folder place;
    const auto log = place / "log";
    // Each notes its beginning, waits for leave, and notes its end.
    bed work(script(place,
                    "echo begin >> '" + log.string() + "'\nwhile [ ! -e '" + (place / "go").string() + "' ]; do sleep 0.02; done\nexit 1"));
    work.settings.jobs_max = 2;
    work.settings.waiting_max = 2;
    asio::io_context loop(1);
    std::vector<std::shared_ptr<attempt_at>> all;
    for (int i = 0; i < 5; ++i) all.push_back(work.start(loop, recording_of("RIFF")));
    const auto begun = [&] { return std::filesystem::exists(log) ? bytes_of(log).size() / 6 : 0; };
    run_until(loop, [&] { return begun() == 2 && all[4]->outcome.has_value(); });
    // Two run, two wait, the fifth finds no chair.
    BOOST_TEST((all[4]->outcome->error().code() == errc::overloaded));
    BOOST_TEST(all[4]->outcome->error().retry_after().has_value());
    BOOST_TEST(begun() == 2U);
    // One of those who wait leaves.
    all[2]->cancel.emit(asio::cancellation_type::terminal);
    run_until(loop, [&] { return all[2]->outcome.has_value(); });
    BOOST_TEST((all[2]->outcome->error().code() == errc::cancelled));
    write_file(place / "go", "");
    run_until(loop, [&] { return all[0]->outcome && all[1]->outcome && all[3]->outcome; });
    BOOST_TEST(begun() == 3U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(places)

struct taking {
    explicit taking(const std::shared_ptr<transcode_places>& of) : place(std::make_unique<transcode_places::place>(of)) {}
    std::unique_ptr<transcode_places::place> place;
    std::optional<std::optional<error>> outcome;
    asio::cancellation_signal cancel;
    bool seated() const { return outcome && !*outcome; }
};

std::shared_ptr<taking> take(asio::io_context& loop, const std::shared_ptr<transcode_places>& of, deadline limit = deadline::after(60s)) {
    auto made = std::make_shared<taking>(of);
    asio::co_spawn(loop, made->place->take(limit),
                   asio::bind_cancellation_slot(made->cancel.slot(), [made](std::exception_ptr thrown, std::optional<error> refused) {
                       if (thrown) std::rethrow_exception(thrown);
                       made->outcome = std::move(refused);
                   }));
    return made;
}

BOOST_AUTO_TEST_CASE(who_came_first_is_first) {
    asio::io_context loop(1);
    const auto of = std::make_shared<transcode_places>(1, 10, 100);
    std::vector<std::shared_ptr<taking>> all;
    for (int i = 0; i < 4; ++i) all.push_back(take(loop, of));
    for (std::size_t i = 0; i < all.size(); ++i) {
        run_until(loop, [&] { return all[i]->outcome.has_value(); });
        BOOST_TEST(all[i]->seated());
        for (std::size_t later = i + 1; later < all.size(); ++later) BOOST_TEST(!all[later]->outcome.has_value());
        all[i]->place.reset();
    }
    BOOST_TEST(of->waiting() == 0U);
}

BOOST_AUTO_TEST_CASE(bytes_in_use_keep_others_waiting) {
    asio::io_context loop(1);
    const auto of = std::make_shared<transcode_places>(2, 10, 100);
    of->add_bytes(99);
    const auto first = take(loop, of);
    run_until(loop, [&] { return first->seated(); });
    of->add_bytes(1);
    const auto second = take(loop, of);
    loop.restart();
    loop.poll();
    BOOST_TEST(!second->outcome.has_value());
    of->give_back_bytes(1);
    run_until(loop, [&] { return second->seated(); });
    of->give_back_bytes(99);
    BOOST_TEST(of->bytes() == 0U);
}

BOOST_AUTO_TEST_CASE(who_waits_too_long_leaves_no_trace) {
    asio::io_context loop(1);
    const auto of = std::make_shared<transcode_places>(1, 10, 100);
    const auto first = take(loop, of);
    const auto late = take(loop, of, deadline::after(20ms));
    run_until(loop, [&] { return late->outcome.has_value(); });
    BOOST_TEST((late->outcome->value().code() == errc::overloaded));
    late->place.reset();
    BOOST_TEST(of->waiting() == 0U);
    first->place.reset();
    const auto next = take(loop, of);
    run_until(loop, [&] { return next->seated(); });
}

// A place that is granted in the same turn as its owner leaves goes to the next.
BOOST_AUTO_TEST_CASE(a_grant_that_meets_a_cancellation_is_not_lost) {
    asio::io_context loop(1);
    const auto of = std::make_shared<transcode_places>(1, 10, 100);
    const auto first = take(loop, of);
    const auto second = take(loop, of);
    const auto third = take(loop, of);
    loop.poll();
    first->place.reset();
    second->cancel.emit(asio::cancellation_type::terminal);
    run_until(loop, [&] { return second->outcome.has_value(); });
    second->place.reset();
    run_until(loop, [&] { return third->seated(); });
}

BOOST_AUTO_TEST_CASE(over_many_loops_none_is_lost_and_none_made) {
    const auto of = std::make_shared<transcode_places>(2, 1000, 100);
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    std::atomic<int> served = 0;
    struct worker {
        static asio::awaitable<void> go(std::shared_ptr<transcode_places> places, std::atomic<int>& in, std::atomic<int>& high,
                                        std::atomic<int>& count) {
            auto executor = co_await asio::this_coro::executor;
            for (int i = 0; i < 200; ++i) {
                transcode_places::place mine(places);
                auto refused = co_await mine.take(deadline::after(60s));
                if (refused) continue;
                const int now = ++in;
                int seen = high;
                while (now > seen && !high.compare_exchange_weak(seen, now)) {
                }
                co_await asio::post(executor, asio::use_awaitable);
                --in;
                ++count;
            }
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            asio::io_context loop(1);
            for (int j = 0; j < 3; ++j) {
                asio::co_spawn(loop, worker::go(of, inside, most, served), [](std::exception_ptr thrown) {
                    if (thrown) std::rethrow_exception(thrown);
                });
            }
            loop.run();
        });
    }
    for (auto& each : threads) each.join();
    BOOST_TEST(served == 4 * 3 * 200);
    BOOST_TEST(most <= 2);
    BOOST_TEST(of->waiting() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
