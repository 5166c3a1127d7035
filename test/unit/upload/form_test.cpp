// The fields of a form: what they mean, what is kept, what is refused.
#define BOOST_TEST_MODULE form
#include <boost/test/unit_test.hpp>

#include <http/form.hpp>

#include <initializer_list>
#include <string>

using namespace hearonce;

namespace {

using fields = std::initializer_list<form_field>;

result<transcription_request> read(fields sent, task asked = task::transcribe) {
    http::form form(asked);
    for (const form_field& field : sent) {
        if (auto added = form.add(field.name, field.value); !added) return added.error();
    }
    return std::move(form).finish();
}

transcription_request good(fields sent, task asked = task::transcribe) {
    auto request = read(sent, asked);
    BOOST_REQUIRE_MESSAGE(request.has_value(), "refused: " << request.error().message());
    return std::move(*request);
}

// "code param", or "accepted".
std::string outcome(fields sent, task asked = task::transcribe) {
    const auto request = read(sent, asked);
    if (request) return "accepted";
    return std::string(entry_of(request.error().code()).code) + " " + std::string(request.error().param());
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_empty_form_asks_for_the_defaults) {
    const auto request = good({});
    BOOST_TEST(request.model.empty());
    BOOST_TEST((request.format == response_format::json));
    BOOST_TEST(!request.stream);
    BOOST_TEST(request.fields.empty());
    BOOST_TEST(request.temperature == 0);
    BOOST_TEST(!request.word_times);
    BOOST_TEST(request.segment_times);
    BOOST_TEST((request.task == task::transcribe));
    BOOST_TEST((good({}, task::translate).task == task::translate));
}

BOOST_AUTO_TEST_CASE(fields_are_kept_in_order_without_those_that_are_members_alone) {
    const auto request = good({{"language", "de"},
                               {"model", "whisper-1"},
                               {"zeta", "1"},
                               {"stream", "true"},
                               {"alpha", "\xff"},
                               {"response_format", "text"},
                               {"prompt", "x"}});
    const std::vector<form_field> expected{{"language", "de"}, {"zeta", "1"}, {"alpha", "\xff"}, {"prompt", "x"}};
    BOOST_TEST((request.fields == expected));
    BOOST_TEST(request.model == "whisper-1");
    BOOST_TEST(request.language == "de");
    BOOST_TEST(request.prompt == "x");
    BOOST_TEST(request.stream);
    BOOST_TEST((request.format == response_format::text));
}

BOOST_AUTO_TEST_CASE(empty_fields_are_as_if_not_sent) {
    const auto request = good({{"model", ""},
                               {"language", ""},
                               {"prompt", ""},
                               {"temperature", ""},
                               {"response_format", ""},
                               {"stream", ""},
                               {"timestamp_granularities[]", ""},
                               {"new", ""}});
    BOOST_TEST(request.fields.empty());
    BOOST_TEST((request.format == response_format::json));
    BOOST_TEST(request.segment_times);
}

BOOST_AUTO_TEST_CASE(formats) {
    BOOST_TEST((good({{"response_format", "json"}}).format == response_format::json));
    BOOST_TEST((good({{"response_format", "text"}}).format == response_format::text));
    BOOST_TEST((good({{"response_format", "srt"}}).format == response_format::srt));
    BOOST_TEST((good({{"response_format", "vtt"}}).format == response_format::vtt));
    BOOST_TEST((good({{"response_format", "verbose_json"}}).format == response_format::verbose_json));
    BOOST_TEST((good({{"response_format", "diarized_json"}}).format == response_format::diarized_json));
    for (const std::string bad : {"xml", "JSON", " json", "json ", "verbose-json"})
        BOOST_TEST(outcome({{"response_format", bad}}) == "unsupported_value response_format");
    BOOST_TEST(outcome({{"response_format", "diarized_json"}}, task::translate) == "unsupported_value response_format");
    BOOST_TEST(outcome({{"response_format", "srt"}}, task::translate) == "accepted");
}

BOOST_AUTO_TEST_CASE(temperatures) {
    BOOST_TEST(good({{"temperature", "0"}}).temperature == 0);
    BOOST_TEST(good({{"temperature", "0.0"}}).temperature == 0);
    BOOST_TEST(good({{"temperature", "0.2"}}).temperature == 0.2);
    BOOST_TEST(good({{"temperature", "1"}}).temperature == 1);
    BOOST_TEST(good({{"temperature", "1.0"}}).temperature == 1);
    BOOST_TEST(good({{"temperature", ".5"}}).temperature == 0.5);
    BOOST_TEST(good({{"temperature", "1e-1"}}).temperature == 0.1);
    // The bytes are kept for the key and for upstreams.
    BOOST_TEST((good({{"temperature", "0.20"}}).fields == std::vector<form_field>{{"temperature", "0.20"}}));
    for (const std::string bad : {"1.0001", "-0.1", "2", "nan", "inf", "0,2", "warm", "0.2x", " 0", "+0.2", "1e99999"}) {
        BOOST_TEST(outcome({{"temperature", bad}}) == "invalid_parameter temperature", bad);
    }
}

BOOST_AUTO_TEST_CASE(streams) {
    for (const std::string yes : {"true", "True", "1"}) BOOST_TEST(good({{"stream", yes}}).stream, yes);
    for (const std::string no : {"false", "False", "0"}) BOOST_TEST(!good({{"stream", no}}).stream, no);
    for (const std::string bad : {"yes", "2", "tru", "null", "true "})
        BOOST_TEST(outcome({{"stream", bad}}) == "invalid_parameter stream", bad);
}

BOOST_AUTO_TEST_CASE(granularities) {
    const auto times = [](fields sent) {
        const auto request = good(sent);
        return std::string(request.word_times ? "w" : "") + (request.segment_times ? "s" : "");
    };
    BOOST_TEST(times({{"response_format", "verbose_json"}}) == "s");
    BOOST_TEST(times({{"response_format", "verbose_json"}, {"timestamp_granularities[]", "word"}}) == "w");
    BOOST_TEST(times({{"response_format", "verbose_json"}, {"timestamp_granularities[]", "segment"}}) == "s");
    BOOST_TEST(
        times({{"timestamp_granularities[]", "word"}, {"timestamp_granularities[]", "segment"}, {"response_format", "verbose_json"}}) ==
        "ws");
    BOOST_TEST(times({{"response_format", "verbose_json"}, {"timestamp_granularities", "word"}}) == "w");
    BOOST_TEST(times({{"response_format", "verbose_json"}, {"timestamp_granularities", "word"}, {"timestamp_granularities", "segment"}}) ==
               "ws");
    // srt and verbose_json share a flight: what is asked for must not differ.
    BOOST_TEST(times({{"response_format", "srt"}, {"timestamp_granularities[]", "word"}}) == "w");
    // json has no times; clients send the field anyway.
    BOOST_TEST(times({{"response_format", "json"}, {"timestamp_granularities[]", "word"}}) == "s");
    BOOST_TEST(good({{"timestamp_granularities[]", "word"}}).fields.size() == 1u);
    BOOST_TEST(outcome({{"timestamp_granularities[]", "words"}}) == "invalid_parameter timestamp_granularities[]");
    BOOST_TEST(outcome({{"response_format", "verbose_json"}, {"timestamp_granularities", "letter"}}) ==
               "invalid_parameter timestamp_granularities");
}

BOOST_AUTO_TEST_CASE(repeated_fields) {
    for (const std::string name :
         {"model", "language", "prompt", "temperature", "response_format", "stream", "unknown", "chunking_strategy[type]"}) {
        BOOST_TEST(outcome({{name, "1"}, {"other", "x"}, {name, "1"}}) == "duplicate_parameter " + name);
        BOOST_TEST(outcome({{name, ""}, {name, ""}}) == "duplicate_parameter " + name);
    }
    for (const std::string name :
         {"include[]", "keywords[]", "languages[]", "languages", "include", "known_speaker_names", "new_things[]"}) {
        BOOST_TEST(outcome({{name, "1"}, {name, "2"}}) == "accepted", name);
    }
    // Both spellings of a list are two names.
    BOOST_TEST(outcome({{"timestamp_granularities", "word"}, {"timestamp_granularities[]", "word"}}) == "accepted");
    const std::vector<form_field> both{{"keywords[]", "b"}, {"keywords[]", "a"}};
    BOOST_TEST((good({{"keywords[]", "b"}, {"keywords[]", "a"}}).fields == both));
}

BOOST_AUTO_TEST_CASE(texts_for_the_engine_are_utf8) {
    for (const std::string name : {"model", "language", "prompt"}) {
        BOOST_TEST(outcome({{name, "\xff"}}) == "invalid_parameter " + name);
        BOOST_TEST(outcome({{name, "Gr\xc3\xbc\xc3\x9f"}}) == "accepted");
    }
    BOOST_TEST(outcome({{"prompt", "two\nlines\t"}}) == "accepted");
    BOOST_TEST(outcome({{"model", "two\nlines"}}) == "invalid_parameter model");
    BOOST_TEST(outcome({{"\xff", "x"}}) == "invalid_parameter ");
    BOOST_TEST(outcome({{"", "x"}}) == "invalid_parameter ");
}

BOOST_AUTO_TEST_CASE(the_length_of_a_model_name) {
    BOOST_TEST(outcome({{"model", std::string(255, 'm')}}) == "accepted");
    BOOST_TEST(outcome({{"model", std::string(256, 'm')}}) == "accepted");
    BOOST_TEST(outcome({{"model", std::string(257, 'm')}}) == "invalid_parameter model");
}
