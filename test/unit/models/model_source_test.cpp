// What a server's answer means for the part of a model that is here already.
#define BOOST_TEST_MODULE model_source
#include <boost/test/unit_test.hpp>

#include <app/known_models.hpp>
#include <app/model_source.hpp>

#include <algorithm>

using namespace hearonce;
using namespace hearonce::app;
using kind = answer_verdict::kind;

namespace {

net::http_answer answer(std::uint16_t status, std::vector<net::http_header> headers = {}) {
    net::http_answer made;
    made.status = status;
    made.headers = std::move(headers);
    return made;
}

const part_on_disk nothing;
const part_on_disk ten{10, "\"v1\""};

bool is(const answer_verdict& judged, kind wanted) {
    return judged.is == wanted;
}

}  // namespace

BOOST_AUTO_TEST_CASE(where_models_are_published) {
    BOOST_TEST(*model_url("base.en", "") == "https://huggingface.co/ggerganov/whisper.cpp/resolve/main/ggml-base.en.bin");
    BOOST_TEST(*model_url("small.en-tdrz", "") ==
               "https://huggingface.co/akashmjn/tinydiarize-whisper.cpp/resolve/main/ggml-small.en-tdrz.bin");
    BOOST_TEST(*model_url("base", "http://models.example/x") == "http://models.example/x/ggml-base.bin");
    BOOST_TEST(*model_url("base", "http://models.example/x/") == "http://models.example/x/ggml-base.bin");
    BOOST_TEST(*model_url("mine", "https://models.example/other.bin") == "https://models.example/other.bin");
    for (const auto* const wrong : {"ftp://models.example", "models.example/x", "https://user:pass@models.example/x"})
        BOOST_TEST(!model_url("base", wrong).has_value(), wrong);
}

BOOST_AUTO_TEST_CASE(a_range_is_asked_for_only_of_a_file_that_can_be_told_apart) {
    BOOST_TEST(resume_headers(nothing).size() == 1u);
    BOOST_TEST(resume_headers({10, ""}).size() == 1u);
    BOOST_TEST(resume_headers({0, "\"v1\""}).size() == 1u);
    const auto headers = resume_headers(ten);
    BOOST_REQUIRE(headers.size() == 3u);
    BOOST_TEST(headers[1].name == "Range");
    BOOST_TEST(headers[1].value == "bytes=10-");
    BOOST_TEST(headers[2].name == "If-Range");
    BOOST_TEST(headers[2].value == "\"v1\"");
}

BOOST_AUTO_TEST_CASE(the_whole_file) {
    const auto judged = judge_answer(answer(200, {{"Content-Length", "99"}, {"ETag", "\"v2\""}}), ten);
    BOOST_TEST(is(judged, kind::restart));
    BOOST_TEST(judged.whole_bytes.value() == 99u);
    BOOST_TEST(judged.etag == "\"v2\"");
    for (const auto* const weak : {"W/\"v2\"", "v2", "\"\"", ""})
        BOOST_TEST(judge_answer(answer(200, {{"ETag", weak}}), nothing).etag == "");
    for (const auto* const length : {"", "x", "1x", "-1", "99999999999999999999999"})
        BOOST_TEST(!judge_answer(answer(200, {{"Content-Length", length}}), nothing).whole_bytes.has_value(), length);
}

BOOST_AUTO_TEST_CASE(the_rest_of_the_file) {
    const auto judged = judge_answer(answer(206, {{"Content-Range", "bytes 10-98/99"}, {"ETag", "\"v1\""}}), ten);
    BOOST_TEST(is(judged, kind::append));
    BOOST_TEST(judged.whole_bytes.value() == 99u);
    BOOST_TEST(judged.etag == "\"v1\"");
    const auto unknown = judge_answer(answer(206, {{"Content-Range", "bytes 10-98/*"}}), ten);
    BOOST_TEST(is(unknown, kind::append));
    BOOST_TEST(!unknown.whole_bytes.has_value());
    // Another place, another file, or nonsense: the part is of no use.
    for (const auto* const range : {"bytes 9-98/99", "bytes 11-98/99", "bytes */99", "10-98/99", "", "bytes x-98/99", "bytes 10-98",
                                    "bytes 10-98/9", "bytes 10-98/10"})
        BOOST_TEST(is(judge_answer(answer(206, {{"Content-Range", range}}), ten), kind::discard), range);
    BOOST_TEST(is(judge_answer(answer(206, {{"Content-Range", "bytes 10-98/99"}, {"ETag", "\"v2\""}}), ten), kind::discard));
    BOOST_TEST(is(judge_answer(answer(206), ten), kind::discard));
}

BOOST_AUTO_TEST_CASE(a_range_that_cannot_be) {
    BOOST_TEST(is(judge_answer(answer(416, {{"Content-Range", "bytes */10"}}), ten), kind::complete));
    BOOST_TEST(is(judge_answer(answer(416, {{"Content-Range", "bytes */9"}}), ten), kind::discard));
    BOOST_TEST(is(judge_answer(answer(416), ten), kind::discard));
    BOOST_TEST(is(judge_answer(answer(416, {{"Content-Range", "bytes */0"}}), nothing), kind::discard));
}

BOOST_AUTO_TEST_CASE(every_other_status) {
    for (std::uint16_t status = 100; status < 600; ++status) {
        const auto judged = judge_answer(answer(status, {{"Location", "/x"}}), ten);
        const bool redirect = status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
        const bool again = status == 408 || status == 429 || status >= 500;
        if (status == 200 || status == 206 || status == 416) continue;
        BOOST_TEST(is(judged, redirect ? kind::redirect : again ? kind::again : kind::refuse), status);
        BOOST_TEST(!judged.text.empty());
    }
    BOOST_TEST(is(judge_answer(answer(302), ten), kind::refuse));
}

BOOST_AUTO_TEST_CASE(redirects_stay_where_they_are_safe) {
    BOOST_TEST(redirect_of("https://a.example/x/y.bin", "https://cdn.example/z?sig=1&t=2").url == "https://cdn.example/z?sig=1&t=2");
    BOOST_TEST(redirect_of("https://a.example/x/y.bin", "/z#part").url == "https://a.example/z");
    BOOST_TEST(redirect_of("http://a.example/x/y.bin", "z.bin").url == "http://a.example/x/z.bin");
    BOOST_TEST(redirect_of("https://a.example/x", "//b.example/z").url == "https://b.example/z");
    BOOST_TEST(redirect_of("http://a.example/x", "https://b.example/z").url == "https://b.example/z");
    for (const auto* const location :
         {"http://a.example/z", "ftp://a.example/z", "file:///etc/passwd", "https://u:p@a.example/z", "ht tp://"}) {
        const auto end = redirect_of("https://a.example/x", location);
        BOOST_TEST(end.url == "", location);
        BOOST_TEST(end.refusal.starts_with("the server redirects"));
    }
}

BOOST_AUTO_TEST_CASE(a_hash_that_the_server_names) {
    const std::string hash(64, 'a');
    BOOST_TEST(sha256_of_answer(answer(302, {{"X-Linked-Etag", "\"" + hash + "\""}})) == hash);
    BOOST_TEST(sha256_of_answer(answer(200, {{"ETag", "\"" + hash + "\""}})) == hash);
    BOOST_TEST(sha256_of_answer(answer(200, {{"ETag", "\"" + hash.substr(1) + "\""}})) == "");
    BOOST_TEST(sha256_of_answer(answer(200, {{"ETag", "\"" + std::string(64, 'A') + "\""}})) == "");
    BOOST_TEST(sha256_of_answer(answer(200)) == "");
}

BOOST_AUTO_TEST_CASE(names) {
    for (const auto& one : known_models()) {
        BOOST_TEST(is_model_name(one.name));
        BOOST_TEST(find_known_model(one.name) == &one);
        BOOST_TEST((one.sha1.empty() || one.sha1.size() == 40));
        BOOST_TEST(nearest_model(one.name) == one.name);
    }
    BOOST_TEST(find_known_model("nope") == nullptr);
    BOOST_TEST(nearest_model("base.ne") == "base.en");
    BOOST_TEST(nearest_model("larg-v3-turbo") == "large-v3-turbo");
    BOOST_TEST(nearest_model("something-else") == "");
    for (const auto* const wrong : {"", "../x", "a/b", ".hidden", "-x", "a b", "a\n"}) BOOST_TEST(!is_model_name(wrong), wrong);
    BOOST_TEST(is_model_name(std::string(64, 'a')));
    BOOST_TEST(!is_model_name(std::string(65, 'a')));
}
