// SIGTERM's part of the story: what began is finished, what comes later is refused.
#include "running_gateway.hpp"

using namespace hearonce::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(draining)

BOOST_AUTO_TEST_CASE(twenty_running_uploads_get_their_answers) {
    running_gateway gateway;
    gateway.backend->close_gate();
    std::vector<std::unique_ptr<raw_client>> clients;
    for (unsigned i = 0; i < 20; ++i) {
        clients.push_back(std::make_unique<raw_client>(gateway.port));
        clients.back()->send(post_form(transcriptions, form_body("b1", upload(wav(i))), "b1"));
    }
    BOOST_REQUIRE(gateway.backend->wait_for_runs(20));
    gateway.gateway().drain();
    gateway.backend->open_gate();
    for (auto& client : clients) {
        const auto answer = read_answer(*client);
        BOOST_TEST(answer.status == 200);
        BOOST_TEST(answer.header("connection") == "close");
        BOOST_TEST(closes(*client));
    }
}

BOOST_AUTO_TEST_CASE(an_upload_in_the_middle_of_its_body_is_served) {
    running_gateway gateway;
    const auto whole = post_form(transcriptions, form_body("b1", upload(wav())), "b1");
    raw_client client(gateway.port);
    client.send(whole.substr(0, whole.size() / 2));
    while (metric(gateway.port, "hearonce_audio_memory_bytes") <= 0) std::this_thread::sleep_for(1ms);
    gateway.gateway().drain();
    client.send(whole.substr(whole.size() / 2));
    BOOST_TEST(read_answer(client).status == 200);
}

BOOST_AUTO_TEST_CASE(flights_nobody_waits_on_end_at_once) {
    running_gateway gateway;
    gateway.backend->close_gate();
    {
        raw_client client(gateway.port);
        client.send(post_form(transcriptions, form_body("b1", upload(wav())), "b1"));
        BOOST_REQUIRE(gateway.backend->wait_for_runs(1));
    }
    gateway.gateway().drain();
    BOOST_TEST(gateway.backend->wait_for_cancelled(1));
}

BOOST_AUTO_TEST_CASE(the_limit_ends_what_does_not_end_by_itself) {
    auto wanted = test_settings();
    wanted.server.drain = 100ms;
    running_gateway gateway(wanted);
    gateway.backend->close_gate();
    raw_client client(gateway.port);
    client.send(post_form(transcriptions, form_body("b1", upload(wav())), "b1"));
    BOOST_REQUIRE(gateway.backend->wait_for_runs(1));
    gateway.gateway().drain();
    gateway.gateway().wait();
    BOOST_TEST(closes(client));
    BOOST_TEST(gateway.backend->cancelled() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
