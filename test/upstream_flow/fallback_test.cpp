// Routes of two clouds: after which failures the second one is asked, and after which it must not be.
#include "clouds.hpp"

using namespace hearonce;
using namespace hearonce::test;

namespace {

// One route over two clouds.
struct two_clouds {
    explicit two_clouds(api second_kind, std::chrono::milliseconds base = 30s, api first_kind = api::openai) {
        const auto alias = [](api kind) { return kind == api::openai ? "whisper-1" : "gemini-2.5-flash"; };
        auto one = cloud("first", first_kind, first.url());
        auto other = cloud("second", second_kind, second.url());
        one.model_alias = {{"shared", alias(first_kind)}};
        other.model_alias = {{"shared", alias(second_kind)}};
        wanted = quick_settings({one, other});
        wanted.routes = {{"shared", {"first", "second"}}};
        wanted.deadline.base = base;
    }
    std::uint64_t first_calls() const { return first.seen().of(sha256_of(wav())); }
    std::uint64_t second_calls() const { return second.seen().of(sha256_of(wav())); }
    raw_answer ask(const cloud_gateway& gateway) const { return post(gateway.port, transcriptions, upload(wav(), model("shared"))); }

    double_server first;
    double_server second;
    app::settings wanted;
};

// A port on which nobody listens any more.
std::string nobodys_url() {
    const double_server gone;
    return gone.url();
}

BOOST_AUTO_TEST_SUITE(fallback)

BOOST_AUTO_TEST_CASE(the_first_of_a_route_answers_while_it_can) {
    const two_clouds clouds(api::gemini);
    const cloud_gateway gateway(clouds.wanted);
    const auto answer = clouds.ask(gateway);
    BOOST_TEST(text_in(answer) == heard_in(wav()));
    BOOST_TEST(answer.header("x-hearonce-backend") == "first");
    BOOST_TEST(clouds.second.seen().connections_accepted == 0u);
}

BOOST_AUTO_TEST_CASE(a_backend_that_did_no_work_is_followed_by_the_next) {
    const std::pair<std::string, unsigned> rows[] = {{"status=503", 3}, {"status=500", 3}, {"html_502", 3},           {"status=429", 3},
                                                     {"status=501", 1}, {"status=401", 1}, {"insufficient_quota", 1}, {"status=529", 1}};
    for (const auto kind : {api::openai, api::gemini}) {
        for (const auto& [fault, calls] : rows) {
            BOOST_TEST_CONTEXT(fault) {
                two_clouds clouds(kind);
                const cloud_gateway gateway(clouds.wanted);
                clouds.first.always(fault);
                const auto answer = clouds.ask(gateway);
                BOOST_TEST(text_in(answer) == heard_in(wav()));
                BOOST_TEST(answer.header("x-hearonce-backend") == "second");
                BOOST_TEST(answer.header("cache-status") == "hearonce; fwd=miss; stored; ttl=600");
                BOOST_TEST(clouds.first_calls() == calls);
                BOOST_TEST(clouds.second_calls() == 1u);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_backend_that_is_not_there_is_followed_by_the_next) {
    for (const auto kind : {api::openai, api::gemini}) {
        two_clouds clouds(kind);
        clouds.wanted.backends[0].base_url = nobodys_url() + "/v1";
        const cloud_gateway gateway(clouds.wanted);
        const auto answer = clouds.ask(gateway);
        BOOST_TEST(text_in(answer) == heard_in(wav()));
        BOOST_TEST(answer.header("x-hearonce-backend") == "second");
        BOOST_TEST(calls_counted(get(gateway.port, "/metrics").body, "first") == 3);
    }
}

// Somebody may have been paid for it already.
BOOST_AUTO_TEST_CASE(a_backend_that_may_have_done_the_work_is_not_followed) {
    const std::pair<std::string, int> rows[] = {
        {"hang", 504},     {"drip=40ms", 504}, {"reset=after_body", 502}, {"reset=after_head", 502}, {"half_body", 502},
        {"not_json", 502}, {"html_200", 502},  {"status=504", 504},       {"status=520", 502},       {"status=408", 504}};
    for (const auto kind : {api::openai, api::gemini}) {
        for (const auto& [fault, status] : rows) {
            BOOST_TEST_CONTEXT(fault << (kind == api::openai ? " of openai" : " of gemini")) {
                const bool slow = fault == "hang" || fault.starts_with("drip");
                two_clouds clouds(kind == api::openai ? api::gemini : api::openai, slow ? 700ms : 30s, kind);
                const cloud_gateway gateway(clouds.wanted);
                clouds.first.always(fault);
                const auto answer = clouds.ask(gateway);
                BOOST_TEST(answer.status == status);
                BOOST_TEST(answer.header("x-hearonce-backend") == "first");
                BOOST_TEST(clouds.first_calls() == 1u);
                BOOST_TEST(clouds.second.seen().connections_accepted == 0u);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_request_that_is_at_fault_itself_is_not_tried_elsewhere) {
    for (const auto* fault : {"status=400", "status=413", "status=415", "status=404"}) {
        two_clouds clouds(api::openai);
        const cloud_gateway gateway(clouds.wanted);
        clouds.first.always(fault);
        BOOST_TEST(clouds.ask(gateway).status == std::stoi(std::string(fault).substr(7)));
        BOOST_TEST(clouds.second.seen().connections_accepted == 0u);
    }
}

BOOST_AUTO_TEST_CASE(of_two_failures_the_more_telling_one_is_told) {
    two_clouds clouds(api::gemini);
    const cloud_gateway gateway(clouds.wanted);
    clouds.first.always("status=503");
    clouds.second.always("status=429, retry_after=60");
    const auto answer = clouds.ask(gateway);
    BOOST_TEST(answer.status == 429);
    BOOST_TEST(answer.header("retry-after") == "60");
    BOOST_TEST(answer.header("x-hearonce-backend") == "second");
    BOOST_TEST(answer.header("x-should-retry") == "false");
    BOOST_TEST(clouds.first_calls() == 3u);
    BOOST_TEST(clouds.second_calls() == 1u);
}

BOOST_AUTO_TEST_CASE(sixty_four_equal_uploads_fall_back_as_one) {
    two_clouds clouds(api::gemini);
    clouds.wanted.backends[0].max_in_flight = 1;
    clouds.wanted.flight.abandon_grace = 0ms;
    const cloud_gateway gateway(clouds.wanted);
    clouds.first.always("status=503");
    plug only(clouds.first, gateway, "shared");
    auto waiting = callers(64, gateway.port, wav(), model("shared"));
    BOOST_TEST(gateway.wait_for_waiters(65));
    only.pull();
    for (auto& one : waiting) {
        const auto answer = one.answer();
        BOOST_TEST(text_in(answer) == heard_in(wav()));
        BOOST_TEST(answer.header("x-hearonce-backend") == "second");
    }
    BOOST_TEST(clouds.first_calls() == 3u);
    BOOST_TEST(clouds.second_calls() == 1u);
}

// A piece that was told is never followed by another backend's words.
BOOST_AUTO_TEST_CASE(a_stream_falls_back_before_its_first_piece_and_never_after) {
    for (const bool told : {false, true}) {
        two_clouds clouds(api::gemini);
        clouds.wanted.backends[0].model_alias = {{"shared", "gpt-4o-transcribe"}};
        const cloud_gateway gateway(clouds.wanted);
        clouds.first.always(told ? "sse_error" : "status=503");
        const auto answer = post(gateway.port, transcriptions, upload(wav(), model("shared", true)));
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(answer.header("x-hearonce-backend") == (told ? "first" : "second"));
        BOOST_TEST(clouds.second_calls() == (told ? 0u : 1u));
        if (told) {
            BOOST_TEST(code_in(records_of(answer).back()) == "upstream_error");
        } else {
            BOOST_TEST(deltas_of(answer) == heard_in(wav()));
        }
    }
}

BOOST_AUTO_TEST_CASE(an_open_circuit_sends_everyone_to_the_next_at_once) {
    two_clouds clouds(api::openai);
    const cloud_gateway gateway(clouds.wanted);
    clouds.first.always("status=503");
    for (unsigned i = 0; i < 5; ++i)
        BOOST_TEST(post(gateway.port, transcriptions, upload(wav(i), model("shared"))).header("x-hearonce-backend") == "second");
    const auto before = clouds.first.seen().calls;
    BOOST_TEST(before == 15u);
    const auto answer = post(gateway.port, transcriptions, upload(wav(9), model("shared")));
    BOOST_TEST(text_in(answer) == heard_in(wav(9)));
    BOOST_TEST(answer.header("x-hearonce-backend") == "second");
    BOOST_TEST(clouds.first.seen().calls == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
