// Headers that say who asks and what for: synonyms, limits, and every form in the field.
#include "heads.hpp"

#include <http/identity.hpp>

#include <boost/test/unit_test.hpp>

using namespace hearonce;
using namespace hearonce::http;
using namespace std::chrono_literals;

namespace {

result<caller_words> read(std::initializer_list<header> headers) {
    return caller_words_of(head_with(headers));
}

void check_refused(const result<caller_words>& got, errc code, std::string_view param) {
    BOOST_REQUIRE(got.has_error());
    BOOST_TEST((got.error().code() == code));
    BOOST_TEST(got.error().param() == param);
    BOOST_TEST(got.error().message().find(param) != std::string_view::npos);
}

const std::string zeros(64, '0');
const std::string hex = "BA7816BF8F01CFEA414140DE5DAE2223b00361a396177a9cb410ff61f20015ad";

}  // namespace

BOOST_AUTO_TEST_SUITE(identity)

BOOST_AUTO_TEST_CASE(nothing_sent) {
    const auto words = read({});
    BOOST_REQUIRE(words.has_value());
    BOOST_TEST(words->device_id.empty());
    BOOST_TEST(!words->audio_sha256);
    BOOST_TEST(!words->audio_duration);
    BOOST_TEST(words->idempotency_key.empty());
    BOOST_TEST((!words->no_cache && !words->no_store));
    BOOST_TEST(words->traceparent.empty());
}

BOOST_AUTO_TEST_CASE(every_header_and_its_synonym) {
    for (const std::string prefix : {"X-", "X-Bolo-", "x-bolo-", "X-BOLO-"}) {
        const std::string key_name = prefix == "X-" ? "Idempotency-Key" : prefix + "Idempotency-Key";
        const auto words = read(
            {{prefix + "Device-Id", "phone 1"}, {prefix + "Audio-Sha256", hex}, {prefix + "Audio-Duration-Ms", "1500"}, {key_name, "k"}});
        BOOST_REQUIRE(words.has_value());
        BOOST_TEST(words->device_id == "phone 1");
        BOOST_TEST((words->audio_sha256 == digest_of(hex)));
        BOOST_TEST((words->audio_duration == 1500ms));
        BOOST_TEST(words->idempotency_key == "k");
    }
}

BOOST_AUTO_TEST_CASE(synonyms_must_agree) {
    BOOST_TEST(read({{"X-Device-Id", "a"}, {"X-Bolo-Device-Id", "a"}})->device_id == "a");
    BOOST_TEST(read({{"X-Device-Id", ""}, {"X-Bolo-Device-Id", "a"}})->device_id == "a");
    check_refused(read({{"X-Device-Id", "a"}, {"X-Bolo-Device-Id", "b"}}), errc::invalid_parameter, "X-Device-Id");
    check_refused(read({{"X-Device-Id", "a"}, {"X-Device-Id", "b"}}), errc::invalid_parameter, "X-Device-Id");
    check_refused(read({{"X-Device-Id", "a"}, {"X-Bolo-Device-Id", "A"}}), errc::invalid_parameter, "X-Device-Id");
    check_refused(read({{"X-Audio-Sha256", hex}, {"X-Bolo-Audio-Sha256", zeros}}), errc::invalid_parameter, "X-Audio-Sha256");
    check_refused(read({{"X-Audio-Duration-Ms", "1"}, {"X-Bolo-Audio-Duration-Ms", "2"}}), errc::invalid_parameter, "X-Audio-Duration-Ms");
    check_refused(read({{"Idempotency-Key", "1"}, {"X-Bolo-Idempotency-Key", "2"}}), errc::invalid_parameter, "Idempotency-Key");
    check_refused(read({{"X-Request-Id", "1"}, {"X-Bolo-Request-Id", "2"}}), errc::invalid_parameter, "X-Request-Id");
}

BOOST_AUTO_TEST_CASE(device_id_limit) {
    BOOST_TEST(read({{"X-Device-Id", std::string(127, 'd')}})->device_id.size() == 127U);
    BOOST_TEST(read({{"X-Device-Id", std::string(128, 'd')}})->device_id.size() == 128U);
    check_refused(read({{"X-Device-Id", std::string(129, 'd')}}), errc::invalid_parameter, "X-Device-Id");
    check_refused(read({{"X-Device-Id", "a\tb"}}), errc::invalid_parameter, "X-Device-Id");
    BOOST_TEST(read({{"X-Device-Id", "t\xc3\xa9l\xc3\xa9phone"}})->device_id == "t\xc3\xa9l\xc3\xa9phone");
}

BOOST_AUTO_TEST_CASE(sha256_forms) {
    BOOST_TEST(!read({{"X-Audio-Sha256", ""}})->audio_sha256);
    BOOST_TEST((read({{"X-Audio-Sha256", zeros}})->audio_sha256 == sha256_digest{}));
    std::string upper = hex;
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    BOOST_TEST((read({{"X-Audio-Sha256", upper}, {"X-Bolo-Audio-Sha256", hex}})->audio_sha256 == digest_of(hex)));
    for (const std::string& wrong :
         {std::string(63, '0'), std::string(65, '0'), std::string(63, '0') + "g", "sha256:" + zeros, std::string("x")}) {
        BOOST_TEST_CONTEXT(wrong) check_refused(read({{"X-Audio-Sha256", wrong}}), errc::audio_hash_mismatch, "");
    }
}

BOOST_AUTO_TEST_CASE(duration_forms) {
    const std::pair<const char*, std::chrono::milliseconds> good[] = {
        {"1", 1ms}, {"0012", 12ms}, {"1500.75", 1500ms}, {"604799999", 604799999ms}, {"604800000", 604800000ms}};
    for (const auto& [text, time] : good)
        BOOST_TEST_CONTEXT(text) BOOST_TEST((read({{"X-Audio-Duration-Ms", text}})->audio_duration == time));
    for (const char* absent : {"", "0", "0.5"})
        BOOST_TEST_CONTEXT(absent) BOOST_TEST(!read({{"X-Audio-Duration-Ms", absent}})->audio_duration);
    for (const char* wrong : {"604800001", "99999999999999999999999", "-1", "+1", "1s", "1.", ".5", "1,5", "1e3", "NaN", "0x10", "1 2"}) {
        BOOST_TEST_CONTEXT(wrong) check_refused(read({{"X-Audio-Duration-Ms", wrong}}), errc::invalid_parameter, "X-Audio-Duration-Ms");
    }
}

BOOST_AUTO_TEST_CASE(idempotency_key_forms) {
    const std::pair<std::string, std::string> good[] = {{"abc", "abc"},
                                                        {"\"abc\"", "abc"},
                                                        {R"("a\"b\\c")", R"(a"b\c)"},
                                                        {"a b", "a b"},
                                                        {"\"\"", ""},
                                                        {R"(a\b)", R"(a\b)"},
                                                        {R"(a"b)", R"(a"b)"},
                                                        {"", ""},
                                                        {std::string(254, 'k'), std::string(254, 'k')},
                                                        {std::string(255, 'k'), std::string(255, 'k')},
                                                        {'"' + std::string(255, 'k') + '"', std::string(255, 'k')}};
    for (const auto& [sent, key] : good) BOOST_TEST_CONTEXT(sent) BOOST_TEST(read({{"Idempotency-Key", sent}})->idempotency_key == key);
    for (const std::string& wrong :
         {std::string(256, 'k'), '"' + std::string(256, 'k') + '"', std::string("\"abc"), std::string("\""), std::string(R"("a"b")"),
          std::string(R"("a\")"), std::string(R"("a\x")"), std::string("\"a\";p=1"), std::string("caf\xc3\xa9"), std::string("a\x01")}) {
        BOOST_TEST_CONTEXT(wrong) check_refused(read({{"Idempotency-Key", wrong}}), errc::invalid_parameter, "Idempotency-Key");
    }
}

BOOST_AUTO_TEST_CASE(cache_control_forms) {
    struct row {
        const char* value;
        bool no_cache;
        bool no_store;
    };
    const row rows[] = {{"no-cache", true, false},
                        {"No-Cache", true, false},
                        {"no-store", false, true},
                        {"no-cache, no-store", true, true},
                        {" max-age=0 ,\tNO-STORE ", false, true},
                        {"no-cache=\"a, no-store\"", true, false},
                        {"x=\"no-store\\\", no-cache\"", false, false},
                        {"x=\"no-cache", false, false},
                        {"x=\"\\", false, false},
                        {"max-age=0", false, false},
                        {"no-cached", false, false},
                        {"", false, false},
                        {",,,", false, false}};
    for (const row& one : rows) {
        BOOST_TEST_CONTEXT(one.value) {
            const auto words = read({{"Cache-Control", one.value}});
            BOOST_TEST(words->no_cache == one.no_cache);
            BOOST_TEST(words->no_store == one.no_store);
        }
    }
    const auto twice = read({{"Cache-Control", "no-cache"}, {"cache-control", "no-store"}});
    BOOST_TEST((twice->no_cache && twice->no_store));
}

BOOST_AUTO_TEST_CASE(traceparent_forms) {
    const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    BOOST_TEST(read({{"traceparent", good}})->traceparent == good);
    BOOST_TEST(read({{"traceparent", "cc" + good.substr(2) + "-later"}})->traceparent == "cc" + good.substr(2));
    const std::string wrong[] = {"",
                                 good.substr(1),
                                 good + "-x",
                                 good + "0",
                                 "ff" + good.substr(2),
                                 "cc" + good.substr(2) + "x",
                                 "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                                 "00-" + std::string(32, '0') + "-b7ad6b7169203331-01",
                                 "00-0af7651916cd43dd8448eb211c80319c-" + std::string(16, '0') + "-01",
                                 "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
    for (const std::string& one : wrong) BOOST_TEST_CONTEXT(one) BOOST_TEST(read({{"traceparent", one}})->traceparent == "");
    BOOST_TEST(read({{"traceparent", good}, {"traceparent", good}})->traceparent == "");
}

BOOST_AUTO_TEST_CASE(what_the_sdk_tried_before) {
    const std::pair<std::string, unsigned> rows[] = {{"0", 0},
                                                     {"1", 1},
                                                     {" 2 ", 2},
                                                     {"999", 999},
                                                     {"1000", 1000},
                                                     {"1001", 0},
                                                     {"", 0},
                                                     {"-1", 0},
                                                     {"1x", 0},
                                                     {"x", 0},
                                                     {"1.5", 0},
                                                     {"+1", 0},
                                                     {"99999999999999999999", 0}};
    for (const auto& [sent, believed] : rows) {
        BOOST_TEST_CONTEXT(sent) BOOST_TEST(read({{"X-Stainless-Retry-Count", sent}})->attempts_spent == believed);
    }
    BOOST_TEST(read({})->attempts_spent == 0u);
}

BOOST_AUTO_TEST_CASE(request_id_is_a_label) {
    const auto id = [](std::initializer_list<header> headers) { return request_id_of(head_with(headers)).value_or("(made)"); };
    BOOST_TEST(id({{"X-Request-Id", "abc-1"}}) == "abc-1");
    BOOST_TEST(id({{"x-bolo-request-id", "abc-2"}}) == "abc-2");
    BOOST_TEST(id({}) == "(made)");
    BOOST_TEST(id({{"X-Request-Id", ""}}) == "(made)");
    BOOST_TEST(id({{"X-Request-Id", std::string(128, 'r')}}) == std::string(128, 'r'));
    BOOST_TEST(id({{"X-Request-Id", std::string(129, 'r')}}) == "(made)");
    BOOST_TEST(id({{"X-Request-Id", "a\x1b[31m"}}) == "(made)");
    BOOST_TEST(id({{"X-Request-Id", "a\tb"}}) == "(made)");
    BOOST_TEST(id({{"X-Request-Id", std::string(127, 'r')}}) == std::string(127, 'r'));
    BOOST_TEST(id({{"X-Bolo-Request-Id", "two"}, {"X-Request-Id", "one"}}) == "one");
    BOOST_TEST(id({{"X-Request-Id", "caf\xc3\xa9"}}) == "(made)");
    BOOST_TEST(id({{"X-Request-Id", std::string(129, 'r')}, {"X-Bolo-Request-Id", "good"}}) == "good");
}

BOOST_AUTO_TEST_SUITE_END()
