// What goes out: the bytes of forms that real clients cause, names and types of files, and which model gives what.
#define BOOST_TEST_MODULE openai_form
#include <boost/test/unit_test.hpp>

#include "recordings.hpp"

#include <backends/openai/file_part.hpp>
#include <backends/openai/languages.hpp>
#include <backends/openai/model_rules.hpp>
#include <backends/openai/request_form.hpp>

#include <set>

using namespace hearonce;
using namespace hearonce::openai;
using namespace hearonce::test;

namespace {

transcription_request asking(response_format format, std::vector<form_field> fields = {}) {
    transcription_request made;
    made.model = "whisper-1";
    made.format = format;
    made.fields = std::move(fields);
    return made;
}

std::string part(const std::string& name, const std::string& value) {
    return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
}

const std::string wav_head =
    "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"note.wav\"\r\nContent-Type: audio/wav\r\n\r\n";

std::string prefix_of(const transcription_request& request, bool stream = false) {
    return build_request(request, *recording_of("x"), "m", stream, "B").prefix;
}

std::string named(const std::string& name, container kind) {
    return file_part_of(*recording_of("x", kind, name)).name;
}

bool supported(const std::string& model, response_format format, task what = task::transcribe) {
    auto request = asking(format);
    request.model = model;
    request.task = what;
    return check_supported(request, model).has_value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(form)

BOOST_AUTO_TEST_CASE(golden) {
    const auto form = build_request(asking(response_format::json), *recording_of("x"), "gpt-transcribe", false, "B");
    BOOST_TEST(form.path == "/audio/transcriptions");
    BOOST_TEST(form.content_type == "multipart/form-data; boundary=B");
    BOOST_TEST(form.prefix == part("model", "gpt-transcribe") + part("response_format", "json") + wav_head);
    BOOST_TEST(form.suffix == "\r\n--B--\r\n");
}

// The fields of openai-python and openai-node, as captured.
BOOST_AUTO_TEST_CASE(everything_of_the_callers_arrives_once_in_its_order) {
    const std::vector<form_field> fields{{"language", "de"},
                                         {"prompt",
                                          "Gr\xC3\xBC\xC3\x9F"
                                          "e \"q\"\r\n--B--"},
                                         {"temperature", "0.0"},
                                         {"chunking_strategy[type]", "server_vad"},
                                         {"chunking_strategy[threshold]", "0.5"},
                                         {"known_speaker_names[]", "Ann"},
                                         {"known_speaker_names[]", "Bob"},
                                         {"known_speaker_references[]", "data:audio/wav;base64,UklGRg=="},
                                         {"include[]", "logprobs"},
                                         {"keywords[]", "b"},
                                         {"keywords[]", "a"},
                                         {"never_heard_of", "  1 "}};
    std::string expected = part("model", "m");
    for (const auto& [name, value] : fields) expected += part(name, value);
    BOOST_TEST(prefix_of(asking(response_format::json, fields)) == expected + part("response_format", "json") + wav_head);
}

BOOST_AUTO_TEST_CASE(an_object_in_json_stays_as_it_is) {
    const std::string strategy = R"({"type":"server_vad","threshold":0.4})";
    BOOST_TEST(prefix_of(asking(response_format::json, {{"chunking_strategy", strategy}})).find(part("chunking_strategy", strategy)) !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(empty_fields_are_not_sent) {
    BOOST_TEST(prefix_of(asking(response_format::json, {{"language", ""}})) == prefix_of(asking(response_format::json)));
}

BOOST_AUTO_TEST_CASE(one_upstream_format_serves_a_class) {
    const std::pair<response_format, std::string> formats[] = {
        {response_format::json, "json"},        {response_format::text, "json"},        {response_format::verbose_json, "verbose_json"},
        {response_format::srt, "verbose_json"}, {response_format::vtt, "verbose_json"}, {response_format::diarized_json, "diarized_json"}};
    for (const auto& [asked, sent] : formats)
        BOOST_TEST(prefix_of(asking(asked)) == part("model", "m") + part("response_format", sent) + wav_head);
}

BOOST_AUTO_TEST_CASE(granularities_go_with_verbose_json_only) {
    const std::vector<form_field> fields{{"timestamp_granularities[]", "segment"}, {"temperature", "0"}};
    BOOST_TEST(prefix_of(asking(response_format::json, fields)) ==
               part("model", "m") + part("temperature", "0") + part("response_format", "json") + wav_head);
    BOOST_TEST(prefix_of(asking(response_format::diarized_json, fields)) ==
               part("model", "m") + part("temperature", "0") + part("response_format", "diarized_json") + wav_head);
    auto both = asking(response_format::verbose_json, {{"timestamp_granularities[]", "word"}, {"timestamp_granularities[]", "segment"}});
    both.word_times = both.segment_times = true;
    BOOST_TEST(prefix_of(both) == part("model", "m") + part("timestamp_granularities[]", "word") +
                                      part("timestamp_granularities[]", "segment") + part("response_format", "verbose_json") + wav_head);
}

BOOST_AUTO_TEST_CASE(segments_are_asked_for_beside_words) {
    for (const std::string name : {"timestamp_granularities[]", "timestamp_granularities"}) {
        auto words = asking(response_format::srt, {{name, "word"}});
        words.word_times = true;
        words.segment_times = false;
        BOOST_TEST(prefix_of(words) ==
                   part("model", "m") + part(name, "word") + part(name, "segment") + part("response_format", "verbose_json") + wav_head);
    }
}

BOOST_AUTO_TEST_CASE(a_stream_is_asked_for_by_us) {
    BOOST_TEST(prefix_of(asking(response_format::json), true) ==
               part("model", "m") + part("response_format", "json") + part("stream", "true") + wav_head);
}

BOOST_AUTO_TEST_CASE(translations) {
    auto request = asking(response_format::text, {{"prompt", "x"}});
    request.task = task::translate;
    const auto form = build_request(request, *recording_of("x"), "whisper-1", false, "B");
    BOOST_TEST(form.path == "/audio/translations");
    BOOST_TEST(form.prefix == part("model", "whisper-1") + part("prompt", "x") + part("response_format", "json") + wav_head);
}

BOOST_AUTO_TEST_CASE(a_name_cannot_end_its_quotes) {
    const auto prefix = prefix_of(asking(response_format::json, {{"a\"; filename=\"x\\", "v"}}));
    BOOST_TEST(prefix.find("name=\"a%22; filename=%22x%5C\"\r\n\r\nv\r\n") != std::string::npos);
    BOOST_TEST(form_quoted("a\r\nb\"\\\xC3\xA9") == "a%0D%0Ab%22%5C\xC3\xA9");
}

BOOST_AUTO_TEST_CASE(boundaries_cannot_be_guessed) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) seen.insert(new_boundary());
    BOOST_TEST(seen.size() == 100U);
    BOOST_TEST(seen.begin()->size() == std::string("hearonce-").size() + 32);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(file)

BOOST_AUTO_TEST_CASE(each_container_has_its_name_and_type) {
    const std::tuple<container, std::string, std::string> rows[] = {
        {container::wav, "blob.wav", "audio/wav"},   {container::mp3, "blob.mp3", "audio/mpeg"},
        {container::mp4, "blob.m4a", "audio/mp4"},   {container::aac, "blob.m4a", "audio/aac"},
        {container::ogg, "blob.ogg", "audio/ogg"},   {container::webm, "blob.webm", "audio/webm"},
        {container::flac, "blob.flac", "audio/flac"}};
    for (const auto& [kind, name, type] : rows) {
        const auto made = file_part_of(*recording_of("x", kind, "blob", "application/octet-stream"));
        BOOST_TEST(made.name == name);
        BOOST_TEST(made.type == type);
    }
}

BOOST_AUTO_TEST_CASE(extensions_are_mended_and_good_ones_stay) {
    const std::tuple<container, std::string, std::string> rows[] = {{container::ogg, "note.oga", "note.ogg"},
                                                                    {container::webm, "note.weba", "note.webm"},
                                                                    {container::mp4, "note.mp4", "note.mp4"},
                                                                    {container::mp4, "note.m4b", "note.m4a"},
                                                                    {container::mp3, "note.mpga", "note.mpga"},
                                                                    {container::mp3, "note.mpeg", "note.mpeg"},
                                                                    {container::aac, "note.aac", "note.m4a"},
                                                                    {container::wav, "note.WAV", "note.wav"},
                                                                    {container::wav, "note.mp3", "note.wav"},
                                                                    {container::wav, "note.wav.bin", "note.wav.wav"},
                                                                    {container::wav, "note.", "note.wav"},
                                                                    {container::wav, "v1.meeting", "v1.meeting.wav"},
                                                                    {container::wav, "mr. smith", "mr. smith.wav"},
                                                                    {container::wav, "", "audio.wav"},
                                                                    {container::wav, ".wav", "audio.wav"},
                                                                    {container::wav, "...", "audio.wav"},
                                                                    {container::wav,
                                                                     "Gr\xC3\xBC\xC3\x9F"
                                                                     "e.wav",
                                                                     "Gr\xC3\xBC\xC3\x9F"
                                                                     "e.wav"}};
    for (const auto& [kind, given, sent] : rows) BOOST_TEST(named(given, kind) == sent);
}

BOOST_AUTO_TEST_CASE(a_path_is_never_sent) {
    for (const std::string name : {"../../etc/note.wav", "/note.wav", "C:\\notes\\note.wav", "a/b\\note.wav"}) {
        BOOST_TEST(named(name, container::wav) == "note.wav");
        BOOST_TEST(named(name, container::unknown) == "note.wav");
    }
    // A media type for a name (as one client sends it).
    BOOST_TEST(named("audio/wav", container::wav) == "wav.wav");
    BOOST_TEST(named("..", container::unknown) == "audio");
    BOOST_TEST(named("a/", container::unknown) == "audio");
}

BOOST_AUTO_TEST_CASE(names_that_cannot_be_sent_are_replaced) {
    for (const std::string& name :
         {std::string("a\nb"), std::string("a\0b", 3), std::string("\xFFx"), std::string("\xC3"), std::string("a\x7f")}) {
        BOOST_TEST(named(name + ".wav", container::wav) == "audio.wav");
        BOOST_TEST(named(name, container::unknown) == "audio");
    }
    BOOST_TEST(named(std::string(128, 'a') + ".wav", container::wav) == std::string(128, 'a') + ".wav");
    BOOST_TEST(named(std::string(129, 'a') + ".wav", container::wav) == "audio.wav");
}

BOOST_AUTO_TEST_CASE(unrecognised_bytes_keep_the_callers_words) {
    const std::pair<std::string, std::string> types[] = {{"audio/x-thing", "audio/x-thing"},
                                                         {"audio/ogg; codecs=opus", "audio/ogg; codecs=opus"},
                                                         {"", "application/octet-stream"},
                                                         {"audio", "application/octet-stream"},
                                                         {"/x", "application/octet-stream"},
                                                         {"x/", "application/octet-stream"},
                                                         {"a/b\r\nX: y", "application/octet-stream"},
                                                         {"a/\xC3\xA9", "application/octet-stream"},
                                                         {"a/" + std::string(127, 'b'), "application/octet-stream"}};
    for (const auto& [given, sent] : types) {
        const auto made = file_part_of(*recording_of("x", container::unknown, "my note.xyz", given));
        BOOST_TEST(made.name == "my note.xyz");
        BOOST_TEST(made.type == sent);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules)

BOOST_AUTO_TEST_CASE(which_model_gives_what) {
    using f = response_format;
    struct row {
        std::string model;
        bool timed, diarized, translates, streams;
    };
    const row rows[] = {{"whisper-1", true, false, true, false},
                        {"openai/whisper-1", true, false, true, false},
                        {"gpt-transcribe", false, false, false, true},
                        {"gpt-4o-transcribe", false, false, false, true},
                        {"gpt-4o-mini-transcribe-2025-12-15", false, false, false, true},
                        {"gpt-4o-transcribe-diarize", false, true, false, true},
                        {"openai/gpt-4o-transcribe-diarize", false, true, false, true},
                        {"whisper-large-v3", true, true, true, false},
                        {"Systran/faster-whisper-small", true, true, true, false}};
    for (const auto& [model, timed, diarized, translates, streams] : rows) {
        BOOST_TEST_CONTEXT(model) {
            for (const auto format : {f::json, f::text}) BOOST_TEST(supported(model, format));
            for (const auto format : {f::verbose_json, f::srt, f::vtt}) BOOST_TEST(supported(model, format) == timed);
            BOOST_TEST(supported(model, f::diarized_json) == diarized);
            BOOST_TEST(supported(model, f::json, task::translate) == translates);
            BOOST_TEST(rules_of(model).streams == streams);
        }
    }
}

BOOST_AUTO_TEST_CASE(refused_in_openais_words) {
    auto request = asking(response_format::srt);
    request.model = "gpt-4o-transcribe-diarize";
    const auto refused = check_supported(request, request.model);
    BOOST_TEST_REQUIRE(!refused);
    BOOST_TEST((refused.error().code() == errc::unsupported_value));
    BOOST_TEST(refused.error().param() == "response_format");
    BOOST_TEST(
        refused.error().message() ==
        "response_format 'srt' is not compatible with model 'gpt-4o-transcribe-diarize'. Use 'json', 'text' or 'diarized_json' instead.");
    request.format = response_format::diarized_json;
    BOOST_TEST(check_supported(request, "whisper-1").error().message() ==
               "response_format 'diarized_json' is not compatible with model 'gpt-4o-transcribe-diarize'. Use 'json', 'text', 'srt', "
               "'verbose_json' or 'vtt' instead.");
    request.format = response_format::json;
    request.task = task::translate;
    BOOST_TEST(check_supported(request, "gpt-transcribe").error().param() == "model");
}

BOOST_AUTO_TEST_CASE(which_models_end) {
    for (const std::string_view name : {"whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-4o-transcribe-diarize"})
        BOOST_TEST(shutdown_date_of(name) == "2027-02-26", name);
    for (const std::string_view name : {"gpt-transcribe", "whisper-large-v3", "gpt-4o", "", "whisper-10"})
        BOOST_TEST(shutdown_date_of(name) == "", name);
    BOOST_TEST(published_models().front() == "gpt-transcribe");
    BOOST_TEST(shutdown_date_of(published_models().front()) == "", "the model of absent names must have a future");
}

BOOST_AUTO_TEST_CASE(languages_are_names) {
    const std::pair<std::string, std::string> rows[] = {{"de", "german"},
                                                        {"DE", "german"},
                                                        {"de-AT", "german"},
                                                        {"german", "german"},
                                                        {"German", "german"},
                                                        {"zh_Hans", "chinese"},
                                                        {"yue", "cantonese"},
                                                        {"haw", "hawaiian"},
                                                        {"iw", "hebrew"},
                                                        {"ht", "haitian creole"},
                                                        {"xx", "xx"},
                                                        {"klingon", "klingon"},
                                                        {"", ""},
                                                        {"a1", ""},
                                                        {"\xC3\xA9", ""},
                                                        {"en\n", ""},
                                                        {std::string(64, 'a'), std::string(64, 'a')},
                                                        {std::string(65, 'a'), ""}};
    for (const auto& [given, name] : rows) BOOST_TEST(language_name(given) == name, given);
    BOOST_TEST(written_without_spaces("japanese"));
    BOOST_TEST(!written_without_spaces("english"));
    BOOST_TEST(!written_without_spaces(""));
}

BOOST_AUTO_TEST_SUITE_END()
