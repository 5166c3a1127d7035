// Whole uploads: what real clients send, the limits, and what is refused when.
#define BOOST_TEST_MODULE upload
#include <boost/test/unit_test.hpp>

#include "form_body.hpp"
#include "uploading.hpp"

using namespace hearonce;
using namespace hearonce::http;
using namespace hearonce::test;

namespace {

struct fixture {
    spill_folder folder;
    audio_store_settings settings;
    std::shared_ptr<audio_store> store;
    std::string wav = noise(32044);

    fixture() {
        settings.spill_directory = folder.path();
        settings.threads = 1;
        store = std::make_shared<audio_store>(settings);
    }
    ~fixture() {
        // Whatever a test did, nothing is left behind.
        BOOST_TEST(store->memory_bytes() == 0u);
        BOOST_TEST(store->spilled_bytes() == 0u);
    }

    result<received_upload> send(const form_body& form, std::size_t piece_size = 65536, upload_limits limits = {}) {
        return upload_pieces(store, form.boundary(), form.closed(), piece_size, limits);
    }
    std::string outcome(const form_body& form, upload_limits limits = {}) { return name_of_outcome(send(form, 65536, limits)); }
    static std::string name_of_outcome(const result<received_upload>& received) {
        if (received) return "accepted";
        return std::string(entry_of(received.error().code()).code) + " " + std::string(received.error().param());
    }
};

using fields = std::vector<form_field>;

}  // namespace

BOOST_FIXTURE_TEST_CASE(openai_node_file_before_model, fixture) {
    form_body form("openai-byn7fgbw0z4");
    form.file("file", "tone.wav", "application/octet-stream", wav).field("model", "whisper-1");
    // Chunked: pieces of every size.
    for (const std::size_t size : {1u, 13u, 1000u, 65536u}) {
        const auto received = send(form, size);
        BOOST_REQUIRE(received.has_value());
        BOOST_TEST(received->request.model == "whisper-1");
        BOOST_TEST(received->audio.client_file_name == "tone.wav");
        BOOST_TEST(received->audio.client_content_type == "application/octet-stream");
        BOOST_TEST((received->audio.sha256 == sha256_of(wav)));
        BOOST_TEST((content_of(*received->audio.bytes) == wav));
    }
}

BOOST_FIXTURE_TEST_CASE(openai_node_with_fields_after_the_file, fixture) {
    form_body form("----formdata-undici-003599301489");
    form.file("file", "clip.wav", "audio/wav", wav)
        .field("model", "whisper-1")
        .field("language", "en")
        .field("prompt", "H\xc3\xa9llo \"x\"")
        .field("temperature", "0");
    const auto received = send(form);
    BOOST_REQUIRE(received.has_value());
    BOOST_TEST((received->request.fields == fields{{"language", "en"}, {"prompt", "H\xc3\xa9llo \"x\""}, {"temperature", "0"}}));
}

BOOST_FIXTURE_TEST_CASE(openai_python_file_last, fixture) {
    form_body form("fb7fba81ddd01e4dc8732d3321a269a0");
    form.field("model", "whisper-1")
        .field("language", "de")
        .field("prompt",
               "Gr\xc3\xbc\xc3\x9f"
               "e \"q\"")
        .field("response_format", "verbose_json")
        .field("temperature", "0.0")
        .field("timestamp_granularities[]", "word")
        .field("timestamp_granularities[]", "segment")
        .file("file", "tone.wav", "audio/x-wav", wav);
    const auto received = send(form);
    BOOST_REQUIRE(received.has_value());
    BOOST_TEST((received->request.format == response_format::verbose_json));
    BOOST_TEST(received->request.word_times);
    BOOST_TEST(received->request.segment_times);
    BOOST_TEST(received->request.fields.size() == 5u);
}

BOOST_FIXTURE_TEST_CASE(ai_sdk_granularities_with_json_and_a_json_object, fixture) {
    form_body form("----formdata-undici-026598429544");
    form.field("model", "gpt-4o-transcribe")
        .file("file", "audio.wav", "audio/wav", wav)
        .field("include[]", "logprobs")
        .field("response_format", "json")
        .field("temperature", "0")
        .field("timestamp_granularities[]", "segment")
        .field("chunking_strategy", "{\"type\":\"server_vad\",\"threshold\":0.4}");
    const auto received = send(form);
    BOOST_REQUIRE(received.has_value());
    BOOST_TEST(received->request.fields.size() == 4u);
    BOOST_TEST(received->request.fields.back().value == "{\"type\":\"server_vad\",\"threshold\":0.4}");
}

BOOST_FIXTURE_TEST_CASE(okhttp_with_lengths_and_encoding_in_the_parts, fixture) {
    form_body form("5e2b1f1a-5a4f-4f4e-9a2d-0c6a7d3e9b11");
    form.part({"Content-Disposition: form-data; name=\"file\"; filename=\"audio.m4a\"", "Content-Type: audio/mp4", "Content-Length: 32044"},
              wav)
        .part({"Content-Disposition: form-data; name=\"model\"", "Content-Transfer-Encoding: binary",
               "Content-Type: text/plain; charset=UTF-8", "Content-Length: 15"},
              "gpt-transcribe!")
        .part({"Content-Disposition: form-data; name=\"languages\"", "Content-Length: 2"}, "de");
    const auto received = send(form);
    BOOST_REQUIRE(received.has_value());
    BOOST_TEST(received->request.model == "gpt-transcribe!");
    BOOST_TEST((received->request.fields == fields{{"languages", "de"}}));
}

BOOST_FIXTURE_TEST_CASE(a_keyboard_that_sends_the_bytes_twice, fixture) {
    form_body form("b1");
    form.file("audio_file", "@audio.m4a", "audio/mp4", wav)
        .file("file", "@audio.m4a", "audio/mp4", wav)
        .field("model", "whisper-1")
        .field("response_format", "text");
    const auto received = send(form);
    BOOST_REQUIRE(received.has_value());
    BOOST_TEST((received->audio.sha256 == sha256_of(wav)));
    BOOST_TEST(received->audio.client_file_name == "@audio.m4a");
    BOOST_TEST(received->request.fields.empty());
    BOOST_TEST(store->memory_bytes() == audio_memory::chunk_bytes);
}

BOOST_FIXTURE_TEST_CASE(a_file_without_name_or_type, fixture) {
    form_body form("b1");
    form.field("file", wav);
    const auto received = send(form);
    BOOST_REQUIRE(received.has_value());
    BOOST_TEST(received->audio.client_file_name.empty());
    BOOST_TEST(received->audio.client_content_type.empty());
    BOOST_TEST(received->request.model.empty());
}

BOOST_FIXTURE_TEST_CASE(other_files_are_ignored_whatever_their_name, fixture) {
    form_body form("b1");
    form.file("model", "m.txt", "text/plain", "whisper-9")
        .field("model", "whisper-1")
        .file("model", "m.txt", "text/plain", "x")
        .file("file", "", "audio/wav", wav);
    const auto received = send(form);
    BOOST_REQUIRE(received.has_value());
    BOOST_TEST(received->request.model == "whisper-1");
}

BOOST_FIXTURE_TEST_CASE(what_a_form_must_have, fixture) {
    BOOST_TEST(outcome(form_body("b").field("model", "whisper-1")) == "missing_file file");
    BOOST_TEST(outcome(form_body("b").file("audio_file", "a.wav", "audio/wav", wav)) == "missing_file file");
    BOOST_TEST(outcome(form_body("b").file("file", "a.wav", "audio/wav", "").field("model", "whisper-1")) == "empty_audio ");
    BOOST_TEST(outcome(form_body("b").file("file", "a.wav", "audio/wav", "x").file("file", "b.wav", "audio/wav", "x")) ==
               "duplicate_parameter file");
    BOOST_TEST(outcome(form_body("b").file("file", "a.wav", "audio/wav", "x").field("file", "x")) == "duplicate_parameter file");
    BOOST_TEST(outcome(form_body("b").file("file", "a.wav", "audio/wav", "x").field("language", "de").field("language", "en")) ==
               "duplicate_parameter language");
    BOOST_TEST(outcome(form_body("b").file("file", "a.wav", "audio/wav", "x").field("response_format", "xml")) ==
               "unsupported_value response_format");
    BOOST_TEST(outcome(form_body("b").file("file", "a.wav", "audio/wav", "x").field("temperature", "2")) ==
               "invalid_parameter temperature");
    BOOST_TEST(outcome(form_body("b").file("file", "a.wav", "audio/wav", "x")) == "accepted");
    const form_body open = form_body("b").file("file", "a.wav", "audio/wav", wav);
    BOOST_TEST(name_of_outcome(upload_pieces(store, "b", open.open())) == "invalid_multipart ");
    BOOST_TEST(name_of_outcome(upload_pieces(store, "b", "")) == "invalid_multipart ");
}

BOOST_FIXTURE_TEST_CASE(the_limit_of_audio, fixture) {
    for (const std::size_t size : {9'999u, 10'000u, 10'001u}) {
        const auto form = form_body("b").file("file", "a.wav", "audio/wav", noise(size)).field("prompt", std::string(20'000, 'p'));
        BOOST_TEST(outcome(form, {.audio_bytes_max = 10'000}) == (size > 10'000 ? "audio_too_large " : "accepted"));
    }
}

BOOST_FIXTURE_TEST_CASE(too_much_audio_is_refused_at_once_with_limit_and_size, fixture) {
    const auto form = form_body("b").file("file", "a.wav", "audio/wav", noise(30'000));
    upload upload("b", task::transcribe, {.audio_bytes_max = 10'000}, store);
    const std::string body = form.open();
    std::size_t given = 0;
    std::optional<error> failure;
    for (const std::string_view piece : pieces_of(body, 1000)) {
        given += piece.size();
        if (const auto fed = upload.feed(bytes_of(piece)); !fed) {
            failure = fed.error();
            break;
        }
    }
    BOOST_REQUIRE(failure.has_value());
    BOOST_TEST(failure->status() == 413);
    BOOST_TEST(given <= 12'000u);
    BOOST_TEST(failure->message().find("(10000)") != std::string::npos);
    BOOST_TEST(failure->message().find(" bytes read)") != std::string::npos);
    // Nothing more is taken.
    BOOST_TEST(upload.audio_bytes() <= 10'000u);
}

BOOST_FIXTURE_TEST_CASE(the_limit_of_ignored_files, fixture) {
    for (const std::size_t size : {999u, 1000u, 1001u}) {
        const auto form = form_body("b")
                              .file("other", "a", "b", std::string(500, 'x'))
                              .file("more", "a", "b", std::string(size - 500, 'x'))
                              .file("file", "a", "b", std::string(1000, 'x'));
        BOOST_TEST(outcome(form, {.audio_bytes_max = 1000}) == (size > 1000 ? "audio_too_large " : "accepted"));
    }
}

BOOST_FIXTURE_TEST_CASE(the_limit_of_fields_together, fixture) {
    // Names and values: 1 + 490, 1 + 507 or so.
    for (const std::size_t size : {506u, 507u, 508u, 509u}) {
        const auto form = form_body("b")
                              .field("a", std::string(490, 'x'))
                              .field("b", std::string(size, 'x'))
                              .file("file", "a", "b", std::string(5000, 'x'));
        BOOST_TEST(outcome(form, {.field_bytes_max = 1000}) == (1 + 490 + 1 + size > 1000 ? "invalid_multipart " : "accepted"));
    }
    // Names alone count as well.
    form_body names("b");
    for (int i = 0; i < 101; ++i) names.field("keywords[]", "");
    BOOST_TEST(outcome(names.file("file", "a", "b", "x"), {.field_bytes_max = 1000}) == "invalid_multipart ");
}

BOOST_FIXTURE_TEST_CASE(an_announced_length, fixture) {
    const upload_limits limits{.audio_bytes_max = 1000, .field_bytes_max = 100, .form = {.outside_bytes_max = 10}};
    BOOST_TEST(check_announced_length(0, limits).has_value());
    BOOST_TEST(check_announced_length(2109, limits).has_value());
    BOOST_TEST(check_announced_length(2110, limits).has_value());
    const auto refused = check_announced_length(2111, limits);
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST((refused.error().code() == errc::audio_too_large));
    BOOST_TEST(refused.error().message().find("(1000)") != std::string::npos);
    BOOST_TEST(refused.error().message().find("2111 bytes") != std::string::npos);
    BOOST_TEST(check_announced_length(26214400, {}).has_value());
    BOOST_TEST(!check_announced_length(~0ull, {}).has_value());
}

BOOST_FIXTURE_TEST_CASE(long_recordings_spill_and_hash_the_same, fixture) {
    const std::string audio = noise(3'000'000);
    const auto form = form_body("b").field("model", "m").file("file", "a.wav", "audio/wav", audio).field("prompt", "p");
    for (const std::size_t size : {4'999u, 65'536u, 1'000'000u, 4'000'000u}) {
        const auto received = send(form, size);
        BOOST_REQUIRE(received.has_value());
        BOOST_TEST(received->audio.bytes->file_descriptor() >= 0);
        BOOST_TEST((received->audio.sha256 == sha256_of(audio)));
        BOOST_TEST((content_of(*received->audio.bytes) == audio));
        BOOST_TEST(received->request.prompt == "p");
        BOOST_TEST(store->memory_bytes() == 0u);
    }
}

BOOST_FIXTURE_TEST_CASE(the_container_and_duration_are_found_in_memory_and_in_a_file, fixture) {
    // 16 kHz, mono, 16 bit; the length left open, as a stream's writer does.
    std::string wave =
        std::string("RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\xff\xff\xff\xff", 44);
    for (const std::size_t seconds : {2u, 60u}) {
        const auto received = send(form_body("b").file("file", "a", "b", wave + noise(seconds * 32000)));
        BOOST_REQUIRE(received.has_value());
        BOOST_TEST((received->audio.kind == container::wav));
        BOOST_TEST(received->audio.duration.value().count() == static_cast<long>(seconds * 1000));
        BOOST_TEST((received->audio.bytes->file_descriptor() >= 0) == (seconds == 60));
    }
}

BOOST_FIXTURE_TEST_CASE(without_room_the_upload_is_refused_and_leaves_nothing, fixture) {
    settings.spill_bytes_max = 1'500'000;
    store = std::make_shared<audio_store>(settings);
    const auto received = send(form_body("b").file("file", "a", "b", noise(2'000'000)));
    BOOST_REQUIRE(!received.has_value());
    BOOST_TEST((received.error().code() == errc::overloaded));
    BOOST_TEST(received.error().retry_after().has_value());
}

BOOST_FIXTURE_TEST_CASE(uploads_differ_in_form_only, fixture) {
    // Other boundary, order, name and type: the same recording.
    const auto first = send(form_body("b1").field("model", "m").file("file", "a.wav", "audio/wav", wav));
    const auto second = send(form_body("another-boundary").file("file", "b.mp3", "audio/mpeg", wav).field("model", "m"), 100);
    BOOST_REQUIRE(first.has_value());
    BOOST_REQUIRE(second.has_value());
    BOOST_TEST((first->audio.sha256 == second->audio.sha256));
}
