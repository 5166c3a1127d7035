// Upstreams that cannot show who they are get no byte of a recording and no key.
#include "clouds.hpp"

#include <support/scratch.hpp>

using namespace hearonce;
using namespace hearonce::test;
using upstream::tls_kind;

namespace {

struct shown {
    tls_kind kind;
    std::string reason;  // In the log, for the operator.
};

upstream::settings with_tls(tls_kind kind) {
    upstream::settings how;
    how.tls = kind;
    how.key = operators_key;
    return how;
}

BOOST_AUTO_TEST_SUITE(trust)

BOOST_AUTO_TEST_CASE(an_upstream_that_is_who_it_should_be_is_called) {
    const scratch folder;
    for (const auto kind : {api::openai, api::gemini}) {
        const double_server server(with_tls(tls_kind::good));
        for (const auto* host : {"127.0.0.1", "localhost"}) {
            auto configured = cloud("cloud", kind, server.url({}, host));
            configured.ca_file = folder.write("ca.pem", server.ca_pem());
            const cloud_gateway gateway(quick_settings({configured}));
            const auto fields = model(kind == api::openai ? "whisper-1" : "gemini-2.5-flash");
            BOOST_TEST(text_in(post(gateway.port, transcriptions, upload(wav(), fields))) == heard_in(wav()));
        }
    }
}

BOOST_AUTO_TEST_CASE(an_upstream_that_is_not_gets_nothing_and_the_operator_reads_why) {
    const shown rows[] = {{tls_kind::other_ca, "unable to get local issuer certificate"},
                          {tls_kind::expired, "certificate has expired"},
                          {tls_kind::wrong_host, "IP address mismatch"}};
    const scratch folder;
    for (const auto kind : {api::openai, api::gemini}) {
        for (const auto& row : rows) {
            BOOST_TEST_CONTEXT(row.reason) {
                const double_server server(with_tls(row.kind));
                auto configured = cloud("cloud", kind, server.url());
                configured.ca_file = folder.write("ca.pem", server.ca_pem());
                captured_log log;
                {
                    const cloud_gateway gateway(quick_settings({configured}));
                    const auto fields = model(kind == api::openai ? "whisper-1" : "gemini-2.5-flash");
                    const auto answer = post(gateway.port, transcriptions, upload(wav(), fields));
                    BOOST_TEST(answer.status == 502);
                    BOOST_TEST(code_in(answer.body) == "upstream_error");
                    // What is wrong with the certificate is the operator's to know.
                    BOOST_TEST(!tells(answer, "certificate"));
                }
                const auto said = log.text();
                BOOST_TEST(said.find(row.reason) != std::string::npos, said);
                BOOST_TEST(said.find("sk-secret") == std::string::npos);
                BOOST_TEST(server.wait_until([](const upstream::counts& seen) { return seen.connections_open == 0; }));
                const auto seen = server.seen();
                BOOST_TEST(seen.connections_accepted == 1u);
                BOOST_TEST(seen.calls + seen.other_requests == 0u);
                BOOST_TEST(seen.received_bytes == 0u);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_in_the_certificate_is_refused_too) {
    const scratch folder;
    const double_server server(with_tls(tls_kind::wrong_host));
    auto configured = cloud("cloud", api::openai, server.url({}, "localhost"));
    configured.ca_file = folder.write("ca.pem", server.ca_pem());
    captured_log log;
    {
        const cloud_gateway gateway(quick_settings({configured}));
        BOOST_TEST(post(gateway.port, transcriptions, upload(wav(), model("whisper-1"))).status == 502);
    }
    BOOST_TEST(log.text().find("hostname mismatch") != std::string::npos);
    BOOST_TEST(server.seen().calls == 0u);
}

// Without ca_file the system's authorities count, and the double's is none of them.
BOOST_AUTO_TEST_CASE(an_authority_nobody_knows_is_not_trusted) {
    const double_server server(with_tls(tls_kind::good));
    const cloud_gateway gateway(quick_settings({cloud("cloud", api::openai, server.url())}));
    BOOST_TEST(post(gateway.port, transcriptions, upload(wav(), model("whisper-1"))).status == 502);
    BOOST_TEST(server.seen().calls == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
