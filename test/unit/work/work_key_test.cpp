// The work key: what changes it, what does not, and that no two lists run together.
#define BOOST_TEST_MODULE work_key
#include <boost/test/unit_test.hpp>

#include <work/work_key.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <unordered_set>

using namespace hearonce;
using namespace hearonce::work;

namespace {

// One piece of work, every part of which a test can change.
struct sample {
    std::string principal = "alice";
    std::string device = "phone-1";
    sha256_digest audio{};
    std::vector<std::string> route{"openai", "local"};
    transcription_request request;

    sample() {
        audio.fill(std::byte{7});
        request.model = "whisper-1";
        request.fields = {{"language", "de"}, {"prompt", "x"}, {"keywords[]", "a"}, {"keywords[]", "b"}, {"temperature", "0"}};
    }
    work_key key() const { return work_key_of(principal, device, audio, route, request); }
    std::string material() const { return key_material(principal, device, audio, route, request); }
};

template <class Change>
sample changed(Change change) {
    sample one;
    change(one);
    return one;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_can_change_the_result_changes_the_key) {
    const std::vector<sample> others{
        changed([](sample& s) { s.principal = "bob"; }),
        changed([](sample& s) { s.principal = ""; }),
        changed([](sample& s) { s.device = "phone-2"; }),
        changed([](sample& s) { s.device = ""; }),
        changed([](sample& s) { s.audio[31] = std::byte{8}; }),
        changed([](sample& s) { s.audio[0] = std::byte{6}; }),
        changed([](sample& s) { s.request.task = task::translate; }),
        changed([](sample& s) { s.route = {"local", "openai"}; }),
        changed([](sample& s) { s.route = {"openai"}; }),
        changed([](sample& s) { s.route = {}; }),
        changed([](sample& s) { s.request.model = "whisper-2"; }),
        changed([](sample& s) { s.request.format = response_format::verbose_json; }),
        changed([](sample& s) { s.request.format = response_format::diarized_json; }),
        changed([](sample& s) { s.request.fields[0].value = "en"; }),
        changed([](sample& s) { s.request.fields[0].name = "Language"; }),
        changed([](sample& s) { s.request.fields[1].value = "x "; }),
        changed([](sample& s) { s.request.fields[4].value = "0.0"; }),
        changed([](sample& s) { s.request.fields.pop_back(); }),
        changed([](sample& s) { std::swap(s.request.fields[2], s.request.fields[3]); }),  // Values of one name have an order.
        changed([](sample& s) { s.request.fields.push_back({"keywords[]", "b"}); }),
        changed([](sample& s) { s.request.fields.push_back({"timestamp_granularities[]", "word"}); }),
        changed([](sample& s) { s.request.fields.push_back({"never_heard_of", "1"}); }),
        changed([](sample& s) { s.request.fields.push_back({"bytes", std::string("\0\xff", 2)}); }),
        changed([](sample& s) { s.request.fields.push_back({"bytes", std::string("\0", 1)}); }),
    };
    std::map<work_key, std::size_t> seen{{sample().key(), 999}};
    for (std::size_t i = 0; i < others.size(); ++i) {
        const auto [at, fresh] = seen.emplace(others[i].key(), i);
        BOOST_TEST(fresh, "change " << i << " gives the key of " << at->second);
    }
}

BOOST_AUTO_TEST_CASE(what_cannot_change_the_result_does_not_change_the_key) {
    const work_key key = sample().key();
    BOOST_TEST((changed([](sample& s) { s.request.stream = true; }).key() == key));
    BOOST_TEST((changed([](sample& s) { s.request.format = response_format::text; }).key() == key));
    // Parsed values are the fields again.
    BOOST_TEST((changed([](sample& s) {
                    s.request.language = "fr";
                    s.request.prompt = "y";
                    s.request.temperature = 1;
                    s.request.word_times = true;
                }).key() == key));
    BOOST_TEST((changed([](sample& s) { std::swap(s.request.fields[0], s.request.fields[4]); }).key() == key));
    BOOST_TEST((changed([](sample& s) {
                    std::rotate(s.request.fields.begin(), s.request.fields.begin() + 2, s.request.fields.end());
                }).key() == key));
    BOOST_TEST((changed([](sample& s) { s.request.fields.push_back({"new_thing", ""}); }).key() == key));
    BOOST_TEST((changed([](sample& s) { s.request.fields.insert(s.request.fields.begin(), {"language", ""}); }).key() == key));
}

BOOST_AUTO_TEST_CASE(formats_of_one_class_share_a_key) {
    const auto key = [](response_format format) { return changed([&](sample& s) { s.request.format = format; }).key(); };
    BOOST_TEST((key(response_format::json) == key(response_format::text)));
    BOOST_TEST((key(response_format::verbose_json) == key(response_format::srt)));
    BOOST_TEST((key(response_format::verbose_json) == key(response_format::vtt)));
    BOOST_TEST((key(response_format::json) != key(response_format::srt)));
    BOOST_TEST((key(response_format::diarized_json) != key(response_format::srt)));
    BOOST_TEST((key(response_format::diarized_json) != key(response_format::json)));
}

BOOST_AUTO_TEST_CASE(neighbours_do_not_run_together) {
    const auto key = [](auto change) { return changed(change).material(); };
    BOOST_TEST(key([](sample& s) {
                   s.principal = "ab";
                   s.device = "c";
               }) != key([](sample& s) {
                   s.principal = "a";
                   s.device = "bc";
               }));
    BOOST_TEST(key([](sample& s) { s.route = {"ab"}; }) != key([](sample& s) { s.route = {"a", "b"}; }));
    BOOST_TEST(key([](sample& s) {
                   s.route = {"a"};
                   s.request.model = "b";
               }) != key([](sample& s) {
                   s.route = {"a", "b"};
                   s.request.model = "";
               }));
    BOOST_TEST(key([](sample& s) { s.request.fields = {{"a", "bc"}}; }) != key([](sample& s) { s.request.fields = {{"ab", "c"}}; }));
    BOOST_TEST(key([](sample& s) { s.request.fields = {{"a", "b"}, {"c", "d"}}; }) !=
               key([](sample& s) { s.request.fields = {{"a", "bcd"}}; }));
    // A value that holds the length prefix of another field.
    const std::string forged = std::string("b") + std::string(7, '\0') + "\1" + "c" + std::string(7, '\0') + "\1" + "d";
    BOOST_TEST(key([&](sample& s) { s.request.fields = {{"a", forged}}; }) !=
               key([](sample& s) { s.request.fields = {{"a", "b"}, {"c", "d"}}; }));
}

BOOST_AUTO_TEST_CASE(random_field_lists_have_the_same_material_only_when_they_are_the_same_work) {
    std::mt19937 random(11);
    const std::vector<std::string> texts{"a", "b",  "ab", "ba", std::string(1, '\0'), std::string(8, '\0'), std::string(7, '\0') + "\1",
                                         "",  "a b"};
    // The work a list stands for: for each name its non-empty values in order.
    std::map<std::string, std::map<std::string, std::vector<std::string>>> known;
    for (int round = 0; round < 30'000; ++round) {
        sample one;
        one.request.fields.clear();
        for (std::size_t i = random() % 5; i > 0; --i) one.request.fields.push_back({texts[random() % 7], texts[random() % texts.size()]});
        std::map<std::string, std::vector<std::string>> meaning;
        for (const auto& field : one.request.fields) {
            if (!field.value.empty()) meaning[field.name].push_back(field.value);
        }
        const auto [at, fresh] = known.emplace(one.material(), meaning);
        if (!fresh && at->second != meaning) BOOST_REQUIRE_MESSAGE(false, "two works with one key");
    }
    // And the other way round: as many materials as meanings.
    std::map<std::map<std::string, std::vector<std::string>>, int> meanings;
    for (const auto& [material, meaning] : known) ++meanings[meaning];
    for (const auto& [meaning, times] : meanings) BOOST_TEST(times == 1);
}

BOOST_AUTO_TEST_CASE(the_key_is_the_hash_of_the_material_in_every_process) {
    // Instances that share a store must agree: this value changes only together with the version in work_key.cpp.
    BOOST_TEST(hex_of(sample().key().bytes) == "e96db2289bafe2d0de96c039aa923a00aeca79cbb72a5dc4a25de03b4d2bd72d");
}

BOOST_AUTO_TEST_CASE(keys_hash_and_compare) {
    std::unordered_set<work_key> set{sample().key()};
    BOOST_TEST(set.contains(sample().key()));
    BOOST_TEST(!set.contains(changed([](sample& s) { s.device = "x"; }).key()));
    BOOST_TEST((std::hash<work_key>()(sample().key()) == std::hash<work_key>()(sample().key())));
}

BOOST_AUTO_TEST_CASE(many_fields) {
    sample one;
    one.request.fields.clear();
    for (int i = 0; i < 500; ++i) one.request.fields.push_back({"name" + std::to_string(i % 50), std::to_string(i)});
    sample other = one;
    // The same values, in order, under names that come the other way round.
    std::sort(other.request.fields.begin(), other.request.fields.end(), [](const form_field& a, const form_field& b) {
        return a.name != b.name ? a.name > b.name : std::stoi(a.value) < std::stoi(b.value);
    });
    BOOST_TEST((one.key() == other.key()));
    std::swap(other.request.fields[0].value, other.request.fields[1].value);
    BOOST_TEST((one.key() != other.key()));
}
