// Liveness and readiness.
#include "heads.hpp"

#include <http/health_answer.hpp>

#include <boost/test/unit_test.hpp>

using namespace hearonce::http;

namespace {

listed_backend backend(const char* name, bool ready, const char* reason = "") {
    return {name, {}, "", ready, reason};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(health)

BOOST_AUTO_TEST_CASE(live) {
    BOOST_TEST(live_answer().status == 200);
    BOOST_TEST(*live_answer().body == R"({"status":"ok"})");
    BOOST_TEST(header_of(live_answer(), "Content-Type") == "application/json");
}

BOOST_AUTO_TEST_CASE(one_ready_backend_is_enough) {
    const std::vector<listed_backend> backends{backend("local", false, "no model: run `hearonce models pull tiny`"),
                                               backend("openai", true, "ignored")};
    const response answer = ready_answer(backends, false);
    BOOST_TEST(answer.status == 200);
    BOOST_TEST(*answer.body ==
               R"({"status":"ready","backends":[{"name":"local","ready":false,"reason":"no model: run `hearonce models pull tiny`"},)"
               R"({"name":"openai","ready":true,"reason":null}]})");
}

BOOST_AUTO_TEST_CASE(none_ready) {
    const std::vector<listed_backend> backends{backend("local", false)};
    BOOST_TEST(ready_answer(backends, false).status == 503);
    BOOST_TEST(*ready_answer(backends, false).body ==
               R"({"status":"not_ready","backends":[{"name":"local","ready":false,"reason":null}]})");
    BOOST_TEST(ready_answer({}, false).status == 503);
    BOOST_TEST(*ready_answer({}, false).body == R"({"status":"not_ready","backends":[]})");
}

BOOST_AUTO_TEST_CASE(draining_is_never_ready) {
    const std::vector<listed_backend> backends{backend("local", true)};
    const response answer = ready_answer(backends, true);
    BOOST_TEST(answer.status == 503);
    BOOST_TEST(*answer.body == R"({"status":"draining","backends":[{"name":"local","ready":true,"reason":null}]})");
}

BOOST_AUTO_TEST_SUITE_END()
