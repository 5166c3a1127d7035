// Equal uploads are one piece of work; different ones are not.
#include "running_gateway.hpp"

#include <map>

using namespace hearonce::test;
using namespace std::string_literals;

namespace {

std::map<std::string, int> count_cache_status(const std::vector<raw_answer>& answers) {
    std::map<std::string, int> counts;
    for (const auto& answer : answers) ++counts[answer.header("cache-status")];
    return counts;
}

// Sends the upload of each index while runs are held, opens the gate when `waiting` callers wait, and gives all answers.
template <class Call>
std::vector<raw_answer> held(running_gateway& gateway, std::size_t count, std::size_t waiting, Call call) {
    gateway.backend->close_gate();
    std::thread opener([&] {
        for (int i = 0; i < 4000 && metric(gateway.port, "hearonce_waiters") < static_cast<double>(waiting); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        gateway.backend->open_gate();
    });
    auto answers = at_once(count, call);
    opener.join();
    return answers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(joining)

BOOST_AUTO_TEST_CASE(fifty_equal_uploads_of_one_device_are_one_run) {
    running_gateway gateway;
    const auto audio = wav();
    const auto answers =
        held(gateway, 50, 50, [&](std::size_t) { return post(gateway.port, transcriptions, upload(audio), "X-Device-Id: phone\r\n"); });
    BOOST_TEST(gateway.backend->runs() == 1u);
    for (const auto& answer : answers) {
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(answer.body == answers[0].body);
    }
    const auto counts = count_cache_status(answers);
    BOOST_TEST(counts.at("hearonce; fwd=miss; stored; ttl=600") == 1);
    BOOST_TEST(counts.at("hearonce; fwd=miss; collapsed") == 49);
    const auto later = post(gateway.port, transcriptions, upload(audio), "X-Device-Id: phone\r\n");
    BOOST_TEST(later.status == 200);
    BOOST_TEST(later.body == answers[0].body);
    BOOST_TEST(later.header("cache-status").starts_with("hearonce; hit; ttl="));
    BOOST_TEST(gateway.backend->runs() == 1u);
    BOOST_TEST(metric(gateway.port, "hearonce_work_total{outcome=\"led\"}") == 1);
    BOOST_TEST(metric(gateway.port, "hearonce_work_total{outcome=\"joined\"}") == 49);
    BOOST_TEST(metric(gateway.port, "hearonce_work_total{outcome=\"hit\"}") == 1);
    BOOST_TEST(metric(gateway.port, "hearonce_saved_upstream_calls_total") == 50);
}

BOOST_AUTO_TEST_CASE(fifty_devices_are_fifty_runs) {
    running_gateway gateway;
    const auto audio = wav();
    const auto answers = held(gateway, 50, 50, [&](std::size_t i) {
        return post(gateway.port, transcriptions, upload(audio), "X-Device-Id: phone-" + std::to_string(i) + "\r\n");
    });
    BOOST_TEST(gateway.backend->runs() == 50u);
    BOOST_TEST(count_cache_status(answers).at("hearonce; fwd=miss; stored; ttl=600") == 50);
}

BOOST_AUTO_TEST_CASE(what_changes_the_result_is_other_work) {
    running_gateway gateway;
    const auto audio = wav();
    const std::vector<std::vector<form_part>> different = {
        {},
        {{"language", "de", {}, ""}},
        {{"language", "fr", {}, ""}},
        {{"prompt", "de", {}, ""}},
        {{"temperature", "0.2", {}, ""}},
        {{"model", "other", {}, ""}},
        {{"unknown_field", "x", {}, ""}},
        {{"response_format", "verbose_json", {}, ""}},
        {{"timestamp_granularities[]", "word", {}, ""}},
    };
    std::size_t runs = 0;
    for (const auto& fields : different) {
        const auto answer = post(gateway.port, transcriptions, upload(audio, fields));
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(gateway.backend->runs() == ++runs);
    }
    // The other task, and other bytes.
    BOOST_TEST(post(gateway.port, "/v1/audio/translations", upload(audio)).status == 200);
    BOOST_TEST(gateway.backend->runs() == ++runs);
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav(2))).status == 200);
    BOOST_TEST(gateway.backend->runs() == ++runs);
}

BOOST_AUTO_TEST_CASE(what_does_not_change_the_result_is_the_same_work) {
    running_gateway gateway;
    const auto audio = wav();
    const std::vector<form_part> fields = {{"language", "en", {}, ""}, {"prompt", "p", {}, ""}};
    BOOST_TEST(post(gateway.port, transcriptions, upload(audio, fields)).status == 200);
    const auto hits = [&](const raw_answer& answer) {
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(answer.header("cache-status").starts_with("hearonce; hit"));
    };
    // Another name and type of the file, no name at all, the parts in another order, another boundary, another request id.
    hits(post(gateway.port, transcriptions, {fields[0], fields[1], {"file", audio, "x/../y.ogg", "video/webm"}}));
    hits(post(gateway.port, transcriptions, {fields[0], fields[1], {"file", audio, {}, ""}}));
    hits(post(gateway.port, transcriptions, {{"file", audio, "note.wav", "audio/wav"}, fields[1], fields[0]}));
    hits(post(gateway.port, transcriptions, upload(audio, fields), "", "another-boundary-0123456789"));
    hits(post(gateway.port, transcriptions, upload(audio, fields), "X-Request-Id: other\r\n"));
    // An empty field is no field; text instead of json is the same class of detail.
    hits(post(gateway.port, transcriptions, upload(audio, {fields[0], fields[1], {"temperature", "", {}, ""}})));
    const auto text = post(gateway.port, transcriptions, upload(audio, {fields[0], fields[1], {"response_format", "text", {}, ""}}));
    hits(text);
    BOOST_TEST(text.body.ends_with(" en p\n"));
    BOOST_TEST(gateway.backend->runs() == 1u);
}

BOOST_AUTO_TEST_CASE(a_failing_run_fails_all_its_waiters_and_the_next_starts_fresh) {
    running_gateway gateway;
    gateway.backend->ends = [](std::size_t run, const hearonce::recording& audio, const hearonce::transcription_request& request) {
        if (run == 0) return hearonce::result<hearonce::transcript>(hearonce::error(hearonce::errc::upstream_error, "It broke."));
        return scripted_backend::said(run, audio, request);
    };
    const auto audio = wav();
    const auto answers = held(gateway, 8, 8, [&](std::size_t) { return post(gateway.port, transcriptions, upload(audio)); });
    for (const auto& answer : answers) {
        BOOST_TEST(answer.status == 502);
        BOOST_TEST(answer.body == answers[0].body);
        BOOST_TEST(answer.header("cache-status") == "");
    }
    BOOST_TEST(gateway.backend->runs() == 1u);
    const auto fresh = post(gateway.port, transcriptions, upload(audio));
    BOOST_TEST(fresh.status == 200);
    BOOST_TEST(gateway.backend->runs() == 2u);
    BOOST_TEST(metric(gateway.port, "hearonce_work_total{outcome=\"failed\"}") == 1);
}

BOOST_AUTO_TEST_CASE(an_exception_in_the_work_is_an_error_of_every_waiter) {
    running_gateway gateway;
    gateway.backend->ends = [](std::size_t, const hearonce::recording&,
                               const hearonce::transcription_request&) -> hearonce::result<hearonce::transcript> {
        throw std::runtime_error("secret detail");
    };
    const auto answer = post(gateway.port, transcriptions, upload(wav()));
    BOOST_TEST(answer.status == 500);
    BOOST_TEST(answer.body.find("secret") == std::string::npos);
    BOOST_TEST(get(gateway.port, "/health/live").status == 200);
}

BOOST_AUTO_TEST_CASE(an_empty_result_is_served_but_not_stored) {
    running_gateway gateway;
    gateway.backend->ends = [](std::size_t, const hearonce::recording&, const hearonce::transcription_request&) {
        return hearonce::result<hearonce::transcript>(hearonce::transcript{});
    };
    for (std::size_t run = 1; run <= 2; ++run) {
        const auto answer = post(gateway.port, transcriptions, upload(wav()));
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(answer.header("cache-status") == "hearonce; fwd=miss");
        BOOST_TEST(gateway.backend->runs() == run);
    }
}

BOOST_AUTO_TEST_CASE(no_cache_is_new_work_that_replaces_and_no_store_is_kept_nowhere) {
    running_gateway gateway;
    const auto audio = wav();
    BOOST_TEST(post(gateway.port, transcriptions, upload(audio)).status == 200);
    const auto refreshed = post(gateway.port, transcriptions, upload(audio), "Cache-Control: no-cache\r\n");
    BOOST_TEST(refreshed.header("cache-status") == "hearonce; fwd=request; stored; ttl=600");
    const auto private_one = post(gateway.port, transcriptions, upload(audio), "Cache-Control: no-store\r\n");
    BOOST_TEST(private_one.header("cache-status") == "hearonce; fwd=request");
    BOOST_TEST(gateway.backend->runs() == 3u);
    BOOST_TEST(post(gateway.port, transcriptions, upload(audio)).header("cache-status").starts_with("hearonce; hit"));
}

BOOST_AUTO_TEST_SUITE_END()
