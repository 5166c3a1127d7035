// The choice of route and the walk over its backends, with scripted backends.
#define BOOST_TEST_MODULE dispatcher
#include <work/dispatcher.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>

namespace {

using namespace hearonce;
using hearonce::work::dispatcher;
using hearonce::work::route;

// Answers each call with the next scripted end.
class scripted_backend final : public backend {
public:
    scripted_backend(std::string name, std::vector<std::string> models) : name_(std::move(name)), models_(std::move(models)) {}

    std::string_view name() const noexcept override { return name_; }
    backend_state state() const override { return {true, {}}; }
    std::vector<std::string> models() const override { return models_; }
    std::string default_model() const override { return name_ + "-default"; }
    result<void> supports(const transcription_request&) const override {
        if (refuses) return *refuses;
        return {};
    }
    std::chrono::milliseconds time_allowed(std::optional<std::chrono::milliseconds>) const override { return allowed; }
    boost::asio::awaitable<result<transcript>> transcribe(std::shared_ptr<const recording>, transcription_request request,
                                                          attempt) override {
        asked_models.push_back(request.model);
        BOOST_REQUIRE(!ends.empty());
        auto end = std::move(ends.front());
        ends.pop_front();
        co_return end;
    }

    std::deque<result<transcript>> ends;
    std::vector<std::string> asked_models;
    std::optional<error> refuses;
    std::chrono::milliseconds allowed{1000};

private:
    std::string name_;
    std::vector<std::string> models_;
};

result<transcript> text(std::string words) {
    transcript made;
    made.text = std::move(words);
    return made;
}

using names = std::vector<std::string>;

struct fixture {
    std::shared_ptr<scripted_backend> cloud = std::make_shared<scripted_backend>("cloud", std::vector<std::string>{"gpt-*", "whisper-1"});
    std::shared_ptr<scripted_backend> local = std::make_shared<scripted_backend>("local", std::vector<std::string>{"local"});

    std::string asked_last;
    mutable observe::metrics counted{1, {"cloud", "local"}};

    // Pauses take no time that would count: the policy's own test has them.
    work::retry_rule retry{3, {std::chrono::milliseconds(1)}, std::chrono::seconds(20)};

    dispatcher make(std::string fallback, std::vector<work::route_rule> rules = {}) const {
        return dispatcher({cloud, local}, std::move(rules), std::move(fallback), counted, retry);
    }

    result<transcript> run(route chosen, deadline limit = deadline::never()) {
        boost::asio::io_context context;
        std::optional<work::attempts_end> end;
        const auto asked = make("");
        auto body = [&end, &chosen, &asked, limit]() -> boost::asio::awaitable<void> {
            const transcription_request request;
            auto value = co_await asked.run(chosen, nullptr, request, limit);
            end = std::move(value);
        };
        boost::asio::co_spawn(context, body, [](std::exception_ptr why) {
            if (why) std::rethrow_exception(why);
        });
        context.run();
        BOOST_REQUIRE(end.has_value());
        asked_last = end->backend;
        return end->heard;
    }
};

BOOST_FIXTURE_TEST_SUITE(choice, fixture)

BOOST_AUTO_TEST_CASE(a_claimed_name_goes_to_its_claimant) {
    const auto chosen = make("local").route_for("gpt-transcribe");
    BOOST_REQUIRE(chosen.has_value());
    BOOST_TEST((chosen->names == names{"cloud"}));
    BOOST_TEST(chosen->model == "gpt-transcribe");
}

BOOST_AUTO_TEST_CASE(an_unclaimed_name_goes_to_the_default) {
    const auto chosen = make("local").route_for("base.en");
    BOOST_REQUIRE(chosen.has_value());
    BOOST_TEST((chosen->names == names{"local"}));
    BOOST_TEST(chosen->model == "base.en");
}

BOOST_AUTO_TEST_CASE(without_a_default_it_is_not_found_and_the_name_is_told_within_a_bound) {
    const auto table = make("");
    const auto refused = table.route_for(std::string(500, 'x'));
    BOOST_REQUIRE(refused.has_error());
    BOOST_TEST((refused.error().code() == errc::model_not_found));
    BOOST_TEST(refused.error().param() == "model");
    BOOST_TEST(refused.error().message().find(std::string(128, 'x')) != std::string_view::npos);
    BOOST_TEST(refused.error().message().find(std::string(129, 'x')) == std::string_view::npos);
    BOOST_TEST((table.route_for("").error().code() == errc::model_not_found));
}

BOOST_AUTO_TEST_CASE(no_name_means_the_default_backends_model) {
    const auto chosen = make("cloud").route_for("");
    BOOST_REQUIRE(chosen.has_value());
    BOOST_TEST(chosen->model == "cloud-default");
}

BOOST_AUTO_TEST_CASE(rules_come_before_claims_and_keep_their_order) {
    const auto chosen = make("", {{"gpt-*", {"local", "cloud"}}}).route_for("gpt-x");
    BOOST_REQUIRE(chosen.has_value());
    BOOST_TEST((chosen->names == names{"local", "cloud"}));
    BOOST_TEST(chosen->backends.size() == 2u);
}

BOOST_AUTO_TEST_CASE(only_able_backends_stay_and_the_first_reason_is_told) {
    const auto chosen = make("", {{"*", {"local", "cloud"}}}).route_for("m");
    local->refuses = error(errc::unsupported_value, "no", "response_format");
    const auto left = dispatcher::able(*chosen, {});
    BOOST_REQUIRE(left.has_value());
    BOOST_TEST(left->backends.size() == 1u);
    // The names are the route's, not what is left of it: the key must not depend on what was asked.
    BOOST_TEST((left->names == names{"local", "cloud"}));
    cloud->refuses = error(errc::unsupported_value, "neither");
    const auto none = dispatcher::able(*chosen, {});
    BOOST_REQUIRE(none.has_error());
    BOOST_TEST(none.error().message() == "no");
}

BOOST_AUTO_TEST_CASE(the_flight_gets_the_most_generous_time) {
    local->allowed = std::chrono::seconds(60);
    const auto chosen = make("", {{"*", {"cloud", "local"}}}).route_for("m");
    BOOST_TEST(dispatcher::time_allowed(*chosen, std::nullopt).count() == 60000);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(attempts, fixture)

BOOST_AUTO_TEST_CASE(the_first_success_ends_it_and_is_signed) {
    cloud->ends = {text("hello")};
    const auto end = run(*make("", {{"*", {"cloud", "local"}}}).route_for("m"));
    BOOST_REQUIRE(end.has_value());
    BOOST_TEST(end->text == "hello");
    BOOST_TEST(end->backend == "cloud");
    BOOST_TEST(local->asked_models.empty());
    BOOST_TEST(cloud->asked_models == std::vector<std::string>{"m"});
}

BOOST_AUTO_TEST_CASE(a_failure_of_the_backend_goes_on_to_the_next) {
    for (const auto code :
         {errc::upstream_error, errc::overloaded, errc::rate_limit_exceeded, errc::insufficient_quota, errc::internal_error}) {
        cloud->ends.assign(code == errc::rate_limit_exceeded ? 3 : 1, error(code));
        local->ends = {text("hello")};
        const auto end = run(*make("", {{"*", {"cloud", "local"}}}).route_for("m"));
        BOOST_REQUIRE(end.has_value());
        BOOST_TEST(end->backend == "local");
    }
}

BOOST_AUTO_TEST_CASE(a_failure_of_the_request_ends_it) {
    for (const auto code :
         {errc::unsupported_audio, errc::audio_too_short, errc::invalid_parameter, errc::upstream_timeout, errc::cancelled}) {
        cloud->ends = {error(code)};
        const auto end = run(*make("", {{"*", {"cloud", "local"}}}).route_for("m"));
        BOOST_REQUIRE(end.has_error());
        BOOST_TEST((end.error().code() == code));
        BOOST_TEST(local->asked_models.empty());
    }
}

BOOST_AUTO_TEST_CASE(the_most_telling_failure_is_the_answer) {
    cloud->ends = {error(errc::upstream_error)};
    local->ends = {error(errc::overloaded)};
    const auto end = run(*make("", {{"*", {"cloud", "local"}}}).route_for("m"));
    BOOST_REQUIRE(end.has_error());
    BOOST_TEST((end.error().code() == errc::overloaded));
    BOOST_TEST(asked_last == "local");
}

BOOST_AUTO_TEST_CASE(a_full_queue_was_no_call) {
    cloud->ends = {error(errc::overloaded)};
    (void)run(*make("", {{"*", {"cloud"}}}).route_for("m"));
    BOOST_TEST(counted.sum().backends.at(0).calls == 0u);
}

BOOST_AUTO_TEST_CASE(each_call_is_counted_with_its_end) {
    cloud->ends = {error(errc::upstream_error), error(errc::upstream_timeout), error(errc::cancelled), text("hello")};
    const auto chosen = *make("", {{"*", {"cloud"}}}).route_for("m");
    for (int i = 0; i < 4; ++i) (void)run(chosen);
    const auto text = counted.prometheus_text();
    for (const auto* status : {"error", "timeout", "cancelled", "ok"}) {
        const auto line = "hearonce_upstream_calls_total{backend=\"cloud\",status=\"" + std::string(status) + "\"} 1";
        BOOST_TEST(text.find(line) != std::string::npos, line);
    }
}

BOOST_AUTO_TEST_CASE(a_passed_deadline_calls_nobody) {
    const auto end = run(*make("", {{"*", {"cloud", "local"}}}).route_for("m"), deadline(deadline::clock::now()));
    BOOST_REQUIRE(end.has_error());
    BOOST_TEST((end.error().code() == errc::upstream_timeout));
    BOOST_TEST(cloud->asked_models.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
