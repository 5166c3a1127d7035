// Callers that leave: alone, all of them, and in the middle of an upload.
#include "running_gateway.hpp"

using namespace hearonce::test;
using namespace std::chrono_literals;

namespace {

// Sends a whole upload and leaves the answer unread.
std::unique_ptr<raw_client> begin(std::uint16_t port, const std::string& audio) {
    auto client = std::make_unique<raw_client>(port);
    client->send(post_form(transcriptions, form_body("b1", upload(audio)), "b1"));
    return client;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(leaving)

BOOST_AUTO_TEST_CASE(the_leaders_connection_is_cut_and_the_others_get_their_answer) {
    for (int how = 0; how < 3; ++how) {
        running_gateway gateway;
        gateway.backend->close_gate();
        auto leader = begin(gateway.port, wav());
        BOOST_REQUIRE(gateway.backend->wait_for_runs(1));
        std::vector<std::unique_ptr<raw_client>> followers;
        for (int i = 0; i < 5; ++i) followers.push_back(begin(gateway.port, wav()));
        wait_for_metric(gateway.port, "hearonce_waiters", 6);
        if (how == 0) leader->close();
        if (how == 1) leader->reset();
        if (how == 2) leader->end_sending();
        wait_for_metric(gateway.port, "hearonce_waiters", 5);
        gateway.backend->open_gate();
        for (auto& follower : followers) {
            const auto answer = read_answer(*follower);
            BOOST_TEST(answer.status == 200);
            BOOST_TEST(answer.header("cache-status") == "hearonce; fwd=miss; collapsed");
        }
        BOOST_TEST(gateway.backend->runs() == 1u);
        BOOST_TEST(gateway.backend->cancelled() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(all_leave_and_a_resend_within_the_grace_joins) {
    running_gateway gateway;
    gateway.backend->close_gate();
    auto one = begin(gateway.port, wav());
    auto two = begin(gateway.port, wav());
    wait_for_metric(gateway.port, "hearonce_waiters", 2);
    one->close();
    two->reset();
    wait_for_metric(gateway.port, "hearonce_waiters", 0);
    BOOST_TEST(metric(gateway.port, "hearonce_work_in_flight") == 1);
    auto again = begin(gateway.port, wav());
    wait_for_metric(gateway.port, "hearonce_waiters", 1);
    gateway.backend->open_gate();
    const auto answer = read_answer(*again);
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("cache-status") == "hearonce; fwd=miss; collapsed");
    BOOST_TEST(gateway.backend->runs() == 1u);
}

BOOST_AUTO_TEST_CASE(after_the_grace_the_run_is_cancelled_and_the_next_upload_starts_fresh) {
    auto wanted = test_settings();
    wanted.flight.abandon_grace = 50ms;
    running_gateway gateway(wanted);
    gateway.backend->close_gate();
    auto one = begin(gateway.port, wav());
    BOOST_REQUIRE(gateway.backend->wait_for_runs(1));
    wait_for_metric(gateway.port, "hearonce_waiters", 1);
    one->close();
    BOOST_REQUIRE(gateway.backend->wait_for_cancelled(1));
    wait_for_metric(gateway.port, "hearonce_work_in_flight", 0);
    BOOST_TEST(metric(gateway.port, "hearonce_work_total{outcome=\"cancelled\"}") == 1);
    gateway.backend->open_gate();
    const auto answer = post(gateway.port, transcriptions, upload(wav()));
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(answer.header("cache-status") == "hearonce; fwd=miss; stored; ttl=600");
    BOOST_TEST(gateway.backend->runs() == 2u);
}

BOOST_AUTO_TEST_CASE(a_finished_result_of_abandoned_work_is_found) {
    running_gateway gateway;
    gateway.backend->close_gate();
    auto one = begin(gateway.port, wav());
    wait_for_metric(gateway.port, "hearonce_waiters", 1);
    one->close();
    wait_for_metric(gateway.port, "hearonce_waiters", 0);
    gateway.backend->open_gate();
    wait_for_metric(gateway.port, "hearonce_work_in_flight", 0);
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav())).header("cache-status").starts_with("hearonce; hit"));
    BOOST_TEST(gateway.backend->runs() == 1u);
}

BOOST_AUTO_TEST_CASE(a_body_cut_short_is_no_work_and_no_entry) {
    running_gateway gateway;
    const auto whole = post_form(transcriptions, form_body("b1", upload(wav())), "b1");
    for (const std::size_t cut : {whole.size() - 1, whole.size() / 2, whole.find("\r\n\r\n") + 4}) {
        raw_client client(gateway.port);
        client.send(whole.substr(0, cut));
        client.end_sending();
        BOOST_TEST(closes(client));
    }
    BOOST_TEST(gateway.backend->runs() == 0u);
    BOOST_TEST(metric(gateway.port, "hearonce_audio_memory_bytes") == 0);
    BOOST_TEST(metric(gateway.port, "hearonce_work_total{outcome=\"led\"}") == 0);
}

BOOST_AUTO_TEST_CASE(a_pipelined_request_is_not_taken_for_a_leave) {
    running_gateway gateway;
    gateway.backend->close_gate();
    auto client = begin(gateway.port, wav());
    client->send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    BOOST_REQUIRE(gateway.backend->wait_for_runs(1));
    wait_for_metric(gateway.port, "hearonce_waiters", 1);
    gateway.backend->open_gate();
    BOOST_TEST(read_answer(*client).status == 200);
    BOOST_TEST(read_answer(*client).body.find("ok") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
