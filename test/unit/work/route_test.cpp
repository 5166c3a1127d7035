// Whose key goes to which backend, for every way of sending keys and every order of backends.
#define BOOST_TEST_MODULE route
#include <work/route.hpp>

#include <boost/test/unit_test.hpp>

#include <map>

namespace {

using namespace hearonce;
using work::callable_with;
using work::route;

class named final : public backend {
public:
    named(std::string name, hearonce::provider whose) : name_(std::move(name)), whose_(whose) {}
    std::string_view name() const noexcept override { return name_; }
    backend_state state() const override { return {true, {}}; }
    std::vector<std::string> models() const override { return {}; }
    std::string default_model() const override { return {}; }
    result<void> supports(const transcription_request&) const override { return {}; }
    hearonce::provider provider() const noexcept override { return whose_; }
    boost::asio::awaitable<result<transcript>> transcribe(std::shared_ptr<const recording>, transcription_request, attempt) override {
        co_return error(errc::internal_error);
    }

private:
    std::string name_;
    hearonce::provider whose_;
};

route route_of(const std::vector<std::string>& names) {
    const std::map<std::string, provider> kinds{
        {"openai", provider::openai}, {"groq", provider::openai}, {"gemini", provider::gemini}, {"local", provider::none}};
    route made;
    made.model = "m";
    for (const auto& name : names) {
        made.backends.push_back(std::make_shared<named>(name, kinds.at(name)));
        made.names.push_back(name);
    }
    return made;
}

// "openai=B gemini=G": who is called with which key.
std::string keys_of(const result<route>& left) {
    if (!left) return std::string(entry_of(left.error().code()).code);
    BOOST_TEST(left->terms.size() == left->backends.size());
    BOOST_TEST(left->names.size() == left->backends.size());
    std::string out;
    for (std::size_t i = 0; i < left->backends.size(); ++i) {
        BOOST_TEST(left->names[i] == left->backends[i]->name());
        const auto& key = left->terms[i].key;
        out += (i > 0 ? " " : "") + left->names[i] + "=" + (key ? std::string(key->reveal()) : "-");
    }
    return out;
}

std::shared_ptr<caller_keys> sent(const std::string& which) {
    auto keys = std::make_shared<caller_keys>();
    if (which.find('B') != std::string::npos) keys->bearer = secret("B");
    if (which.find('A') != std::string::npos) keys->openai = secret("A");
    if (which.find('G') != std::string::npos) keys->gemini = secret("G");
    return keys;
}

BOOST_AUTO_TEST_CASE(who_is_called_with_what) {
    const struct {
        std::vector<std::string> backends;
        std::string keys;  // B: bearer, A: api-key, G: x-goog-api-key
        std::string expected;
    } rows[] = {
        {{"openai"}, "B", "openai=B"},
        {{"openai"}, "A", "openai=A"},
        {{"openai"}, "BA", "openai=A"},
        {{"openai"}, "G", "invalid_api_key"},
        {{"openai"}, "", "invalid_api_key"},
        {{"gemini"}, "B", "gemini=B"},
        {{"gemini"}, "G", "gemini=G"},
        {{"gemini"}, "BG", "gemini=G"},
        {{"gemini"}, "A", "invalid_api_key"},
        // A bearer stays with the first, also when the first is called with another key or not at all.
        {{"openai", "gemini"}, "B", "openai=B"},
        {{"openai", "gemini"}, "BG", "openai=B gemini=G"},
        {{"openai", "gemini"}, "AG", "openai=A gemini=G"},
        {{"openai", "gemini"}, "G", "gemini=G"},
        {{"openai", "gemini"}, "BA", "openai=A"},
        {{"gemini", "openai"}, "B", "gemini=B"},
        {{"gemini", "openai"}, "BG", "gemini=G"},
        {{"gemini", "openai"}, "A", "openai=A"},
        {{"gemini", "openai"}, "BA", "gemini=B openai=A"},
        {{"openai", "groq"}, "B", "openai=B"},
        {{"openai", "groq"}, "A", "openai=A groq=A"},
        {{"local", "openai"}, "B", "invalid_api_key"},
        {{"local", "openai"}, "A", "openai=A"},
        {{"openai", "local"}, "B", "openai=B"},
        {{"local"}, "BAG", "invalid_api_key"},
    };
    for (const auto& row : rows) {
        BOOST_TEST_CONTEXT(row.backends.front() << " of " << row.backends.size() << ", sent " << row.keys) {
            BOOST_TEST(keys_of(callable_with(route_of(row.backends), sent(row.keys), false)) == row.expected);
        }
    }
}

BOOST_AUTO_TEST_CASE(backends_without_keys_take_part_where_that_is_allowed) {
    BOOST_TEST(keys_of(callable_with(route_of({"local"}), sent("B"), true)) == "local=-");
    BOOST_TEST(keys_of(callable_with(route_of({"openai", "local"}), sent("B"), true)) == "openai=B local=-");
    BOOST_TEST(keys_of(callable_with(route_of({"local", "openai"}), sent("B"), true)) == "local=-");
}

BOOST_AUTO_TEST_CASE(organization_and_project_go_to_openais_kinds_alone) {
    const auto keys = sent("AG");
    keys->organization = "org";
    keys->project = "proj";
    const auto left = callable_with(route_of({"gemini", "openai", "local"}), keys, true);
    BOOST_REQUIRE(left.has_value());
    BOOST_REQUIRE(left->terms.size() == 3u);
    BOOST_TEST(left->terms[0].organization == "");
    BOOST_TEST(left->terms[1].organization == "org");
    BOOST_TEST(left->terms[1].project == "proj");
    BOOST_TEST(left->terms[2].project == "");
    BOOST_TEST(left->model == "m");
}

BOOST_AUTO_TEST_CASE(the_keys_end_with_the_route) {
    std::weak_ptr<const caller_keys> left;
    {
        const auto keys = sent("BAG");
        left = keys;
        (void)callable_with(route_of({"local"}), keys, false);
        BOOST_TEST(keys.use_count() == 1);
        const auto chosen = callable_with(route_of({"openai", "gemini"}), keys, false);
        BOOST_TEST(keys.use_count() == 3);
    }
    BOOST_TEST(left.expired());
}

}  // namespace
