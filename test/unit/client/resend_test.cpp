// The resend policy, rule by rule, on a clock that the test turns.
#define BOOST_TEST_MODULE resend
#include <boost/test/unit_test.hpp>

#include <hearonce/resend.hpp>

#include <limits>
#include <string>

using namespace hearonce;
using namespace std::chrono_literals;
using kind = send_failure_kind;

namespace {

struct fake_clock {
    using duration = std::chrono::milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<fake_clock>;
};
using policy = resend_policy<fake_clock>;

constexpr fake_clock::time_point start{1'000'000ms};
const send_failure broken{.kind = kind::connection};

send_failure status(unsigned code, std::optional<std::chrono::seconds> after = std::nullopt) {
    return {.kind = kind::status, .status = code, .retry_after = after};
}

// What a whole run of failing attempts does: each lasts as long as told, pauses take their time.
struct played {
    std::vector<std::chrono::milliseconds> pauses;
    unsigned attempts = 0;
    std::chrono::milliseconds total{0};
    send_failure why{};
};

played play(const resend_rule& rule, const send_failure& why, std::chrono::milliseconds each = 0ms) {
    played seen;
    auto now = start;
    const auto end = resend<fake_clock>(
        rule,
        [&](unsigned) {
            now += each;
            return std::pair(std::optional<int>(), why);
        },
        [&](std::chrono::milliseconds pause) {
            seen.pauses.push_back(pause);
            now += pause;
            return true;
        },
        [&] { return now; });
    seen.attempts = end.attempts;
    seen.total = now - start;
    seen.why = end.why;
    return seen;
}

using pauses = std::vector<std::chrono::milliseconds>;

}  // namespace

BOOST_AUTO_TEST_SUITE(attempts)

BOOST_AUTO_TEST_CASE(four_with_pauses_of_2_5_and_10_seconds) {
    const auto seen = play({}, broken);
    BOOST_TEST(seen.attempts == 4u);
    BOOST_TEST((seen.pauses == pauses{2s, 5s, 10s}));
    BOOST_TEST((seen.why.kind == kind::connection));
}

BOOST_AUTO_TEST_CASE(the_last_pause_repeats) {
    resend_rule rule;
    rule.attempts = 7;
    const auto seen = play(rule, broken);
    BOOST_TEST(seen.attempts == 7u);
    BOOST_TEST((seen.pauses == pauses{2s, 5s, 10s, 10s, 10s, 10s}));
}

BOOST_AUTO_TEST_CASE(fewer_of_them) {
    for (const unsigned wanted : {0u, 1u}) {
        resend_rule rule;
        rule.attempts = wanted;
        BOOST_TEST(play(rule, broken).attempts == 1u);
        BOOST_TEST(play(rule, broken).pauses.empty());
    }
    resend_rule two;
    two.attempts = 2;
    BOOST_TEST((play(two, broken).pauses == pauses{2s}));
    resend_rule hasty;
    hasty.pauses.clear();
    BOOST_TEST((play(hasty, broken).pauses == pauses{0s, 0s, 0s}));
}

BOOST_AUTO_TEST_CASE(a_success_ends_them) {
    for (unsigned good = 1; good <= 4; ++good) {
        unsigned calls = 0;
        const auto end = resend<fake_clock>(
            {},
            [&](unsigned number) {
                BOOST_TEST(number == ++calls);
                return std::pair(number == good ? std::optional<std::string>("text") : std::nullopt, broken);
            },
            [](std::chrono::milliseconds) { return true; }, [] { return start; });
        BOOST_TEST(end.answer.value() == "text");
        BOOST_TEST(end.attempts == good);
        BOOST_TEST(calls == good);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(window)

BOOST_AUTO_TEST_CASE(at_exactly_90_seconds_an_attempt_may_still_begin) {
    // The pause before the second attempt is 2 s: the first may have taken 88.
    BOOST_TEST((policy({}, start).failed(broken, start + 87'999ms) == std::optional(2000ms)));
    BOOST_TEST((policy({}, start).failed(broken, start + 88'000ms) == std::optional(2000ms)));
    BOOST_TEST(!policy({}, start).failed(broken, start + 88'001ms).has_value());
}

BOOST_AUTO_TEST_CASE(long_attempts_leave_room_for_fewer) {
    const auto seen = play({}, broken, 40s);
    // 40 + 2 + 40 + 5 = 87: a third one fits, and then none.
    BOOST_TEST(seen.attempts == 3u);
    BOOST_TEST((seen.pauses == pauses{2s, 5s}));
    BOOST_TEST(play({}, broken, 90s).attempts == 1u);
}

BOOST_AUTO_TEST_CASE(a_finer_clock_is_rounded_against_the_attempt) {
    using fine = resend_policy<std::chrono::steady_clock>;
    const std::chrono::steady_clock::time_point zero{};
    BOOST_TEST(fine({}, zero).failed(broken, zero + 88s).has_value());
    BOOST_TEST(!fine({}, zero).failed(broken, zero + 88s + 1ns).has_value());
}

BOOST_AUTO_TEST_CASE(a_clock_that_goes_back_gains_no_time) {
    policy one({}, start);
    BOOST_TEST((one.failed(broken, start + 85s) == std::optional(2000ms)));
    // 85 s are gone, whatever it says now: 5 s more are just within.
    BOOST_TEST((one.failed(broken, start - 1h) == std::optional(5000ms)));
    BOOST_TEST(!one.failed(broken, start).has_value());
    policy other({}, start);
    BOOST_TEST((other.failed(broken, start - 1h) == std::optional(2000ms)));
}

BOOST_AUTO_TEST_CASE(absurd_numbers_overflow_nothing) {
    resend_rule rule;
    rule.window = std::chrono::milliseconds::max();
    rule.pauses = {std::chrono::milliseconds::max()};
    BOOST_TEST((policy(rule, start).failed(broken, start) == std::optional(std::chrono::milliseconds::max())));
    BOOST_TEST(!policy(rule, start).failed(broken, start + 1ms).has_value());
    resend_rule patient;
    patient.obey_retry_after = true;
    BOOST_TEST(!policy(patient, start).failed(status(503, std::chrono::seconds::max()), start).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(failures)

BOOST_AUTO_TEST_CASE(every_status_from_100_to_599) {
    for (unsigned code = 100; code < 600; ++code) {
        const bool listed = code == 500 || code == 502 || code == 503 || code == 504 || code == 520 || code == 521 || code == 522 ||
                            code == 523 || code == 524;
        BOOST_TEST(is_transient_status(code) == listed, code);
        BOOST_TEST(play({}, status(code)).attempts == (listed ? 4u : 1u), code);
    }
}

BOOST_AUTO_TEST_CASE(every_kind) {
    for (const auto again : {kind::host_not_found, kind::connection, kind::io}) BOOST_TEST(play({}, {.kind = again}).attempts == 4u);
    for (const auto never : {kind::invalid, kind::cancelled}) {
        const auto seen = play({}, {.kind = never});
        BOOST_TEST(seen.attempts == 1u);
        BOOST_TEST((seen.why.kind == never));
    }
}

BOOST_AUTO_TEST_CASE(an_end_that_is_final_may_come_at_any_attempt) {
    for (unsigned at = 1; at <= 4; ++at) {
        const auto end = resend<fake_clock>(
            {}, [&](unsigned number) { return std::pair(std::optional<int>(), number == at ? status(400) : broken); },
            [](std::chrono::milliseconds) { return true; }, [] { return start; });
        BOOST_TEST(end.attempts == at);
        BOOST_TEST(end.why.status == 400u);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cancel)

// Before: the first attempt says so. During a pause: sleep does. After: the attempt that follows.
BOOST_AUTO_TEST_CASE(during_a_pause_it_ends_at_once) {
    for (unsigned pause_number = 1; pause_number <= 3; ++pause_number) {
        unsigned slept = 0;
        unsigned calls = 0;
        const auto end = resend<fake_clock>(
            {},
            [&](unsigned) {
                ++calls;
                return std::pair(std::optional<int>(), broken);
            },
            [&](std::chrono::milliseconds) { return ++slept < pause_number; }, [] { return start; });
        BOOST_TEST((end.why.kind == kind::cancelled));
        BOOST_TEST(calls == pause_number);
        BOOST_TEST(end.attempts == pause_number);
    }
}

BOOST_AUTO_TEST_CASE(in_an_attempt_it_is_final_though_a_broken_link_would_not_be) {
    for (unsigned at = 1; at <= 4; ++at) {
        const auto end = resend<fake_clock>(
            {},
            [&](unsigned number) { return std::pair(std::optional<int>(), number == at ? send_failure{.kind = kind::cancelled} : broken); },
            [](std::chrono::milliseconds) { return true; }, [] { return start; });
        BOOST_TEST(end.attempts == at);
        BOOST_TEST((end.why.kind == kind::cancelled));
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(retry_after_is_not_looked_at_unless_asked) {
    BOOST_TEST((policy({}, start).failed(status(503, 30s), start) == std::optional(2000ms)));
    BOOST_TEST(!policy({}, start).failed(status(429, 1s), start).has_value());
    resend_rule rule;
    rule.obey_retry_after = true;
    BOOST_TEST((policy(rule, start).failed(status(503, 30s), start) == std::optional(30'000ms)));
    BOOST_TEST((policy(rule, start).failed(status(429, 30s), start) == std::optional(30'000ms)));
    // The own pause is the least.
    BOOST_TEST((policy(rule, start).failed(status(503, 1s), start) == std::optional(2000ms)));
    BOOST_TEST((policy(rule, start).failed(status(503, -5s), start) == std::optional(2000ms)));
    // Without a time 429 is final; of other statuses it means nothing.
    BOOST_TEST(!policy(rule, start).failed(status(429), start).has_value());
    BOOST_TEST((policy(rule, start).failed(status(502, 30s), start) == std::optional(2000ms)));
    // Within the window only.
    BOOST_TEST((policy(rule, start).failed(status(503, 90s), start) == std::optional(90'000ms)));
    BOOST_TEST(!policy(rule, start).failed(status(503, 91s), start).has_value());
}

BOOST_AUTO_TEST_CASE(jitter_makes_pauses_longer_by_a_share) {
    resend_rule rule;
    rule.jitter = 0.5;
    BOOST_TEST((policy(rule, start).failed(broken, start, 0) == std::optional(2000ms)));
    BOOST_TEST((policy(rule, start).failed(broken, start, 0.5) == std::optional(2500ms)));
    BOOST_TEST((policy(rule, start).failed(broken, start, 1) == std::optional(3000ms)));
    BOOST_TEST((policy(rule, start).failed(broken, start, 7) == std::optional(3000ms)));
    // Off by default, whatever the dice say; and counted against the window.
    BOOST_TEST((policy({}, start).failed(broken, start, 1) == std::optional(2000ms)));
    BOOST_TEST(!policy(rule, start).failed(broken, start + 88s, 1).has_value());
}

BOOST_AUTO_TEST_CASE(the_time_an_answer_is_waited_for) {
    BOOST_TEST((read_timeout_for(0ms) == 30s));
    BOOST_TEST((read_timeout_for(24s) == 42s));
    BOOST_TEST((read_timeout_for(-1h) == 30s));
    BOOST_TEST((read_timeout_for(179'998ms) == 119'999ms));
    BOOST_TEST((read_timeout_for(180s) == 120s));
    BOOST_TEST((read_timeout_for(24h) == 120s));
    BOOST_TEST((read_timeout_for(std::chrono::milliseconds::max()) == 120s));
    BOOST_TEST((read_timeout_for(std::chrono::milliseconds::min()) == 30s));
    BOOST_TEST((read_timeout_for(std::nullopt) == 120s));
}

BOOST_AUTO_TEST_SUITE_END()
