// An upstream double and clients that speak to it byte by byte.
//
// Holds: some_bytes(), sha256_of(), upload(), text_in().
#pragma once

#include <bench/upstream/double_server.hpp>
#include <bench/upstream/text_of.hpp>

#include <http/sha256_stream.hpp>
#include <support/form_client.hpp>

#include <boost/json.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::test {

inline sha256_digest sha256_of(std::string_view bytes) {
    http::sha256_stream hash;
    hash.update(std::as_bytes(std::span(bytes.data(), bytes.size())));
    return hash.finish();
}

// No real recording: the double looks at nothing but the bytes' hash.
inline std::string some_bytes(unsigned seed = 1, std::size_t bytes = 3000) {
    std::string made(bytes, '\0');
    for (std::size_t at = 0; at < bytes; ++at) made[at] = static_cast<char>((at * 31 + seed * 7919 + (at >> 8U) * seed) & 0x7fU);
    return made;
}

inline std::string text_of(const std::string& bytes) {
    return upstream::text_of(sha256_of(bytes));
}

inline std::vector<form_part> upload(const std::string& bytes, std::vector<form_part> fields = {}, const std::string& model = "whisper-1") {
    fields.insert(fields.begin(), {"model", model});
    fields.push_back({"file", bytes, "note.wav", "audio/wav"});
    return fields;
}

inline const std::string transcriptions = "/v1/audio/transcriptions";

inline boost::json::value json_of(const raw_answer& answer) {
    boost::system::error_code failed;
    auto value = boost::json::parse(answer.body, failed);
    BOOST_TEST_REQUIRE(!failed, "not JSON: " << answer.body);
    return value;
}

inline std::string text_in(const raw_answer& answer) {
    return std::string(json_of(answer).at("text").as_string());
}

// "type/param/code" of an OpenAI error; null is written as such.
inline std::string error_in(const raw_answer& answer) {
    const auto value = json_of(answer).at("error");
    BOOST_TEST(value.as_object().size() == 4u);
    const auto say = [](const boost::json::value& one) { return one.is_null() ? "null" : std::string(one.as_string()); };
    return say(value.at("type")) + "/" + say(value.at("param")) + "/" + say(value.at("code"));
}

}  // namespace hearonce::test
