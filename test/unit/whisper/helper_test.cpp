// The helper program as people and the gateway start it: its words, its formats, its languages, its sandbox.
#define BOOST_TEST_MODULE whisper_helper
#include "support.hpp"

#include <backends/whisper/audio_file.hpp>
#include <backends/whisper/channel.hpp>
#include <backends/whisper/process.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace {

using namespace hearonce;
using namespace hearonce::whisper;
using namespace hearonce::whisper::test;

struct said {
    int status = -1;
    std::string out;  // And error output.
};

said run(const std::string& arguments) {
    const std::string command = std::string("'") + HEARONCE_HELPER + "' " + arguments + " 2>&1";
    FILE* pipe = ::popen(command.c_str(), "r");
    BOOST_REQUIRE(pipe != nullptr);
    said got;
    std::array<char, 4096> room;
    while (const std::size_t n = std::fread(room.data(), 1, room.size(), pipe)) got.out.append(room.data(), n);
    const int status = ::pclose(pipe);
    got.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return got;
}

std::string quoted(const std::filesystem::path& path) {
    return "'" + path.string() + "'";
}

template <class T>
T number_at(const std::string& bytes, std::size_t at) {
    T value;
    BOOST_REQUIRE(at + sizeof value <= bytes.size());
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

// The test model made multilingual: one row more in its token table, so that every special token moves by one. What it
// writes is of no meaning, but every path of languages is walked.
std::string multilingual_model() {
    std::string bytes = bytes_of(micro_model);
    const std::int32_t vocabulary = number_at<std::int32_t>(bytes, 4);
    const std::int32_t more = vocabulary + 1;
    std::memcpy(bytes.data() + 4, &more, sizeof more);
    std::size_t at = 4 + 11 * 4;
    at += 8 + 4UL * static_cast<std::size_t>(number_at<std::int32_t>(bytes, at) * number_at<std::int32_t>(bytes, at + 4));
    std::int32_t words = number_at<std::int32_t>(bytes, at);
    for (at += 4; words > 0; --words) at += 4 + number_at<std::uint32_t>(bytes, at);
    while (at < bytes.size()) {
        const auto dimensions = static_cast<std::size_t>(number_at<std::int32_t>(bytes, at));
        const auto name_bytes = static_cast<std::size_t>(number_at<std::int32_t>(bytes, at + 4));
        const std::size_t item_bytes = number_at<std::int32_t>(bytes, at + 8) == 0 ? 4 : 2;
        std::size_t items = 1;
        for (std::size_t i = 0; i < dimensions; ++i) items *= static_cast<std::size_t>(number_at<std::int32_t>(bytes, at + 12 + 4 * i));
        const std::size_t data = at + 12 + 4 * dimensions + name_bytes;
        if (dimensions == 2 && number_at<std::int32_t>(bytes, at + 16) == vocabulary) {
            const std::size_t row = item_bytes * static_cast<std::size_t>(number_at<std::int32_t>(bytes, at + 12));
            std::memcpy(bytes.data() + at + 16, &more, sizeof more);
            constexpr std::size_t first_special = 50256;
            bytes.insert(data + first_special * row, bytes.substr(data + first_special * row, row));
            return bytes;
        }
        at = data + items * item_bytes;
    }
    BOOST_FAIL("no token table");
    return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(by_hand)

BOOST_AUTO_TEST_CASE(it_tells_what_it_is) {
    const said help = run("--help");
    BOOST_TEST(help.status == 0);
    BOOST_TEST(help.out.find("--language") != std::string::npos);
    const said version = run("--version");
    BOOST_TEST(version.status == 0);
    BOOST_TEST(version.out == "hearonce-whisper " HEARONCE_VERSION "\n");
}

BOOST_AUTO_TEST_CASE(it_prints_a_transcript_in_each_format) {
    const std::string both = quoted(micro_model) + " " + quoted(wav_folder / "hello-world.wav");
    const said text = run(both);
    BOOST_TEST(text.status == 0);
    BOOST_TEST(text.out == "hello world\n");
    const said srt = run(both + " --format srt");
    BOOST_TEST(srt.out.starts_with("1\n00:00:00,"));
    BOOST_TEST(srt.out.find("\nhello world\n") != std::string::npos);
    const auto json = boost::json::parse(run(both + " --format json").out).as_object();
    BOOST_TEST(std::string(json.at("text").as_string()) == "hello world");
    BOOST_TEST(std::string(json.at("language").as_string()) == "english");
    BOOST_TEST(json.at("segments").as_array().size() == 1U);
}

BOOST_AUTO_TEST_CASE(silence_is_no_error) {
    const said got = run(quoted(micro_model) + " " + quoted(wav_folder / "silence-3s.wav"));
    BOOST_TEST(got.status == 0);
    BOOST_TEST(got.out == "\n");
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
    BOOST_TEST(run("").status == 2);
    BOOST_TEST(run(quoted(micro_model)).status == 2);
    BOOST_TEST(run(quoted(micro_model) + " x --format pdf").status == 2);
    BOOST_TEST(run(quoted(micro_model) + " x --temperature 1.1").status == 2);
    const said no_file = run(quoted(micro_model) + " /nowhere.wav");
    BOOST_TEST(no_file.status == 1);
    BOOST_TEST(no_file.out.find("/nowhere.wav: No such file") != std::string::npos);
    const said no_model = run("/nowhere.bin " + quoted(wav_folder / "hello-world.wav"));
    BOOST_TEST(no_model.status == 1);
    BOOST_TEST(no_model.out.find("there is no such file") != std::string::npos);
    const said folder_model = run("/tmp " + quoted(wav_folder / "hello-world.wav"));
    BOOST_TEST(folder_model.status == 1);
    BOOST_TEST(folder_model.out.find("it is not a file") != std::string::npos);
    const said no_audio = run(quoted(micro_model) + " " + quoted(micro_model));
    BOOST_TEST(no_audio.status == 1);
    BOOST_TEST(no_audio.out.find("could not be decoded") != std::string::npos);
    const said too_long = run(quoted(micro_model) + " --audio-seconds-max 1 " + quoted(wav_folder / "hello-world.wav"));
    BOOST_TEST(too_long.status == 1);
    BOOST_TEST(too_long.out.find("about 2 seconds long; the limit is 1 seconds") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(bound_threads_are_set_free_rather_than_refused) {
    for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) {
        BOOST_TEST_INFO_SCOPE(name);
        ::setenv(name, name[0] == 'G' ? "0" : name[4] == 'P' && name[5] == 'R' ? "true" : "cores", 1);
        const said got = run(quoted(micro_model) + " --threads 2 " + quoted(wav_folder / "hello-world.wav"));
        ::unsetenv(name);
        BOOST_TEST(got.out == "hello world\n");
    }
}

BOOST_AUTO_TEST_CASE(long_and_odd_prompts_do_no_harm) {
    const std::string both = quoted(micro_model) + " " + quoted(wav_folder / "hello-world.wav") + " --no-context ";
    for (const std::string& prompt : {std::string(50'000, 'x'), std::string("\xFF\xFE"), std::string("\xC3\xA9\xE4\xBD\xA0")}) {
        const said got = run(both + "--prompt '" + prompt + "'");
        BOOST_TEST(got.status == 0);
        BOOST_TEST(!got.out.empty());
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(languages)

BOOST_AUTO_TEST_CASE(an_english_model_takes_any_and_says_english) {
    for (const std::string& language : {"de", "german", "klingon", "auto"}) {
        const said got =
            run(quoted(micro_model) + " " + quoted(wav_folder / "hello-world.wav") + " --format json --translate --language " + language);
        BOOST_TEST(got.status == 0);
        BOOST_TEST(std::string(boost::json::parse(got.out).at("language").as_string()) == "english");
    }
}

BOOST_AUTO_TEST_CASE(a_multilingual_model_knows_codes_and_names_and_nothing_else) {
    const folder place;
    write_file(place / "many.bin", multilingual_model());
    const std::string both = quoted(place / "many.bin") + " " + quoted(wav_folder / "hello-world.wav") + " --format json ";
    const auto language_for = [&](const std::string& more) {
        const said got = run(both + more);
        BOOST_REQUIRE_MESSAGE(got.status == 0, got.out);
        return std::string(boost::json::parse(got.out).at("language").as_string());
    };
    BOOST_TEST(language_for("--language de") == "german");
    BOOST_TEST(language_for("--language DE") == "german");
    BOOST_TEST(language_for("--language German") == "german");
    BOOST_TEST(language_for("--language de-AT") == "german");
    BOOST_TEST(language_for("--language zh") == "chinese");
    BOOST_TEST(language_for("--language de --translate") == "english");
    BOOST_TEST(!language_for("").empty());  // Detected; which one is of no meaning here.
    for (const std::string& unknown : {"klingon", "xx", "xx-DE", "-"}) {
        const said got = run(both + "--language=" + unknown);
        BOOST_TEST(got.status == 1);
        BOOST_TEST(got.out.find("language is not known") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(an_unknown_language_names_its_field_to_the_caller) {
    const folder place;
    write_file(place / "many.bin", multilingual_model());
    asio::io_context loop{1};
    whisper_settings s;
    s.model = place / "many.bin";
    s.helper = HEARONCE_HELPER;
    const auto engine = create_whisper_backend(loop.get_executor(), s);
    transcription_request request;
    request.language = "klingon";
    const auto mine = begin(loop, *engine, recording_of(bytes_of(wav_folder / "hello-world.wav")), request);
    run_until(loop, [&] { return mine->over(); });
    const error why = error_in(*mine);
    BOOST_TEST((why.code() == errc::invalid_parameter));
    BOOST_TEST(why.param() == "language");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(words_to_the_gateway)

// Between the last sample and the first pass of the encoder the library calls nobody, so the helper says so before.
BOOST_AUTO_TEST_CASE(a_job_says_that_it_will_be_quiet_before_it_is) {
    const folder place;
    write_file(place / "many.bin", multilingual_model());
    std::string why;
    auto helper = helper_process::start(HEARONCE_HELPER, {"--serve-fd", "3", "--threads", "1", (place / "many.bin").string()}, why);
    BOOST_REQUIRE_MESSAGE(helper.has_value(), why);
    asio::io_context loop{1};
    std::vector<job_step> steps;
    bool is_ready = false;
    bool over = false;
    std::optional<std::string> lost;
    const auto line = std::make_shared<channel>(
        loop.get_executor(), std::move(helper->socket),
        [&](message what) {
            is_ready = is_ready || std::holds_alternative<helper_ready>(what);
            over = over || std::holds_alternative<job_done>(what);
            if (const auto* step = std::get_if<job_step>(&what)) steps.push_back(*step);
        },
        [&](std::string reason) { lost = std::move(reason); });
    line->start();
    run_until(loop, [&] { return is_ready || lost; });
    const bytes_in_memory bytes(bytes_of(wav_folder / "hello-world.wav"));
    BOOST_TEST(line->send(start_job{7, {}, {}, 0, false, false}, descriptor_of(bytes)));
    run_until(loop, [&] { return over || lost; });
    BOOST_TEST(!lost.has_value());
    const auto quiet = std::ranges::find_if(steps, &job_step::quiet);
    BOOST_REQUIRE((quiet != steps.end()));
    BOOST_TEST(quiet->id == 7U);
    BOOST_TEST(quiet->audio_milliseconds > 1000);  // All is decoded by then.
    BOOST_TEST(std::ranges::count_if(steps, &job_step::quiet) == 1);
    line->close();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(sandbox)

BOOST_AUTO_TEST_CASE(the_helper_at_work_has_given_up_what_it_does_not_need) {
    asio::io_context loop{1};
    whisper_settings s;
    s.model = micro_model;
    s.helper = HEARONCE_HELPER;
    const auto engine = create_whisper_backend(loop.get_executor(), s);
    run_until(loop, [&] { return engine->state().ready; });
    const std::string status = bytes_of("/proc/" + std::to_string(engine->helper_pid()) + "/status");
    BOOST_TEST(status.find("\nNoNewPrivs:\t1\n") != std::string::npos);
    BOOST_TEST(status.find("\nSeccomp:\t2\n") != std::string::npos);
    const std::string process = "/proc/" + std::to_string(engine->helper_pid());
    BOOST_TEST(bytes_of(process + "/oom_score_adj") == "1000\n");
    const std::string limits = bytes_of(process + "/limits");
    const std::size_t space = limits.find("Max address space");
    BOOST_REQUIRE(space != std::string::npos);
    BOOST_TEST(limits.substr(space, limits.find('\n', space) - space).find("unlimited") == std::string::npos);
    // Every thread of it.
    std::size_t threads = 0;
    for (const auto& each : std::filesystem::directory_iterator("/proc/" + std::to_string(engine->helper_pid()) + "/task")) {
        ++threads;
        BOOST_TEST(bytes_of(each.path() / "status").find("\nSeccomp:\t2\n") != std::string::npos);
    }
    BOOST_TEST(threads >= 2U);
}

BOOST_AUTO_TEST_SUITE_END()
